package backends

import (
	"context"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/wrstats"
)

func openMemcached(_ context.Context, rawURL string) (wrstats.Store, error) {
	store, err := memcached.Open(rawURL)
	if err != nil {
		return nil, err // not a Store that is a nil pointer
	}
	return store, nil
}

func openRedis(ctx context.Context, rawURL string) (wrstats.Store, error) {
	u, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	store, err := redis.Open(ctx, u)
	if err != nil {
		return nil, err
	}
	return store, nil
}
