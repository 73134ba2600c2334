package receipt_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/receipt"
)

var errDown, errWrong = errors.New("down"), errors.New("wrong")

func TestWaitTellsWhatBecameOfABatch(t *testing.T) {
	for _, c := range []struct {
		rule string
		call func(r *receipt.Receipt)
		lost int64
		err  error
	}{
		{"all of it is applied", func(r *receipt.Receipt) {
			r.Expect(3)
			r.Expect(4)
			r.Resolve(4, 0, nil)
			r.Resolve(3, 0, nil)
		}, 0, nil},
		{"a part is lost", func(r *receipt.Receipt) {
			r.Expect(3)
			r.Expect(4)
			r.Resolve(3, 3, errDown)
			r.Resolve(4, 0, nil)
		}, 3, errDown},
		{"some of a part is lost", func(r *receipt.Receipt) { r.Expect(9); r.Resolve(9, 2, errDown) }, 2, errDown},
		{"a loss of 0 has a reason, too", func(r *receipt.Receipt) { r.Expect(0); r.Resolve(0, 0, errDown) }, 0, errDown},
		{"some of it is wrong", func(r *receipt.Receipt) {
			r.Refuse(5, errWrong)
			r.Expect(3)
			r.Resolve(3, 0, nil)
		}, 5, errWrong},
		{"the first reason counts", func(r *receipt.Receipt) {
			r.Refuse(5, errWrong)
			r.Expect(3)
			r.Resolve(3, 3, errDown)
		}, 8, errWrong},
		{"what is negative lessens no loss", func(r *receipt.Receipt) { r.Refuse(5, errWrong); r.Refuse(-7, errWrong) }, 5, errWrong},
		{"losses stay at the most", func(r *receipt.Receipt) {
			r.Expect(math.MaxInt64)
			r.Expect(2)
			r.Resolve(2, 2, errDown)
			r.Resolve(math.MaxInt64, math.MaxInt64, errDown)
		}, math.MaxInt64, errDown},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := receipt.New()
			c.call(r)
			require.True(t, r.Returned(), "there is something to tell")
			for range 2 {
				lost, err := r.Wait(over()) // it is known by now
				require.Equal(t, c.lost, lost)
				require.Equal(t, c.err, err)
			}
		})
	}
}

func TestThereIsNothingToTellOfWhatWasNotSent(t *testing.T) {
	r := receipt.New()
	r.Expect(3)
	r.Withdraw(3)
	require.False(t, r.Returned())
	lost, err := r.Wait(over())
	require.NoError(t, err)
	require.Zero(t, lost)
}

func TestWhatIsOpenCountsAsLostOnce(t *testing.T) {
	r := receipt.New()
	requireOpen := func(want int64) {
		t.Helper()
		lost, err := r.Wait(over())
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, want, lost)
	}
	requireOpen(0)
	r.Expect(3)
	requireOpen(3)
	r.Expect(4)
	requireOpen(7)
	r.Expect(5)
	r.Withdraw(5)
	requireOpen(7)
	r.Resolve(3, 2, errDown)
	requireOpen(2 + 4)
	require.True(t, r.Returned())
	requireOpen(2 + 4)
	r.Expect(math.MaxInt64)
	requireOpen(math.MaxInt64)
	r.Expect(0)
	r.Resolve(math.MaxInt64, 0, nil)
	r.Resolve(4, 0, nil)
	requireOpen(2) // though the sum was cut off
}

func TestWaitEndsWithTheLastPartAndIncr(t *testing.T) {
	for _, c := range []struct {
		rule string
		last func(r *receipt.Receipt)
		then func(r *receipt.Receipt)
	}{
		{"a part", func(r *receipt.Receipt) { r.Returned() }, func(r *receipt.Receipt) { r.Resolve(2, 1, errDown) }},
		{"Incr", func(r *receipt.Receipt) { r.Resolve(2, 1, errDown) }, func(r *receipt.Receipt) { r.Returned() }},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := receipt.New()
				r.Expect(2)
				var waiters sync.WaitGroup
				outcomes := make(chan int64, 2)
				for range cap(outcomes) {
					waiters.Go(func() {
						lost, _ := r.Wait(context.Background())
						outcomes <- lost
					})
				}
				c.last(r)
				synctest.Wait()
				require.Empty(t, outcomes, "not all is known")
				c.then(r)
				waiters.Wait()
				require.EqualValues(t, 1, <-outcomes)
				require.EqualValues(t, 1, <-outcomes)
			})
		})
	}
}

func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
