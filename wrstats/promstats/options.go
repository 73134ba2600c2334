package promstats

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The defaults of [Options].
const (
	DefaultMaxAge   = 10 * time.Second
	DefaultMaxStale = time.Minute
	DefaultTimeout  = 5 * time.Second
)

// Options tune [Rates]. The zero value is right for most.
type Options struct {
	// MaxAge is how long a read of the store serves scrapes; a read that failed, too, so that a store that is
	// down is asked no more often. With less than the time between two scrapes each one has values of its
	// own. 0: DefaultMaxAge.
	MaxAge time.Duration

	// MaxStale is how old the values may be that are shown while reads fail or take their time. What is older
	// is not shown. 0: DefaultMaxStale, or MaxAge if that is longer; less than MaxAge is refused.
	MaxStale time.Duration

	// Timeout bounds a read, and how long a scrape waits for it; 0: DefaultTimeout. It should be less than
	// the scrape's own time-out, which is 10 s in Prometheus unless said otherwise.
	Timeout time.Duration

	ConstLabels prometheus.Labels // on all series; nil: none

	// OnError hears why a read failed, or was answered in part; nil: it is counted only. The goroutine that
	// read calls it, and there is no other read until it returns; scrapes do not wait for it.
	OnError func(error)
}

func (o Options) withDefaults() (Options, error) {
	for _, d := range []struct {
		name     string
		value    *time.Duration
		standard time.Duration
	}{
		{"MaxAge", &o.MaxAge, DefaultMaxAge},
		{"MaxStale", &o.MaxStale, max(DefaultMaxStale, o.MaxAge)},
		{"Timeout", &o.Timeout, DefaultTimeout},
	} {
		switch {
		case *d.value < 0:
			return o, fmt.Errorf("promstats: Options.%s is negative", d.name)
		case *d.value == 0:
			*d.value = d.standard
		}
	}
	if o.MaxStale < o.MaxAge {
		return o, errors.New("promstats: Options.MaxStale is less than MaxAge")
	}
	return o, nil
}
