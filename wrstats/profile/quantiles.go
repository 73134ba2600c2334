package profile

import (
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// The defaults of [QuantileOptions].
const (
	DefaultQuantileMin   = time.Microsecond
	DefaultQuantileMax   = 10 * time.Second
	DefaultQuantileError = 0.1
)

// QuantileOptions tune the quantiles of rules' times, which a [wrstats.Distribution] has: the metric time, in
// milliseconds, of a rule's entity. They cost keys. With the defaults there are 81 bins, so that of an hour in 7
// windows 574 keys a rule are asked for, beside 28 of the other counters: 180,600 keys for 300 rules, 602,000 for
// 1,000. The store holds those alone that were hit, as a rule 5 to 15 of the 81 bins. A RelativeError half as large
// makes twice the bins.
type QuantileOptions struct {
	// Off keeps no quantiles: P50, P95 and P99 are 0 and Unknown is 1, and a run is four increments rather than
	// five.
	Off bool

	Min, Max      time.Duration // times out of them count as them; 0: DefaultQuantileMin, DefaultQuantileMax
	RelativeError float64       // of a quantile within Min and Max, from wrstats.MinRelativeError to below 1; 0: DefaultQuantileError
}

func (o QuantileOptions) withDefaults() QuantileOptions {
	if o.Min == 0 {
		o.Min = DefaultQuantileMin
	}
	if o.Max == 0 {
		o.Max = DefaultQuantileMax
	}
	if o.RelativeError == 0 {
		o.RelativeError = DefaultQuantileError
	}
	return o
}

// validate does not count the bins: wrstats does.
func (o QuantileOptions) validate() error {
	switch {
	case o.Min < 0:
		return fmt.Errorf("profile: Options.Quantiles.Min: %v is negative", o.Min)
	case o.Max <= o.Min:
		return fmt.Errorf("profile: Options.Quantiles.Max: %v is not more than the Min of %v", o.Max, o.Min)
	case !(wrstats.MinRelativeError <= o.RelativeError && o.RelativeError < 1):
		return fmt.Errorf("profile: Options.Quantiles.RelativeError: %v is not from %v to below 1", o.RelativeError, wrstats.MinRelativeError)
	}
	return nil
}

func (o QuantileOptions) distribution() *wrstats.Distribution {
	return &wrstats.Distribution{Min: milliseconds(o.Min), Max: milliseconds(o.Max), RelativeError: o.RelativeError}
}
