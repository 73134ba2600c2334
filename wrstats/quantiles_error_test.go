package wrstats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
)

// shapes are what real values look like.
var shapes = map[string]func(r *rand.Rand) float64{
	"uniform":    func(r *rand.Rand) float64 { return 1000 * r.Float64() },
	"log-normal": func(r *rand.Rand) float64 { return math.Exp(2 + 1.5*r.NormFloat64()) },
	"Pareto":     func(r *rand.Rand) float64 { return 0.1 * math.Pow(1-r.Float64(), -1/1.1) },
	"bimodal": func(r *rand.Rand) float64 {
		if r.IntN(10) == 0 {
			return 900 + 30*r.NormFloat64()
		}
		return 1 + 0.05*r.NormFloat64()
	},
	"constant": func(*rand.Rand) float64 { return 42 },
}

var percentiles = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

func TestQuantilesOfAMillionValuesAreWithinTheRelativeError(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 50_000
	}
	for relativeError, n := range map[float64]int{0.01: n, 0.1: n / 10} {
		for name, shape := range shapes {
			t.Run(fmt.Sprintf("%s/error=%v", name, relativeError), func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, 4))
				values := make([]float64, n)
				for i := range values {
					values[i] = shape(r)
				}
				q := observeAll(t, relativeError, values)
				rival, err := ddsketch.LogCollapsingLowestDenseDDSketch(relativeError, 4096)
				require.NoError(t, err)
				var errs []error
				for _, v := range values {
					errs = appendError(errs, rival.Add(v))
				}
				require.Empty(t, errs)
				theirs, err := rival.GetValuesAtQuantiles(percentiles)
				require.NoError(t, err)
				slices.Sort(values)
				require.EqualValues(t, n, q.Count)
				require.Zero(t, q.Lost)
				require.LessOrEqual(t, q.Min, values[0])
				require.GreaterOrEqual(t, q.Max, values[n-1])
				for i, p := range percentiles {
					exact := values[int(math.Ceil(p*float64(n)))-1]
					require.InEpsilon(t, exact, q.Values[i], relativeError*(1+1e-9), "p%v", 100*p)
					require.InEpsilon(t, theirs[i], q.Values[i], 1e-9, "DDSketch's bins are the same: p%v", 100*p)
				}
			})
		}
	}
}

// observeAll observes values in 6 windows, by two Writers of two processes, in each of the ways, and reads them
// by a third.
func observeAll(t *testing.T, relativeError float64, values []float64) wrstats.Quantiles {
	store := memory.New(memory.Options{})
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	var processes []*wrstats.Stats
	for range 3 {
		stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{
			{Name: "time", Distribution: &wrstats.Distribution{Min: 1e-3, Max: 1e6, RelativeError: relativeError}},
		}})
		require.NoError(t, err)
		processes = append(processes, stats)
	}
	now := time.Now().Truncate(10 * time.Minute).Add(5 * time.Minute)
	writers := []*wrstats.Writer{processes[0].NewWriter(wrstats.WriterOptions{}), processes[1].NewWriter(byHand)}
	var errs []error
	var observers []*wrstats.Observer
	for _, w := range writers {
		o, err := w.Distribution("time", filter42)
		require.NoError(t, err)
		observers = append(observers, o)
	}
	for i, v := range values {
		w, o, when := writers[i%2], observers[i%2], now.Add(-time.Duration(i%6)*10*time.Minute)
		switch {
		case i%6 == 0 && i > 1:
			o.Observe(v)
		case i%3 == 0:
			errs = appendError(errs, w.ObserveAt(when, "time", filter42, v))
		default:
			errs = appendError(errs, w.AddAllAt(when, []wrstats.Addition{o.Addition(v)}))
		}
	}
	for _, w := range writers {
		errs = appendError(errs, w.Close(t.Context()))
	}
	require.Empty(t, errs)
	q, err := processes[2].NewReader().QuantilesAt(t.Context(), now.Add(10*time.Minute), wrstats.Query{
		Metric: "time", Entity: filter42, Span: wrstats.Between(now.Add(-time.Hour), now.Add(10*time.Minute)),
	}, percentiles...)
	require.NoError(t, err)
	return q
}
