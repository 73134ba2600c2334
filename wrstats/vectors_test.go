package wrstats_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// The files in testdata were computed by MediaWiki's own library.

type vectorEntity struct {
	Global     bool
	Components []string
}

func (e vectorEntity) entity() wrstats.Entity {
	if e.Global {
		return wrstats.Global(e.Components...)
	}
	return wrstats.Local(e.Components...)
}

// vectors reads a file of one JSON case a line.
func vectors[T any](t *testing.T, file string) (cases []T) {
	f, err := os.Open("testdata/" + file)
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		cases = append(cases, c)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, cases)
	return cases
}

type windowsCase struct {
	Metrics []struct {
		Name       string
		Resolution float64
		Sequences  []struct {
			Name   string
			Step   int64 `json:"step_ms"`
			Expiry int64 `json:"expiry_ms"`
		}
	}
	Writes []struct {
		At     int64 `json:"at_ms"`
		Metric string
		Entity vectorEntity
		Value  float64
	}
	Stored []struct {
		Key   string
		Value int64
		TTL   int64 `json:"ttl_s"`
	}
	Reads []struct {
		Now       int64 `json:"now_ms"`
		Metric    string
		Entity    vectorEntity
		Start     int64 `json:"start_ms"`
		End       int64 `json:"end_ms"`
		Total     float64
		PerSecond float64 `json:"per_second"`
	}
}

func (c windowsCase) config() wrstats.Config {
	cfg := wrstats.Config{Prefix: "prefix", Keyspace: "local"}
	for _, m := range c.Metrics {
		metric := wrstats.Metric{Name: m.Name, Resolution: m.Resolution}
		for _, s := range m.Sequences {
			metric.Sequences = append(metric.Sequences, wrstats.Sequence{
				Name:      s.Name,
				Step:      time.Duration(s.Step) * time.Millisecond,
				Retention: time.Duration(s.Expiry) * time.Millisecond,
			})
		}
		cfg.Metrics = append(cfg.Metrics, metric)
	}
	return cfg
}

func TestWriterStoresWhatTheOriginalDoes(t *testing.T) {
	for _, c := range vectors[windowsCase](t, "windows.jsonl") {
		store := newMapStore()
		stats, err := wrstats.New(store, c.config())
		require.NoError(t, err)
		w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
		for _, write := range c.Writes {
			require.NoError(t, w.AddAt(time.UnixMilli(write.At), write.Metric, write.Entity.entity(), write.Value))
		}
		require.NoError(t, w.Close(t.Context()))

		counts, _ := store.stored()
		require.Len(t, counts, len(c.Stored))
		for _, want := range c.Stored {
			require.Contains(t, counts, want.Key)
			require.Equal(t, want.Value, counts[want.Key], want.Key)
			require.Equal(t, time.Duration(want.TTL)*time.Second, store.ttls[want.Key], want.Key)
		}
	}
}

func TestReaderGivesWhatTheOriginalDoes(t *testing.T) {
	for i, c := range vectors[windowsCase](t, "windows.jsonl") {
		store := newMapStore()
		for _, s := range c.Stored {
			store.counts[s.Key] = s.Value
		}
		stats, err := wrstats.New(store, c.config())
		require.NoError(t, err)
		r := stats.NewReader()
		for j, read := range c.Reads {
			rates, err := r.RatesAt(t.Context(), time.UnixMilli(read.Now), []wrstats.Query{{
				Metric: read.Metric,
				Entity: read.Entity.entity(),
				Span:   wrstats.Between(time.UnixMilli(read.Start), time.UnixMilli(read.End)),
			}})
			require.NoError(t, err)
			requireClose(t, read.Total, rates[0].Total, 1e-9, "case %d, read %d", i, j)
			// The original's time is a float of seconds, good to a quarter of a microsecond.
			requireClose(t, read.PerSecond, rates[0].PerSecond(), 1e-6, "case %d, read %d", i, j)
		}
	}
}

func requireClose(t *testing.T, want, got, relative float64, msgAndArgs ...any) {
	t.Helper()
	if want == 0 {
		require.Zero(t, got, msgAndArgs...)
		return
	}
	require.InEpsilon(t, want, got, relative, msgAndArgs...)
}

func TestMediaWikiKeysAreTheOriginals(t *testing.T) {
	type keyCase struct {
		Keyspace   string
		Global     bool
		Components []string
		Key        string
	}
	for _, c := range vectors[keyCase](t, "mediawiki-keys.jsonl") {
		bucket, err := strconv.ParseInt(c.Components[3], 10, 64)
		require.NoError(t, err)
		key := wrstats.MediaWikiKeys.AppendKey(nil, wrstats.Key{
			Keyspace: c.Keyspace,
			Prefix:   c.Components[0],
			Metric:   c.Components[1],
			Sequence: c.Components[2],
			Bucket:   bucket,
			Entity:   vectorEntity{c.Global, c.Components[4:]}.entity(),
		})
		require.Equal(t, c.Key, string(key))
	}
}
