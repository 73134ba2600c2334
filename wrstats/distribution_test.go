package wrstats_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

func TestNewNamesWhatIsWrongWithADistribution(t *testing.T) {
	for _, c := range []struct {
		rule string
		d    wrstats.Distribution
		want string
	}{
		{"no Min", wrstats.Distribution{Max: 1}, "Config.Metrics[0].Distribution.Min: 0 is not from"},
		{"a negative Min", wrstats.Distribution{Min: -1, Max: 1}, "Config.Metrics[0].Distribution.Min: -1 is not from"},
		{"a denormal Min", wrstats.Distribution{Min: 1e-310, Max: 1}, "Config.Metrics[0].Distribution.Min: "},
		{"a Min that is no number", wrstats.Distribution{Min: nan(), Max: 1}, "Config.Metrics[0].Distribution.Min: NaN"},
		{"no Max", wrstats.Distribution{Min: 1}, "Config.Metrics[0].Distribution.Max: 0 is not from"},
		{"a Max that is no number", wrstats.Distribution{Min: 1, Max: nan()}, "Config.Metrics[0].Distribution.Max: NaN"},
		{"an infinite Max", wrstats.Distribution{Min: 1, Max: math.Inf(1)}, "Config.Metrics[0].Distribution.Max: +Inf"},
		{"a Min that is the Max", wrstats.Distribution{Min: 2, Max: 2}, "Config.Metrics[0].Distribution.Min: 2 is not less than the Max of 2"},
		{"a Min over the Max", wrstats.Distribution{Min: 2, Max: 1}, "Config.Metrics[0].Distribution.Min: 2 is not less"},
		{"a negative error", wrstats.Distribution{Min: 1, Max: 2, RelativeError: -0.1}, "Config.Metrics[0].Distribution.RelativeError: -0.1"},
		{"an error of 1", wrstats.Distribution{Min: 1, Max: 2, RelativeError: 1}, "Config.Metrics[0].Distribution.RelativeError: 1 is not"},
		{"an error that is no number", wrstats.Distribution{Min: 1, Max: 2, RelativeError: nan()}, "Config.Metrics[0].Distribution.RelativeError: NaN"},
		{"an error too small", wrstats.Distribution{Min: 1, Max: 1.1, RelativeError: 1e-7}, "Config.Metrics[0].Distribution.RelativeError: 1e-07"},
		{"too many bins", wrstats.Distribution{Min: 1e-9, Max: 1e9, RelativeError: 0.01}, "Config.Metrics[0].Distribution.RelativeError: 0.01 makes 2074 bins of 1e-09 to 1e+09, over 2048"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := wrstats.New(sink{}, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "time", Distribution: &c.d}}})
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestADistributionHasNoResolutionOfItsOwn(t *testing.T) {
	d := &wrstats.Distribution{Min: 1, Max: 2}
	_, err := wrstats.New(sink{}, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "time", Resolution: 0.001, Distribution: d}}})
	require.ErrorContains(t, err, "Config.Metrics[0].Resolution: 0.001 is not 1")
	_, err = wrstats.New(sink{}, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "time", Resolution: 1, Distribution: d}}})
	require.NoError(t, err)
	require.Zero(t, d.RelativeError, "New changes nothing of the caller's")
}

func TestNoMetricsKeyIsABins(t *testing.T) {
	d := &wrstats.Distribution{Min: 1, Max: 2, RelativeError: 0.1}
	for _, c := range []struct {
		rule    string
		keys    wrstats.KeyFormat
		metrics []wrstats.Metric
		want    string
	}{
		{"the name of a bin", nil, []wrstats.Metric{{Name: "time", Distribution: d}, {Name: "time/0.1/2"}}, `Config.Metrics[0].Name: "time": a bin has the key of metric "time/0.1/2"`},
		{"before it", nil, []wrstats.Metric{{Name: "time/0.1/0"}, {Name: "time", Distribution: d}}, "Config.Metrics[1].Name"},
		{"the name of a bin that can't be", nil, []wrstats.Metric{{Name: "time", Distribution: d}, {Name: "time/0.1/5"}, {Name: "time/0.1/-1"}}, ""},
		{"of another error", nil, []wrstats.Metric{{Name: "time", Distribution: d}, {Name: "time/0.2/2"}, {Name: "time/0.1"}, {Name: "tim"}}, ""},
		{"as MediaWiki spells it", wrstats.MediaWikiKeys, []wrstats.Metric{{Name: "a b", Distribution: d}, {Name: "a_b/0.1/2"}}, "Config.Metrics[0].Name"},
		{"as a distribution itself", nil, []wrstats.Metric{{Name: "time", Distribution: d}, {Name: "time/0.1/2", Distribution: d}}, "Config.Metrics[0].Name"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := wrstats.New(sink{}, wrstats.Config{Prefix: "p", Keys: c.keys, Metrics: c.metrics})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestTheLongestKeyOfABinFits(t *testing.T) {
	d := &wrstats.Distribution{Min: 1e-300, Max: 1e-299, RelativeError: 0.3125}
	for _, keys := range []wrstats.KeyFormat{wrstats.DefaultKeys, wrstats.MediaWikiKeys} {
		longest := 0
		for n := range wrstats.MaxKeyLength {
			metric := wrstats.Metric{Name: strings.Repeat("m", n+1)}
			_, plain := wrstats.New(sink{}, wrstats.Config{Prefix: "p", Keys: keys, Metrics: []wrstats.Metric{metric}})
			metric.Distribution = d
			_, err := wrstats.New(sink{}, wrstats.Config{Prefix: "p", Keys: keys, Metrics: []wrstats.Metric{metric}})
			if err == nil {
				longest = len(metric.Name)
				continue
			}
			require.ErrorContains(t, err, "Config.Metrics[0].Name: is too long")
			if plain != nil {
				require.Equal(t, longest+len("/0.3125/-1067"), n, "the last plain one that fits")
				break
			}
		}
		require.Positive(t, longest)
	}
}
