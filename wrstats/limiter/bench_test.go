package limiter_test

import (
	"context"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/go-redis/redis_rate/v10"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/internal/versus"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

const (
	benchLimit    = math.MaxInt32
	benchEntities = 1000
)

// BenchmarkMemory is a decision in the process, beside one of golang.org/x/time/rate, which keeps a token
// bucket for one process and no history.
func BenchmarkMemory(b *testing.B) {
	for _, goroutines := range []int{1, 2} {
		b.Run("goroutines="+strconv.Itoa(goroutines), func(b *testing.B) {
			ours := allow(b, memory.New(memory.Options{}), limiter.Options{})
			limiters := make([]*rate.Limiter, benchEntities)
			for i := range limiters {
				limiters[i] = rate.NewLimiter(rate.Limit(benchLimit), benchLimit)
			}
			theirs := func(n int) {
				for i := range n {
					if !limiters[i%benchEntities].Allow() {
						b.Error("x/time/rate denied")
					}
				}
			}
			report(b, versus.Run(b, "rate", versus.Parallel(goroutines, ours), versus.Parallel(goroutines, theirs)))
		})
	}
}

// BenchmarkDenied is a denial that is remembered, beside one of golang.org/x/time/rate.
func BenchmarkDenied(b *testing.B) {
	l, err := limiter.New(memory.New(memory.Options{}), []limiter.Condition{perMinute("a", 0)}, limiter.Options{})
	require.NoError(b, err)
	their := rate.NewLimiter(0, 0)
	report(b, versus.Run(b, "rate", func(n int) {
		for range n {
			if ok, err := l.Allow(context.Background(), "a", user1); ok || err != nil {
				b.Error("allowed", err)
			}
		}
	}, func(n int) {
		for range n {
			if their.Allow() {
				b.Error("x/time/rate allowed")
			}
		}
	}))
}

// BenchmarkServers is a decision over a server, beside one of go-redis/redis_rate, a script that keeps a
// GCRA.
func BenchmarkServers(b *testing.B) {
	for _, backend := range []struct {
		name string
		open func(b *testing.B) wrstats.Store
	}{
		{"redis", func(b *testing.B) wrstats.Store {
			return redis.New(redisClient(b), redis.Options{})
		}},
		{"memcached", func(b *testing.B) wrstats.Store {
			store, err := memcached.New(memcached.Config{Servers: []string{servertest.Memcached(b).Addr}})
			require.NoError(b, err)
			return store
		}},
	} {
		for _, goroutines := range []int{1, 16} {
			b.Run(backend.name+"/goroutines="+strconv.Itoa(goroutines), func(b *testing.B) {
				store := backend.open(b)
				b.Cleanup(func() { require.NoError(b, store.Close()) })
				theirs := redisRate(b)
				ours := allow(b, store, limiter.Options{})
				report(b, versus.Run(b, "redis_rate", versus.Parallel(goroutines, ours), versus.Parallel(goroutines, theirs)))
			})
		}
	}
}

// allow returns what makes n decisions over benchEntities, all of them allowed.
func allow(b *testing.B, store wrstats.Store, opts limiter.Options) func(n int) {
	l, err := limiter.New(store, []limiter.Condition{perMinute("a", benchLimit)}, opts)
	require.NoError(b, err)
	entities := benchNames()
	return func(n int) {
		for i := range n {
			if ok, err := l.Allow(context.Background(), "a", wrstats.Local("user", entities[i%benchEntities])); !ok || err != nil {
				b.Error("denied", err)
			}
		}
	}
}

func redisRate(b *testing.B) func(n int) {
	l := redis_rate.NewLimiter(redisClient(b))
	entities := benchNames()
	limit := redis_rate.Limit{Rate: benchLimit, Burst: benchLimit, Period: time.Minute}
	return func(n int) {
		for i := range n {
			if res, err := l.Allow(context.Background(), entities[i%benchEntities], limit); err != nil || res.Allowed != 1 {
				b.Error("redis_rate denied", err)
			}
		}
	}
}

func redisClient(b *testing.B) *goredis.Client {
	client := goredis.NewClient(&goredis.Options{Addr: servertest.Redis(b).Addr})
	b.Cleanup(func() { require.NoError(b, client.Close()) })
	return client
}

func benchNames() []string {
	names := make([]string, benchEntities)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

func report(b *testing.B, r versus.Result) {
	b.ReportMetric(1e9/r.Nanoseconds, "decisions/s")
}
