package wrstats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

func TestNewNamesTheFieldThatIsWrong(t *testing.T) {
	sequence := func(s wrstats.Sequence) []wrstats.Metric {
		return []wrstats.Metric{{Name: "m"}, {Name: "n", Sequences: []wrstats.Sequence{{}, s}}}
	}
	for _, c := range []struct {
		rule string
		cfg  wrstats.Config
		want string
	}{
		{"no prefix", wrstats.Config{Metrics: []wrstats.Metric{{Name: "m"}}}, "Config.Prefix: is empty"},
		{"the keyspace global", wrstats.Config{Prefix: "p", Keyspace: "global", Metrics: []wrstats.Metric{{Name: "m"}}}, "Config.Keyspace"},
		{"no metrics", wrstats.Config{Prefix: "p"}, "Config.Metrics: is empty"},
		{"a metric without a name", wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m"}, {}}}, "Config.Metrics[1].Name: is empty"},
		{"two metrics of one name", wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m"}, {Name: "m"}}}, "Config.Metrics[1].Name"},
		{"two metrics that are spelled alike", wrstats.Config{Prefix: "p", Keys: wrstats.MediaWikiKeys, Metrics: []wrstats.Metric{{Name: "a b"}, {Name: "a_b"}}}, `Config.Metrics[1].Name: "a_b": a sequence has the keys of one of metric "a b"`},
		{"two sequences that are spelled alike", wrstats.Config{Prefix: "p", Keys: wrstats.MediaWikiKeys, Metrics: []wrstats.Metric{{Name: "m"}, {Name: "n", Sequences: []wrstats.Sequence{{Name: "a b"}, {Name: "a_b"}}}}}, `Config.Metrics[1].Name: "n": a sequence has the keys of one of metric "n"`},
		{"a negative resolution", wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m", Resolution: -1}}}, "Config.Metrics[0].Resolution"},
		{"a resolution that is no number", wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m", Resolution: nan()}}}, "Config.Metrics[0].Resolution"},
		{"a resolution too fine", wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m", Resolution: 1e-300}}}, "Config.Metrics[0].Resolution"},
		{"retention -1", wrstats.Config{Prefix: "p", Metrics: sequence(wrstats.Sequence{Retention: -1})}, "Config.Metrics[1].Sequences[1].Retention"},
		{"a negative step", wrstats.Config{Prefix: "p", Metrics: sequence(wrstats.Sequence{Step: -time.Second})}, "Config.Metrics[1].Sequences[1].Step"},
		{"a step of a nanosecond", wrstats.Config{Prefix: "p", Metrics: sequence(wrstats.Sequence{Step: 1})}, "Config.Metrics[1].Sequences[1].Step"},
		{"a step over the retention", wrstats.Config{Prefix: "p", Metrics: sequence(wrstats.Sequence{Step: 2 * time.Hour})}, "Config.Metrics[1].Sequences[1].Step"},
		{"a retention of 100 years", wrstats.Config{Prefix: "p", Metrics: sequence(wrstats.Sequence{Retention: 100 * 365 * 24 * time.Hour})}, "Config.Metrics[1].Sequences[1].Retention"},
		{"two sequences of one name", wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m", Sequences: []wrstats.Sequence{{Name: "s1"}, {}, {Name: "s1"}}}}}, "Config.Metrics[0].Sequences[2].Name"},
		{"a prefix too long", wrstats.Config{Prefix: strings.Repeat("p", 150), Metrics: []wrstats.Metric{{Name: "m"}}}, "Config.Prefix: is too long"},
		{"a prefix too long when it is escaped", wrstats.Config{Prefix: strings.Repeat("é", 30), Metrics: []wrstats.Metric{{Name: "m"}}}, "Config.Prefix: is too long"},
		{"a metric's name too long", wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m"}, {Name: strings.Repeat("m", 150)}}}, "Config.Metrics[1].Name: is too long"},
		{"a sequence's name too long", wrstats.Config{Prefix: "p", Metrics: sequence(wrstats.Sequence{Name: strings.Repeat("s", 150)})}, "Config.Metrics[1].Sequences[1].Name: is too long"},
		{"a keyspace too long", wrstats.Config{Prefix: "p", Keyspace: strings.Repeat("k", 250), Metrics: []wrstats.Metric{{Name: "m"}}, Keys: wrstats.MediaWikiKeys}, "Config.Keyspace: is too long"},
		{"a step too short for the retention", wrstats.Config{Prefix: "p", Metrics: sequence(wrstats.Sequence{Step: time.Second, Retention: 365 * 24 * time.Hour})}, "Config.Metrics[1].Sequences[1].Step"},
		{"keys that are empty", wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m"}}, Keys: badKeys("")}, "Config.Keys"},
		{"keys with a space", wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m"}}, Keys: badKeys("a b")}, "Config.Keys"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := wrstats.New(sink{}, c.cfg)
			require.ErrorContains(t, err, "wrstats: ")
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := wrstats.New(nil, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m"}}})
	require.ErrorContains(t, err, "store is nil")
}

// badKeys spells all keys alike.
type badKeys string

func (k badKeys) AppendKey(dst []byte, _ wrstats.Key) []byte { return append(dst, k...) }

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestNewTakesTheLimits(t *testing.T) {
	for _, s := range []wrstats.Sequence{
		{},
		{Step: wrstats.MinStep, Retention: wrstats.MinStep},
		{Step: time.Hour, Retention: wrstats.MaxRetention},
		{Retention: 31 * 24 * time.Hour},
	} {
		_, err := wrstats.New(sink{}, wrstats.Config{Prefix: strings.Repeat("p", 100), Metrics: []wrstats.Metric{{Name: "m", Sequences: []wrstats.Sequence{s}}}})
		require.NoError(t, err)
	}
}

func TestNewKeepsNothingOfTheConfig(t *testing.T) {
	store := newMapStore()
	sequences := []wrstats.Sequence{{Step: time.Minute}}
	metrics := []wrstats.Metric{{Name: "count", Sequences: sequences}}
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: metrics})
	require.NoError(t, err)
	metrics[0].Name = "changed"
	sequences[0].Step = time.Second
	w := stats.NewWriter(byHand)
	require.NoError(t, w.AddAt(at(61), "count", filter42, 1))
	require.NoError(t, w.Close(t.Context()))
	stored, _ := store.stored()
	require.Equal(t, map[string]int64{key("count", 1): 1}, stored)
}

func TestATTLIsRetentionAndStepInWholeSeconds(t *testing.T) {
	for _, c := range []struct {
		sequence wrstats.Sequence
		want     time.Duration
	}{
		{wrstats.Sequence{}, 70 * time.Minute},
		{wrstats.Sequence{Step: time.Second, Retention: 2 * time.Second}, 3 * time.Second},
		{wrstats.Sequence{Step: time.Millisecond, Retention: 2 * time.Millisecond}, time.Second},
		{wrstats.Sequence{Step: time.Second / 30, Retention: time.Second}, 2 * time.Second},
		{wrstats.Sequence{Step: time.Hour, Retention: 365 * 24 * time.Hour}, (365*24 + 1) * time.Hour},
	} {
		store := newMapStore()
		stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "count", Sequences: []wrstats.Sequence{c.sequence}}}})
		require.NoError(t, err)
		w := stats.NewWriter(byHand)
		require.NoError(t, w.AddAt(at(0), "count", filter42, 1))
		require.NoError(t, w.Close(t.Context()))
		require.Equal(t, map[string]time.Duration{key("count", 0): c.want}, store.ttls)
	}
}
