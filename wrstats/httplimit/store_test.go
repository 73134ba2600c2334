package httplimit_test

import (
	"context"
	"errors"

	"github.com/wrstats/go-wrstats/wrstats"
)

var errBroken = errors.New("broken")

// A tap is a Store that keeps the last context of a read, and fails when it is told to.
type tap struct {
	wrstats.Store
	ctx      context.Context
	fail     error // what a read fails with
	failIncr error
}

func (s *tap) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	s.ctx = ctx
	if s.fail == nil {
		return s.Store.Get(ctx, keys)
	}
	if !errors.Is(s.fail, wrstats.ErrPartial) {
		return nil, s.fail
	}
	values, err := s.Store.Get(ctx, keys)
	return values, errors.Join(s.fail, err)
}

func (s *tap) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	if s.failIncr != nil {
		return nil, s.failIncr
	}
	return s.Store.Incr(ctx, batch)
}
