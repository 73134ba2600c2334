package redis

import (
	"context"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A call may end at the very moment in which go-redis is about to write: from when a piece counts as sent, the receipt
// knows it.
func TestAPieceIsWithTheReceiptOrComesBackWheneverItsCallEnds(t *testing.T) {
	store := New(goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:1"}), Options{})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	called := func() (*handover, *share) {
		h := newHandover(store, over)
		sh := &share{shard: &shard{}, open: make(map[int64]*piece)}
		sh.add(h, &wrstats.Increment{Key: "a", Delta: 3}, 1)
		return h, sh
	}

	h, sh := called()
	h.pieces[0].state.Store(sent) // the first that MarshalBinary does
	h.send(nil)
	receipt, err := h.result()
	require.NoError(t, err)
	require.NotNil(t, receipt)
	lost, err := receipt.Wait(over)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 3, lost)
	h.pieces[0].judge(sh.shard, nil, nil)
	lost, err = receipt.Wait(over) // it is known by now
	require.NoError(t, err)
	require.Zero(t, lost)

	h, _ = called()
	h.send(nil)
	receipt, err = h.result()
	require.Nil(t, receipt)
	require.ErrorIs(t, err, context.Canceled)
	_, err = h.pieces[0].MarshalBinary()
	require.Error(t, err, "it is not sent any more")
}
