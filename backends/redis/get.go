package redis

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	goredis "github.com/redis/go-redis/v9"

	"github.com/wrstats/go-wrstats/wrstats"
)

// mgetSize is how many keys are asked for by one command.
const mgetSize = 1000

// Get reads from all servers at once: by MGET, pipelined, and on a Cluster by a pipeline of GET to each
// node. When some servers fail, the values of the others come with an error that wraps
// [wrstats.ErrPartial] and names each that failed. A key that holds no number is a miss and is counted.
func (s *Store) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, nil
	}
	s.counters.read.Add(int64(len(keys)))
	groups := s.groupKeys("get", keys)
	found := make(map[*group][]wrstats.Value, len(groups))
	for _, g := range groups {
		found[g] = make([]wrstats.Value, len(g.keys))
	}
	groups = s.spread(ctx, "get", groups, func(g *group) { s.read(ctx, g, found[g]) })
	return s.gather(groups, found, len(keys))
}

// gather puts the groups' values in the order of the call.
func (s *Store) gather(groups []*group, found map[*group][]wrstats.Value, n int) ([]wrstats.Value, error) {
	failed := 0
	for _, g := range groups {
		failed += g.failed
	}
	err := s.failure(groups)
	if failed == n {
		return nil, err
	}
	if err != nil {
		err = partialError{err}
	}
	if len(groups) == 1 && groups[0].order == nil {
		return found[groups[0]], err
	}
	values := make([]wrstats.Value, n)
	for _, g := range groups {
		for i, v := range found[g] {
			values[g.order[i]] = v
		}
	}
	return values, err
}

// failure joins the errors of groups, in the order of the addresses, and counts them.
func (s *Store) failure(groups []*group) error {
	var errs []error
	for _, g := range groups {
		for _, err := range g.failures {
			errs = append(errs, err)
			s.report(kindOf(err), 1, err)
		}
	}
	slices.SortFunc(errs, func(a, b error) int {
		if a.Error() < b.Error() {
			return -1
		}
		return 1
	})
	return errors.Join(errs...)
}

// read reads the keys of a group.
func (s *Store) read(ctx context.Context, g *group, values []wrstats.Value) {
	for begin := 0; begin < len(g.keys); begin += maxKeys {
		end := min(begin+maxKeys, len(g.keys))
		if g.shard.split {
			s.readEach(ctx, g, begin, end, values)
			continue
		}
		s.readMany(ctx, g, begin, end, values)
	}
}

// readMany reads keys begin to end of a group by MGET.
func (s *Store) readMany(ctx context.Context, g *group, begin, end int, values []wrstats.Value) {
	pipe := g.shard.client.Pipeline()
	var cmds []*goredis.RawCmd
	for at := begin; at < end; at += mgetSize {
		cmd := goredis.NewRawCmd(ctx, mgetArgs(g.keys[at:min(at+mgetSize, end)])...)
		cmds = append(cmds, cmd)
		_ = pipe.Process(ctx, cmd) // it only appends
	}
	_, all := pipe.Exec(ctx)
	for i, cmd := range cmds {
		at := begin + i*mgetSize
		to := min(at+mgetSize, end)
		strange, err := rawValues(cmd, all, values[at:to])
		s.strange(g.shard.addr, strange)
		switch {
		case err == nil:
		case isCode(err, "NOPERM") && to-at > 1:
			s.readEach(ctx, g, at, to, values)
		default:
			g.fail("get", g.shard.addr, to-at, err)
		}
	}
}

// rawValues reads the reply to an MGET. all is the pipeline's error.
func rawValues(cmd *goredis.RawCmd, all error, values []wrstats.Value) (strange int64, err error) {
	reply, err := cmd.Result()
	switch {
	case err != nil:
		return 0, err
	case len(reply) == 0:
		return 0, cmp.Or(all, errUnanswered)
	case reply[0] == '-':
		return 0, rawError(bytes.TrimRight(reply[1:], "\r\n"))
	}
	strange, ok := parseValues(reply, values)
	if !ok {
		clear(values)
		return 0, errReply
	}
	return strange, nil
}

// A rawError is an error reply that go-redis has not made an error of.
type rawError string

func (e rawError) Error() string { return string(e) }
func (rawError) RedisError()     {}

func mgetArgs(keys []string) []any {
	args := make([]any, 1, 1+len(keys))
	args[0] = "mget"
	for i := range keys {
		args = append(args, &keys[i])
	}
	return args
}

// readEach reads keys begin to end of a group by a GET each, which the client sends to the right node.
func (s *Store) readEach(ctx context.Context, g *group, begin, end int, values []wrstats.Value) {
	pipe := g.shard.client.Pipeline()
	cmds := make([]*goredis.StringCmd, end-begin)
	for i := range cmds {
		cmds[i] = pipe.Get(ctx, g.keys[begin+i])
	}
	_, all := pipe.Exec(ctx)
	known := true // where keys are; else who asks for each would ask the network
	for i, cmd := range cmds {
		text, err := cmd.Result()
		switch {
		case errors.Is(err, goredis.Nil):
		case isCode(err, "WRONGTYPE"):
			s.strange(g.shard.addr, 1)
		case err != nil:
			addr := g.shard.addr
			if known {
				addr, known = g.shard.addrOf(ctx, g.keys[begin+i])
			}
			g.fail("get", addr, 1, err)
		case text == "" && all != nil && !isReply(all, cmds):
			g.fail("get", g.shard.addr, 1, all)
		default:
			v := &values[begin+i]
			if v.N, v.Found = parseCounter(text); !v.Found {
				s.strange(g.shard.addr, 1)
			}
		}
	}
}

// strange counts keys that hold no number.
func (s *Store) strange(addr string, n int64) {
	if n > 0 {
		s.report(NotNumber, n, &OpError{Op: "get", Addr: addr, Err: ErrNotNumber})
	}
}

// isReply says that an error of a pipeline is one of a command's: the others were answered, too.
func isReply(all error, cmds []*goredis.StringCmd) bool {
	return slices.ContainsFunc(cmds, func(cmd *goredis.StringCmd) bool { return cmd.Err() == all })
}
