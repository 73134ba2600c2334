package redis

import (
	"context"
	"errors"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// Delete removes keys by UNLINK, or DEL where there is none. When it fails, some of them may be gone.
func (s *Store) Delete(ctx context.Context, keys []string) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	if len(keys) == 0 {
		return nil
	}
	groups := s.spread(ctx, "delete", s.groupKeys("delete", keys), func(g *group) { remove(ctx, g) })
	if err := s.failure(groups); err != nil {
		return err
	}
	s.counters.deleted.Add(int64(len(keys)))
	return nil
}

// remove deletes the keys of a group.
func remove(ctx context.Context, g *group) {
	size := mgetSize
	if g.shard.split {
		size = 1
	}
	for begin := 0; begin < len(g.keys); begin += maxKeys {
		keys := g.keys[begin:min(begin+maxKeys, len(g.keys))]
		err := removeBy(ctx, "unlink", g.shard, keys, size)
		if isUnknown(err) {
			err = removeBy(ctx, "del", g.shard, keys, size)
		}
		if err != nil {
			g.fail("delete", g.shard.addr, len(keys), err)
			return
		}
	}
}

// removeBy sends a command for every size keys.
func removeBy(ctx context.Context, name string, sh *shard, keys []string, size int) error {
	pipe := sh.client.Pipeline()
	for begin := 0; begin < len(keys); begin += size {
		args := []any{name}
		for _, key := range keys[begin:min(begin+size, len(keys))] {
			args = append(args, key)
		}
		_ = pipe.Process(ctx, goredis.NewIntCmd(ctx, args...)) // it only appends
	}
	_, err := pipe.Exec(ctx)
	return err
}

// isUnknown says that a server does not know the command.
func isUnknown(err error) bool {
	var reply goredis.Error
	return errors.As(err, &reply) && strings.Contains(strings.ToLower(reply.Error()), "unknown command")
}
