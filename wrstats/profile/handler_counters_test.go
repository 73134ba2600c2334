package profile_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// A measuredStore measures what it is told to. Nothing else of it may be called.
type measuredStore struct {
	wrstats.Store
	measures []wrstats.Measure
}

func (s measuredStore) Measures() []wrstats.Measure { return s.measures }

func measuring(measures ...wrstats.Measure) wrstats.Store { return measuredStore{measures: measures} }

func value(v float64, labels ...string) wrstats.MeasuredValue {
	return wrstats.MeasuredValue{Labels: labels, Value: v}
}

func TestWhatTheStoreMeasuresIsShown(t *testing.T) {
	type values = []wrstats.MeasuredValue
	type labels = map[string]string
	number := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		rule  string
		store wrstats.Store
		rows  string // "": there is no table
		json  []measuredJSON
	}{
		{"no store", nil, "", nil},
		{"one that does not measure", struct{ wrstats.Store }{memory.New(memory.Options{})}, "", nil},
		{"nothing", measuring(), "", nil},
		{"a measure without values", measuring(wrstats.Measure{Name: "x_hits", Labels: []string{"zone"}}), "", nil},
		{
			"measures and values in the order of the store, labels in that of the measure",
			measuring(
				wrstats.Measure{Name: "z_replies", Labels: []string{"server", "kind"}, Values: values{
					value(1234567, "192.0.2.2:11211", "refused"), value(0, "192.0.2.1:11211", "an error"),
				}},
				wrstats.Measure{Name: "a_part", Gauge: true, Values: values{value(0.5)}},
			),
			"z_replies server 192.0.2.2:11211, kind refused 1,234,567 z_replies server 192.0.2.1:11211, kind an error 0 a_part 0.5",
			[]measuredJSON{
				{"z_replies", labels{"server": "192.0.2.2:11211", "kind": "refused"}, number(1234567)},
				{"z_replies", labels{"server": "192.0.2.1:11211", "kind": "an error"}, number(0)},
				{"a_part", labels{}, number(0.5)},
			},
		},
		{
			"what is no finite number",
			measuring(wrstats.Measure{Name: "x", Values: values{value(math.NaN()), value(math.Inf(1)), value(math.Inf(-1)), value(-3)}}),
			"x – x – x – x −3",
			[]measuredJSON{{"x", labels{}, nil}, {"x", labels{}, nil}, {"x", labels{}, nil}, {"x", labels{}, number(-3)}},
		},
		{
			"labels without a name or a text are left out",
			measuring(wrstats.Measure{Name: "x", Labels: []string{"a", "b"}, Values: values{value(1, "1"), value(2), value(3, "1", "2", "3")}}),
			"x a 1 1 x 2 x a 1, b 2 3",
			[]measuredJSON{{"x", labels{"a": "1"}, number(1)}, {"x", labels{}, number(2)}, {"x", labels{"a": "1", "b": "2"}, number(3)}},
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p, _ := open(t, profile.Options{})
			h := pagesOf(p, profile.HandlerOptions{Store: c.store})
			require.Equal(t, append([]measuredJSON{}, c.json...), getJSON[overviewJSON](t, h, "/?format=json").Store, "a list, also when it is empty")
			_, table, shown := strings.Cut(text(get200(t, h, "/")), "Its store The store’s own counters since it was made, and what it holds Counter Value ")
			require.Equal(t, c.rows != "", shown)
			rows, _, _ := strings.Cut(table, " This page as JSON")
			require.Equal(t, c.rows, rows)
		})
	}
}

func TestAMeasureIsExplained(t *testing.T) {
	p, _ := open(t, profile.Options{})
	h := pagesOf(p, profile.HandlerOptions{Store: measuring(wrstats.Measure{Name: "x_hits", Help: `Hits of "x".`, Values: []wrstats.MeasuredValue{value(1)}})})
	require.Contains(t, get200(t, h, "/"), `<th scope="row" title="Hits of &#34;x&#34;.">x_hits</th><td>1</td>`)
}

func TestCountersOfTheProfilersOwnStoreAreShown(t *testing.T) {
	store, err := memcached.New(memcached.Config{Servers: []string{"127.0.0.1:2", "127.0.0.1:1"}})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	p, _ := open(t, profile.Options{})
	h := pagesOf(p, profile.HandlerOptions{Store: store})
	var want []measuredJSON
	for _, m := range store.Measures() {
		for _, v := range m.Values {
			labels := make(map[string]string)
			for i, name := range m.Labels {
				labels[name] = v.Labels[i]
			}
			want = append(want, measuredJSON{m.Name, labels, &v.Value})
		}
	}
	require.NotEmpty(t, want)
	for range 3 {
		require.Equal(t, want, getJSON[overviewJSON](t, h, "/?format=json").Store)
	}
	require.Contains(t, text(get200(t, h, "/")), " memcached_read_bytes server 127.0.0.1:1 0 ")
}

func TestAllCountersOfTheWriterAreShown(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	p.Record("", []profile.Run{{Rule: "9"}}) // is rejected
	require.NoError(t, p.Sync(t.Context()))
	stats := reflect.ValueOf(p.Stats())
	var want []counterJSON
	for i := range stats.NumField() {
		want = append(want, counterJSON{stats.Type().Field(i).Name, stats.Field(i).Convert(reflect.TypeFor[float64]()).Float()})
	}
	require.GreaterOrEqual(t, len(slices.DeleteFunc(slices.Clone(want), func(c counterJSON) bool { return c.Value == 0 })), 4, "%v", want)
	require.Equal(t, want, getJSON[overviewJSON](t, pagesOf(p, profile.HandlerOptions{}), "/?format=json").Writer)
}
