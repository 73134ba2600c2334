package storetest_test

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

var errBroken = errors.New("broken")

// An altered store is a good one but for the methods that are given.
type altered struct {
	wrstats.Store
	incr   func(context.Context, []wrstats.Increment) (wrstats.Receipt, error)
	get    func(context.Context, []string) ([]wrstats.Value, error)
	delete func(context.Context, []string) error
	close  func() error
}

func (a *altered) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	if a.incr != nil {
		return a.incr(ctx, batch)
	}
	return a.Store.Incr(ctx, batch)
}

func (a *altered) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	if a.get != nil {
		return a.get(ctx, keys)
	}
	return a.Store.Get(ctx, keys)
}

func (a *altered) Delete(ctx context.Context, keys []string) error {
	if a.delete != nil {
		return a.delete(ctx, keys)
	}
	return a.Store.Delete(ctx, keys)
}

func (a *altered) Close() error {
	if a.close != nil {
		return a.close()
	}
	return a.Store.Close()
}

// A breaker makes a good store break one promise.
type breaker func(*altered)

// eachIncrement changes the increments one by one; ok false drops one.
func eachIncrement(change func(ctx context.Context, inc *wrstats.Increment) (ok bool)) func(*altered) {
	return func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			for _, inc := range batch {
				if !change(ctx, &inc) {
					continue
				}
				if _, err := a.Store.Incr(ctx, []wrstats.Increment{inc}); err != nil {
					return nil, err
				}
			}
			return a.Store.Incr(ctx, nil)
		}
	}
}

// renamed writes and reads every key under another name.
func renamed(name func(string) string) breaker {
	return func(a *altered) {
		eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
			inc.Key = name(inc.Key)
			return true
		})(a)
		a.get = func(ctx context.Context, keys []string) ([]wrstats.Value, error) {
			names := make([]string, len(keys))
			for i, key := range keys {
				names[i] = name(key)
			}
			return a.Store.Get(ctx, names)
		}
	}
}

// answered changes the answers of Get.
func answered(change func(keys []string, values []wrstats.Value)) breaker {
	return func(a *altered) {
		a.get = func(ctx context.Context, keys []string) ([]wrstats.Value, error) {
			values, err := a.Store.Get(ctx, keys)
			if err == nil {
				change(keys, values)
			}
			return values, err
		}
	}
}

// value reads one counter.
func value(s wrstats.Store, key string) wrstats.Value {
	values, err := s.Get(context.Background(), []string{key})
	if err != nil {
		return wrstats.Value{}
	}
	return values[0]
}

type lazyReceipt struct {
	once  sync.Once
	apply func()
}

func (r *lazyReceipt) Wait(context.Context) (int64, error) {
	r.once.Do(r.apply)
	return 0, nil
}

type onceReceipt struct{ waited atomic.Bool }

func (r *onceReceipt) Wait(context.Context) (int64, error) {
	if r.waited.Swap(true) {
		return 0, errBroken
	}
	return 0, nil
}

// breakers are, for each rule, stores that break it.
var breakers = map[string][]breaker{
	"first-increment-creates": {func(a *altered) {
		eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
			if !value(a.Store, inc.Key).Found {
				inc.Delta = 0
			}
			return true
		})(a)
	}, func(a *altered) {
		seen := map[string]bool{}
		eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
			defer func() { seen[inc.Key] = true }()
			return seen[inc.Key]
		})(a)
	}},
	"deltas-add-up": {func(a *altered) {
		eachIncrement(func(ctx context.Context, inc *wrstats.Increment) bool {
			return a.Store.Delete(ctx, []string{inc.Key}) == nil
		})(a)
	}},
	"delta-zero-creates": {eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
		return inc.Delta != 0
	}), func(a *altered) {
		eachIncrement(func(ctx context.Context, inc *wrstats.Increment) bool {
			return inc.Delta != 0 || a.Store.Delete(ctx, []string{inc.Key}) == nil
		})(a)
	}},
	"large-deltas": {eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
		inc.Delta &= 1<<32 - 1
		return true
	}), answered(func(_ []string, values []wrstats.Value) {
		for i := range values {
			values[i].N = int64(float32(values[i].N))
		}
	})},
	"key-twice-in-a-batch": {func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			last := map[string]wrstats.Increment{}
			for _, inc := range batch {
				last[inc.Key] = inc
			}
			return a.Store.Incr(ctx, slices.Collect(maps.Values(last)))
		}
	}},
	"empty-batch": {func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			if len(batch) == 0 {
				return nil, errBroken
			}
			return a.Store.Incr(ctx, batch)
		}
	}},
	"batch-is-not-kept": {func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			return &lazyReceipt{apply: func() { _, _ = a.Store.Incr(ctx, batch) }}, nil
		}
	}},
	"receipt-then-readable": {func(a *altered) {
		var kept []wrstats.Increment
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			_, err := a.Store.Incr(ctx, kept)
			kept = slices.Clone(batch)
			return nil, err
		}
	}},
	"wait-again": {func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			_, err := a.Store.Incr(ctx, batch)
			return new(onceReceipt), err
		}
	}},
	"100000-keys": {answered(func(_ []string, values []wrstats.Value) {
		clear(values[min(len(values), 1<<16):])
	})},
	"400000-increments": {func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			return a.Store.Incr(ctx, batch[:min(len(batch), 399_999)])
		}
	}},
	"concurrent-counting": {func(a *altered) { // reads to write
		eachIncrement(func(ctx context.Context, inc *wrstats.Increment) bool {
			was := value(a.Store, inc.Key)
			runtime.Gosched()
			inc.Delta += was.N
			return a.Store.Delete(ctx, []string{inc.Key}) == nil
		})(a)
	}},
	"get-in-order": {answered(func(_ []string, values []wrstats.Value) {
		slices.SortFunc(values, func(a, b wrstats.Value) int { return int(a.N - b.N) })
	})},
	"absent-keys-hide-nothing": {answered(func(_ []string, values []wrstats.Value) {
		for i := 1; i < len(values); i++ {
			if !values[i-1].Found {
				values[i] = wrstats.Value{}
			}
		}
	}), func(a *altered) {
		a.get = func(ctx context.Context, keys []string) ([]wrstats.Value, error) {
			values, err := a.Store.Get(ctx, keys)
			return slices.DeleteFunc(values, func(v wrstats.Value) bool { return len(keys) > 1 && !v.Found }), err
		}
	}},
	"key-twice-in-a-get": {answered(func(keys []string, values []wrstats.Value) {
		for i, key := range keys {
			if slices.Index(keys, key) < i {
				values[i] = wrstats.Value{}
			}
		}
	})},
	"empty-get": {func(a *altered) {
		a.get = func(ctx context.Context, keys []string) ([]wrstats.Value, error) {
			if len(keys) == 0 {
				return nil, errBroken
			}
			return a.Store.Get(ctx, keys)
		}
	}},
	"reading-changes-nothing": {func(a *altered) {
		a.get = func(ctx context.Context, keys []string) ([]wrstats.Value, error) {
			values, err := a.Store.Get(ctx, keys)
			for _, key := range keys {
				_, _ = a.Store.Incr(ctx, []wrstats.Increment{{Key: key, TTL: time.Hour}})
			}
			return values, err
		}
	}},
	"every-legal-byte":     {renamed(strings.NewReplacer("%", "_").Replace), renamed(func(k string) string { return strings.TrimRight(k, "~") })},
	"keys-of-250-bytes":    {renamed(func(key string) string { return key[:min(len(key), 249)] })},
	"upper-and-lower-case": {renamed(strings.ToLower), renamed(func(key string) string { return strings.TrimRight(key, ":") })},
	"words-of-protocols": {answered(func(keys []string, values []wrstats.Value) {
		for i, key := range keys {
			if strings.HasPrefix(key, "END") {
				clear(values[i:])
			}
		}
	})},
	"ttl-from-the-first-write": {eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
		inc.TTL *= 1000
		return true
	}), eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
		inc.TTL /= 3
		return true
	})},
	"ttl-is-not-renewed": {func(a *altered) {
		eachIncrement(func(ctx context.Context, inc *wrstats.Increment) bool {
			inc.Delta += value(a.Store, inc.Key).N
			return a.Store.Delete(ctx, []string{inc.Key}) == nil
		})(a)
	}},
	"ended-key-starts-anew": {func(a *altered) { // the old count comes back
		total := map[string]int64{}
		eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
			old := total[inc.Key]
			total[inc.Key] += inc.Delta
			if !value(a.Store, inc.Key).Found {
				inc.Delta += old
			}
			return true
		})(a)
	}, func(a *altered) { // the old TTL comes back
		first := map[string]time.Duration{}
		eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
			if ttl, ok := first[inc.Key]; ok {
				inc.TTL = ttl
			}
			first[inc.Key] = inc.TTL
			return true
		})(a)
	}},
	"ttl-of-each-key": {func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			batch = slices.Clone(batch)
			for i := range batch {
				batch[i].TTL = batch[len(batch)-1].TTL
			}
			return a.Store.Incr(ctx, batch)
		}
	}},
	"long-ttls": {eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
		return inc.TTL <= 30*24*time.Hour
	})},
	"ttl-below-a-second": {eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
		return inc.TTL >= time.Second
	}), eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
		if inc.TTL < time.Second {
			inc.TTL = time.Hour
		}
		return true
	})},
	"delete-removes": {func(a *altered) {
		a.delete = func(ctx context.Context, _ []string) error { return a.Store.Delete(ctx, nil) }
	}},
	"delete-spares-the-rest": {func(a *altered) {
		var all []string
		eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
			all = append(all, inc.Key)
			return true
		})(a)
		a.delete = func(ctx context.Context, _ []string) error { return a.Store.Delete(ctx, all) }
	}},
	"delete-of-absent-keys": {func(a *altered) {
		a.delete = func(ctx context.Context, keys []string) error {
			for _, key := range keys {
				if !value(a.Store, key).Found {
					return errBroken
				}
			}
			return a.Store.Delete(ctx, keys)
		}
	}},
	"deleted-key-starts-anew": {func(a *altered) { // the old count comes back
		old := map[string]int64{}
		eachIncrement(func(_ context.Context, inc *wrstats.Increment) bool {
			inc.Delta += old[inc.Key]
			delete(old, inc.Key)
			return true
		})(a)
		a.delete = func(ctx context.Context, keys []string) error {
			for _, key := range keys {
				old[key] = value(a.Store, key).N
			}
			return a.Store.Delete(ctx, keys)
		}
	}},
	"context-done-incr": {func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			_, _ = a.Store.Incr(context.WithoutCancel(ctx), batch)
			return nil, ctx.Err()
		}
	}, func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			if err := ctx.Err(); err != nil {
				return nil, &wrstats.NotSentError{Batch: batch[:1], Err: err}
			}
			return a.Store.Incr(ctx, batch)
		}
	}, func(a *altered) {
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			if ctx.Err() != nil {
				return nil, nil
			}
			return a.Store.Incr(ctx, batch)
		}
	}},
	"context-done-get": {func(a *altered) {
		a.get = func(ctx context.Context, keys []string) ([]wrstats.Value, error) {
			return a.Store.Get(context.WithoutCancel(ctx), keys)
		}
	}},
	"context-done-delete": {func(a *altered) {
		a.delete = func(ctx context.Context, keys []string) error {
			_ = a.Store.Delete(context.WithoutCancel(ctx), keys)
			return ctx.Err()
		}
	}},
	"closed": {func(a *altered) {
		a.close = func() error { return nil }
	}, func(a *altered) {
		a.get = func(ctx context.Context, keys []string) ([]wrstats.Value, error) {
			values, err := a.Store.Get(ctx, keys)
			if err != nil && ctx.Err() == nil {
				err = errBroken
			}
			return values, err
		}
	}},
	"close-twice": {func(a *altered) {
		var closed atomic.Bool
		a.close = func() error {
			if closed.Swap(true) {
				return errBroken
			}
			return a.Store.Close()
		}
	}},
	"close-at-any-time": {func(a *altered) { // a panic, as on a closed channel
		a.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			receipt, err := a.Store.Incr(ctx, batch)
			if err != nil {
				panic(err)
			}
			return receipt, nil
		}
	}, func(a *altered) { // never closed for Delete
		a.delete = func(ctx context.Context, keys []string) error {
			if a.Store.Delete(ctx, keys) != nil {
				return errBroken
			}
			return nil
		}
	}},
}
