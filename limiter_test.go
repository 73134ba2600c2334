package wrstats_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

var (
	limitedUser  = wrstats.Local("user", "1")
	limitedOther = wrstats.Local("user", "2")
)

var limiterRules = []rule{
	{"64 goroutines get exactly 100 of 100 through", func(t *site) {
		const limit, goroutines = 100, 64
		l := t.limiter(limiter.Options{}, limiter.Condition{Name: "a", Limit: limit, Window: time.Hour})
		var all sync.WaitGroup
		var allowed, failed atomic.Int64
		for range goroutines {
			all.Go(func() {
				for range 4 {
					switch ok, err := l.Allow(t.Context(), "a", limitedUser); {
					case err != nil:
						failed.Add(1)
					case ok:
						allowed.Add(1)
					}
				}
			})
		}
		all.Wait()
		require.Zero(t, failed.Load())
		require.EqualValues(t, limit, allowed.Load())
		require.EqualValues(t, limit, t.prev(l, "a", limitedUser))
	}},
	{"conditions of different windows or names never share a key", func(t *site) {
		now := time.Unix(1, 0) // in the first bucket of any window
		minute := limiter.Condition{Name: "a", Limit: 2, Window: time.Minute}
		hour := limiter.Condition{Name: "b", Limit: 5, Window: time.Hour}
		l := t.limiter(limiter.Options{}, minute, hour)
		other := t.limiter(limiter.Options{}, limiter.Condition{Name: "a", Limit: 5, Window: time.Hour}, limiter.Condition{Name: "b", Limit: 5, Window: time.Minute})
		d := t.try(l, now, op("a", limitedUser, 1), op("b", limitedUser, 1))
		require.Equal(t, []int64{1, 1}, []int64{d.Ops[0].New, d.Ops[1].New})
		d = t.peek(l, now, op("a", limitedUser, 0), op("b", limitedUser, 0))
		require.Equal(t, []int64{1, 1}, []int64{d.Ops[0].Prev, d.Ops[1].Prev})
		d = t.peek(other, now, op("a", limitedUser, 0), op("b", limitedUser, 0))
		require.Equal(t, []int64{0, 0}, []int64{d.Ops[0].Prev, d.Ops[1].Prev})
	}},
	{"60 a minute asked 60 times at 0:59 and at 1:00 lets at most 62 through", func(t *site) {
		l := t.limiter(limiter.Options{}, limiter.Condition{Name: "a", Limit: 60, Window: time.Minute})
		through := 0
		for _, second := range []int64{59, 60} {
			for range 60 {
				if t.try(l, time.Unix(1_700_000_000/60*60+second, 0), op("a", limitedUser, 1)).Allowed {
					through++
				}
			}
		}
		require.GreaterOrEqual(t, through, 60)
		require.LessOrEqual(t, through, 62)
	}},
	{"an amount of 0 checks and counts nothing, and a negative one is an error", func(t *site) {
		l := t.limiter(limiter.Options{}, perHour("a", 3))
		now := time.Now()
		require.NoError(t, l.AddAt(t.Context(), now, op("a", limitedUser, 3)))
		d := t.try(l, now, op("a", limitedUser, 0))
		require.True(t, d.Allowed)
		require.Equal(t, [2]int64{3, 3}, [2]int64{d.Ops[0].Prev, d.Ops[0].New})
		require.EqualValues(t, 3, t.prev(l, "a", limitedUser))
		_, err := l.Try(t.Context(), op("a", limitedUser, -1))
		require.ErrorIs(t, err, limiter.ErrInvalidAmount)
	}},
	{"a batch with one user at the limit is denied, names that user, and counts nothing", func(t *site) {
		l := t.limiter(limiter.Options{}, perHour("a", 10))
		now := time.Now()
		require.NoError(t, l.AddAt(t.Context(), now, op("a", limitedUser, 10)))
		d := t.try(l, now, op("a", limitedUser, 1), op("a", limitedOther, 1))
		require.False(t, d.Allowed)
		require.Equal(t, []bool{false, true}, []bool{d.Ops[0].Allowed, d.Ops[1].Allowed})
		require.EqualValues(t, 10, t.prev(l, "a", limitedUser))
		require.EqualValues(t, 0, t.prev(l, "a", limitedOther))
	}},
	{"a tenant over its limit leaves the count of a fresh user at 0", func(t *site) {
		l := t.limiter(limiter.Options{}, perHour("tenant", 1), perHour("user", 100))
		tenant := wrstats.Global("tenant", "t")
		require.NoError(t, l.Add(t.Context(), op("tenant", tenant, 1)))
		for range 5 {
			require.False(t, t.try(l, time.Now(), op("user", limitedUser, 1), op("tenant", tenant, 1)).Allowed)
		}
		require.EqualValues(t, 0, t.prev(l, "user", limitedUser))
	}},
	{"after RetryAfter the same request is allowed", func(t *site) {
		l := t.limiter(limiter.Options{}, perHour("a", 3))
		now := time.Now()
		require.True(t, t.try(l, now, op("a", limitedUser, 2)).Allowed)
		d := t.try(l, now.Add(time.Minute), op("a", limitedUser, 2))
		require.False(t, d.Allowed)
		require.Positive(t, d.RetryAfter())
		now = now.Add(time.Minute).Add(d.RetryAfter())
		require.False(t, t.try(l, now.Add(-time.Microsecond), op("a", limitedUser, 2)).Allowed)
		require.True(t, t.try(l, now, op("a", limitedUser, 2)).Allowed)
	}},
	{"a limit of 0 denies everything, buckets of 0 are the default, and the rest is an error", func(t *site) {
		l := t.limiter(limiter.Options{}, perHour("a", 0))
		d := t.try(l, time.Now(), op("a", limitedUser, 1))
		require.False(t, d.Allowed)
		require.Equal(t, limiter.Never, d.RetryAfter())
		store := t.connect()
		for _, wrong := range []struct {
			condition limiter.Condition
			buckets   int
		}{
			{limiter.Condition{Name: "a", Limit: -1, Window: time.Hour}, 0},
			{limiter.Condition{Name: "a", Limit: 1}, 0},
			{perHour("a", 1), -1},
		} {
			_, err := limiter.New(store, []limiter.Condition{wrong.condition}, limiter.Options{Buckets: wrong.buckets})
			require.Error(t, err)
		}
	}},
	{"processes share limits, local entities by keyspace and global ones across", func(t *site) {
		wiki := func(keyspace string) *limiter.Limiter {
			return t.limiter(limiter.Options{Keyspace: keyspace, MaxDenials: -1}, perHour("a", 2))
		}
		processes := []*limiter.Limiter{wiki("enwiki"), wiki("enwiki"), wiki("dewiki")}
		ip := wrstats.Global("ip", "192.0.2.7")
		for _, l := range processes[:2] {
			require.True(t, t.try(l, time.Now(), op("a", limitedUser, 1), op("a", ip, 1)).Allowed)
			t.prev(l, "a", ip) // which comes after what was counted
		}
		prevs := func(e wrstats.Entity) (all []int64) {
			for _, l := range processes {
				all = append(all, t.prev(l, "a", e))
			}
			return all
		}
		require.Equal(t, []int64{2, 2, 0}, prevs(limitedUser))
		require.Equal(t, []int64{2, 2, 2}, prevs(ip))
		require.False(t, t.try(processes[2], time.Now(), op("a", ip, 1)).Allowed)
		require.NoError(t, processes[0].Reset(t.Context(), "a", ip))
		require.True(t, t.try(processes[2], time.Now(), op("a", ip, 1)).Allowed)
	}},
}

// When the servers are gone, FailOpen allows and the default denies, both with the error, and the hook
// hears of it.
func TestALimiterWhoseServersAreGone(t *testing.T) {
	for _, backend := range []struct {
		name  string
		start func(t *testing.T) (store wrstats.Store, gone func())
	}{
		{"memory", func(t *testing.T) (wrstats.Store, func()) {
			store := open(t, "memory:")
			return store, func() { require.NoError(t, store.Close()) }
		}},
		{"memcached/protocol=text", func(t *testing.T) (wrstats.Store, func()) {
			server := servertest.Memcached(t)
			return open(t, "memcached://"+server.Addr+"/?timeout=30s&protocol=text"), server.Kill
		}},
		{"memcached/protocol=meta", func(t *testing.T) (wrstats.Store, func()) {
			server := servertest.Memcached(t)
			return open(t, "memcached://"+server.Addr+"/?timeout=30s&protocol=meta"), server.Kill
		}},
		{"memcached/twemproxy", func(t *testing.T) (wrstats.Store, func()) {
			proxy := servertest.Twemproxy(t, memcacheds(t)...)
			return open(t, "memcached://"+proxy.Addr+"/?timeout=30s"), proxy.Kill
		}},
		{"redis", func(t *testing.T) (wrstats.Store, func()) {
			server := servertest.Redis(t)
			return open(t, "redis://"+server.Addr+"?read_timeout=30s"), server.Kill
		}},
		{"redis/cluster", func(t *testing.T) (wrstats.Store, func()) {
			nodes := servertest.RedisCluster(t, 3)
			return open(t, "redis+cluster://"+nodes[0].Addr+"?read_timeout=30s"), func() {
				for _, node := range nodes {
					node.Kill()
				}
			}
		}},
	} {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			store, gone := backend.start(t)
			var limiters [2]*limiter.Limiter
			var heard [2]atomic.Int64
			for i := range limiters {
				l, err := limiter.New(store, []limiter.Condition{perHour("a", 3)}, limiter.Options{
					FailOpen: i == 1,
					OnError:  func(error) { heard[i].Add(1) },
				})
				require.NoError(t, err)
				limiters[i] = l
				ok, err := l.Allow(t.Context(), "a", limitedUser)
				require.NoError(t, err)
				require.True(t, ok)
			}
			gone()
			for i, l := range limiters {
				before := heard[i].Load()
				ok, err := l.Allow(t.Context(), "a", limitedUser)
				require.Error(t, err)
				require.Equal(t, i == 1, ok)
				require.Greater(t, heard[i].Load(), before)
			}
		})
	}
}

func perHour(name string, limit int64) limiter.Condition {
	return limiter.Condition{Name: name, Limit: limit, Window: time.Hour}
}

func op(condition string, e wrstats.Entity, amount int64) limiter.Op {
	return limiter.Op{Condition: condition, Entity: e, Amount: amount}
}

// limiter returns the Limiter of another process.
func (t *site) limiter(opts limiter.Options, conditions ...limiter.Condition) *limiter.Limiter {
	t.Helper()
	opts.Prefix = t.prefix
	l, err := limiter.New(t.connect(), slices.Clone(conditions), opts)
	require.NoError(t, err)
	return l
}

func (t *site) try(l *limiter.Limiter, now time.Time, ops ...limiter.Op) limiter.Decision {
	t.Helper()
	d, err := l.TryAt(t.Context(), now, ops...)
	require.NoError(t, err)
	return d
}

func (t *site) peek(l *limiter.Limiter, now time.Time, ops ...limiter.Op) limiter.Decision {
	t.Helper()
	d, err := l.PeekAt(t.Context(), now, ops...)
	require.NoError(t, err)
	return d
}

// prev returns the rolling count of an hour.
func (t *site) prev(l *limiter.Limiter, condition string, e wrstats.Entity) int64 {
	t.Helper()
	return t.peek(l, time.Now(), op(condition, e, 0)).Ops[0].Prev
}
