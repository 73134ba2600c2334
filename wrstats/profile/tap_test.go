package profile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A tap is a Store that notes what is written, and whose reads a test can spoil. It is for one goroutine.
type tap struct {
	wrstats.Store
	ttls map[string]time.Duration // of each key that was written

	err  error                 // of Get; with ErrPartial, values come with it
	gone func(key string) bool // keys that Get does not find; nil: none
}

func newTap() *tap {
	return &tap{Store: memory.New(memory.Options{}), ttls: make(map[string]time.Duration)}
}

func (s *tap) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	for _, inc := range batch {
		s.ttls[inc.Key] = inc.TTL
	}
	return s.Store.Incr(ctx, batch)
}

func (s *tap) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	values, err := s.Store.Get(ctx, keys)
	for i := range values {
		if s.gone != nil && s.gone(keys[i]) {
			values[i] = wrstats.Value{}
		}
	}
	if err == nil {
		err = s.err
	}
	return values, err
}

// newLog returns a Logger, and what gives the records that it got since the last time.
func newLog() (logger *slog.Logger, records func() []map[string]any) {
	var buf bytes.Buffer
	return slog.New(slog.NewJSONHandler(&buf, nil)), func() (all []map[string]any) {
		for lines := json.NewDecoder(&buf); lines.More(); {
			var record map[string]any
			if err := lines.Decode(&record); err != nil {
				panic(err)
			}
			delete(record, "time")
			all = append(all, record)
		}
		return all
	}
}
