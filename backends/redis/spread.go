package redis

import (
	"context"
	"slices"
	"sync/atomic"
)

// A group is the keys of one shard in a read or a delete, and what came of them.
type group struct {
	shard *shard
	keys  []string
	order []int32 // of each key in the call

	failures map[string]error // by address
	failed   int              // keys that no server answered for
	done     atomic.Bool      // what is above, and what f made, may be read
}

// fail notes that n keys were not answered for.
func (g *group) fail(op, addr string, n int, err error) {
	if g.failures == nil {
		g.failures = make(map[string]error)
	}
	g.failed += n
	if g.failures[addr] == nil {
		g.failures[addr] = opError(op, addr, err)
	}
}

// groupKeys places keys, and copies them: a call that has ended may still be writing. Those that have no
// shard are in a group without one.
func (s *Store) groupKeys(op string, keys []string) []*group {
	if s.directory.ring == nil {
		return []*group{{shard: s.directory.whole, keys: slices.Clone(keys)}}
	}
	var groups []*group
	known := make(map[*shard]*group)
	for i, key := range keys {
		sh, err := s.directory.find(key)
		g := known[sh]
		if g == nil {
			g = &group{shard: sh}
			known[sh], groups = g, append(groups, g)
		}
		g.keys, g.order = append(g.keys, key), append(g.order, int32(i))
		if err != nil {
			g.fail(op, "ring", 1, err)
		}
	}
	return groups
}

// spread runs f for all groups at once, each on a goroutine of its own, and waits for all or until ctx is
// done. A group that is not done has failed with ctx's error, and is f's still.
func (s *Store) spread(ctx context.Context, op string, groups []*group, f func(*group)) []*group {
	ended := make(chan struct{}, len(groups))
	for _, g := range groups {
		s.use(op, g, f, ended)
	}
	for range groups {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	for i, g := range groups {
		if !g.done.Load() {
			groups[i] = &group{shard: g.shard, keys: g.keys, order: g.order}
			groups[i].fail(op, g.shard.addr, len(g.keys), ctx.Err())
		}
	}
	return groups
}

// use begins f for one group, or fails it.
func (s *Store) use(op string, g *group, f func(*group), ended chan<- struct{}) {
	end := func() {
		g.done.Store(true)
		ended <- struct{}{}
	}
	if g.shard == nil {
		end()
		return
	}
	begun := s.begin(func() {
		defer end()
		f(g)
	})
	if !begun {
		g.fail(op, g.shard.addr, len(g.keys), errClosed)
		end()
	}
}
