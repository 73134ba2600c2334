package wrstats_test

import (
	"context"
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
)

var (
	ctx  = context.Background()
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

// pages returns a Stats with the metrics views and milliseconds.
func pages() *wrstats.Stats {
	stats, err := wrstats.New(memory.New(memory.Options{}), wrstats.Config{
		Prefix:  "pages",
		Metrics: []wrstats.Metric{{Name: "views"}, {Name: "milliseconds", Resolution: 0.001}},
	})
	if err != nil {
		panic(err)
	}
	return stats
}

func Example() {
	stats := pages()
	w := stats.NewWriter(wrstats.WriterOptions{})
	page := wrstats.Local("page", "Main")
	views, _ := w.Counter("views", page)
	for range 3 {
		views.Inc()
		_ = w.Add("milliseconds", page, 12.5)
	}
	_ = w.Close(ctx)

	rates, _ := stats.NewReader().Rates(ctx, []wrstats.Query{
		{Metric: "views", Entity: page, Span: wrstats.LastWindows(6)},
		{Metric: "milliseconds", Entity: page, Span: wrstats.LastWindows(6)},
	})
	mean, _ := rates[1].Per(rates[0])
	fmt.Println(rates[0].Total, "views,", mean, "ms each")
	// Output: 3 views, 12.5 ms each
}

func ExampleNew() {
	_, err := wrstats.New(memory.New(memory.Options{}), wrstats.Config{
		Prefix: "pages",
		Metrics: []wrstats.Metric{{
			Name: "views",
			Sequences: []wrstats.Sequence{
				{Step: 10 * time.Second, Retention: time.Minute},
				{Step: time.Hour, Retention: 10 * time.Minute},
			},
		}},
	})
	fmt.Println(err)
	// Output: wrstats: Config.Metrics[0].Sequences[1].Step: 1h0m0s is longer than the retention of 10m0s
}

func ExampleLocal() {
	fmt.Println(wrstats.Local("page", "Main"), wrstats.Local("page", "Main") == wrstats.Local("page:Main"))
	// Output: page:Main false
}

func ExampleGlobal() {
	fmt.Println(wrstats.Global("ip", "192.0.2.7"), wrstats.Global("ip") == wrstats.Local("ip"))
	// Output: global:ip:192.0.2.7 false
}

func ExampleStats_NewWriter() {
	w := pages().NewWriter(wrstats.WriterOptions{
		FlushInterval: 5 * time.Second,
		OnError:       func(err error) { fmt.Println(err) },
	})
	fmt.Println(w.Close(ctx))
	// Output: <nil>
}

func ExampleWriter_Add() {
	w := pages().NewWriter(wrstats.WriterOptions{})
	defer w.Close(ctx)
	fmt.Println(w.Add("views", wrstats.Local("page", "Main"), 1))
	fmt.Println(w.Add("vews", wrstats.Local("page", "Main"), 1))
	fmt.Println(w.Add("views", wrstats.Local("page", "Main"), -1))
	// Output:
	// <nil>
	// wrstats: unknown metric: "vews"
	// wrstats: invalid value: -1 of metric "views"
}

func ExampleWriter_AddAt() {
	stats := pages()
	w := stats.NewWriter(wrstats.WriterOptions{})
	_ = w.AddAt(noon.Add(-time.Millisecond), "views", wrstats.Local(), 1)
	_ = w.AddAt(noon, "views", wrstats.Local(), 10)
	_ = w.Close(ctx)
	rates, _ := stats.NewReader().RatesAt(ctx, noon.Add(time.Minute), []wrstats.Query{
		{Metric: "views", Span: wrstats.LastWindows(2)},
	})
	for _, window := range rates[0].Windows {
		fmt.Println(window.Start.Format(time.TimeOnly), window.Value)
	}
	// Output:
	// 11:50:00 1
	// 12:00:00 10
}

func ExampleWriter_AddAllAt() {
	w := pages().NewWriter(wrstats.WriterOptions{})
	defer w.Close(ctx)
	views, _ := w.Counter("views", wrstats.Local())
	milliseconds, _ := w.Counter("milliseconds", wrstats.Local())
	fmt.Println(w.AddAllAt(noon, []wrstats.Addition{{Counter: views, Value: 1}, {Counter: milliseconds, Value: 0.25}}))
	// Output: <nil>
}

func ExampleWriter_Counter() {
	w := pages().NewWriter(wrstats.WriterOptions{})
	defer w.Close(ctx)
	views, err := w.Counter("views", wrstats.Local("page", "Main"))
	if err != nil {
		fmt.Println(err)
		return
	}
	views.Inc()
	views.Add(2)
	views.AddAt(noon, 4)
	fmt.Println(w.Stats().Added)
	// Output: 7
}

func ExampleWriter_Flush() {
	w := pages().NewWriter(wrstats.WriterOptions{FlushInterval: -1}) // only when told to
	defer w.Close(ctx)
	_ = w.Add("views", wrstats.Local(), 1)
	fmt.Println(w.Stats().Pending)
	fmt.Println(w.Flush(ctx))
	// Output:
	// 1
	// <nil>
}

func ExampleWriter_Sync() {
	w := pages().NewWriter(wrstats.WriterOptions{})
	defer w.Close(ctx)
	_ = w.Add("views", wrstats.Local(), 1)
	fmt.Println(w.Sync(ctx), w.Stats().Flushed)
	// Output: <nil> 1
}

func ExampleWriter_Reset() {
	stats := pages()
	w := stats.NewWriter(wrstats.WriterOptions{})
	defer w.Close(ctx)
	_ = w.Add("views", wrstats.Local("page", "Main"), 1)
	_ = w.Add("views", wrstats.Local("page", "Help"), 1)
	_ = w.Sync(ctx)
	fmt.Println(w.Reset(ctx, wrstats.Local("page", "Main")))
	for _, page := range []string{"Main", "Help"} {
		rate, _ := stats.NewReader().Rate(ctx, wrstats.Query{
			Metric: "views", Entity: wrstats.Local("page", page), Span: wrstats.Last(time.Hour),
		})
		fmt.Println(page, rate.Total)
	}
	// Output:
	// <nil>
	// Main 0
	// Help 1
}

func ExampleWriter_Stats() {
	w := pages().NewWriter(wrstats.WriterOptions{})
	_ = w.Add("views", wrstats.Local(), 5)
	_ = w.Add("views", wrstats.Local(), -5)
	_ = w.Close(ctx)
	fmt.Printf("%+v\n", w.Stats())
	// Output: {Added:5 Flushed:5 Lost:0 Dropped:0 Pending:0 Rejected:1 Flushes:1 Errors:0}
}

// 60 views at a quarter to twelve, read with three spans an hour later.
func ExampleReader_RatesAt() {
	stats := pages()
	w := stats.NewWriter(wrstats.WriterOptions{})
	_ = w.AddAt(noon.Add(-15*time.Minute), "views", wrstats.Local(), 60)
	_ = w.Close(ctx)
	rates, _ := stats.NewReader().RatesAt(ctx, noon.Add(45*time.Minute), []wrstats.Query{
		{Metric: "views", Span: wrstats.Last(time.Hour)},
		{Metric: "views", Span: wrstats.LastWindows(6)},
		{Metric: "views", Span: wrstats.Between(noon.Add(-time.Hour), noon)},
	})
	fmt.Println("the last hour, half of the oldest window:", rates[0].Total)
	fmt.Println("the last six windows:", rates[1].Total)
	fmt.Println("from eleven to noon:", rates[2].Total)
	// Output:
	// the last hour, half of the oldest window: 30
	// the last six windows: 0
	// from eleven to noon: 60
}

func ExampleReader_Rate() {
	rate, err := pages().NewReader().Rate(ctx, wrstats.Query{Metric: "views", Span: wrstats.LastWindows(6)})
	fmt.Println(rate.Total, rate.Missing(), err)
	// Output: 0 6 <nil>
}

func ExampleRate_Per() {
	stats := pages()
	w := stats.NewWriter(wrstats.WriterOptions{})
	_ = w.AddAt(noon, "views", wrstats.Local(), 60)
	_ = w.AddAt(noon, "milliseconds", wrstats.Local(), 600)
	_ = w.AddAt(noon.Add(-time.Hour/2), "milliseconds", wrstats.Local(), 600) // the key of its views was lost
	_ = w.Close(ctx)
	rates, _ := stats.NewReader().RatesAt(ctx, noon, []wrstats.Query{
		{Metric: "views", Span: wrstats.LastWindows(4)},
		{Metric: "milliseconds", Span: wrstats.LastWindows(4)},
	})
	mean, ok := rates[1].Per(rates[0])
	fmt.Println(mean, ok)
	// Output: 10 true
}

func ExampleKeyFormat() {
	key := wrstats.Key{Keyspace: "enwiki", Prefix: "pages", Metric: "views", Bucket: 2945592, Entity: wrstats.Local("page", "a b")}
	fmt.Println(string(wrstats.DefaultKeys.AppendKey(nil, key)))
	fmt.Println(string(wrstats.MediaWikiKeys.AppendKey(nil, key)))
	// Output:
	// enwiki:pages:views::2945592:page:a%20b
	// enwiki:pages:views::2945592:page:a_b
}
