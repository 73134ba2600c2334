package limiter

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A goroutine asked just before a bucket began and was held up, while others were allowed in that bucket.
func TestACallThatIsHeldUpAtAnEdgeIsJudgedByWhatIsThereNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := New(memory.New(memory.Options{}), []Condition{{Name: "a", Limit: 1, Window: 30 * time.Second}}, Options{})
		require.NoError(t, err)
		op := Op{Condition: "a", Entity: wrstats.Local("user", "1"), Amount: 1}
		asked := time.Now().Add(-1) // it is midnight there, where a bucket begins
		d, err := l.Try(t.Context(), op)
		require.NoError(t, err)
		require.True(t, d.Allowed)
		d, err = l.answer(t.Context(), &request{now: asked, live: true, asks: true, counts: true}, []Op{op})
		require.NoError(t, err)
		require.False(t, d.Allowed)
	})
}
