package wrstats_test

import (
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A metric with a Distribution counts values in bins, for quantiles.
func ExampleReader_Quantiles() {
	stats := timings()
	w := stats.NewWriter(wrstats.WriterOptions{})
	page := wrstats.Local("page", "Main")
	for ms := range 1000 {
		_ = w.Observe("milliseconds", page, float64(ms+1))
	}
	_ = w.Close(ctx)

	q, err := stats.NewReader().Quantiles(ctx, wrstats.Query{
		Metric: "milliseconds", Entity: page, Span: wrstats.LastWindows(6),
	}, 0.5, 0.99)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v views, half of them within %.0f ms, 99 %% within %.0f ms; lost %v\n", q.Count, q.Values[0], q.Values[1], q.Lost)
	// Output: 1000 views, half of them within 503 ms, 99 % within 993 ms; lost 0
}

// The quantiles of many entities come with one read of the store.
func ExampleReader_QuantilesOf() {
	stats := timings()
	w := stats.NewWriter(wrstats.WriterOptions{})
	pages := []string{"Main", "Help"}
	for i, page := range pages {
		for ms := range 100 {
			_ = w.ObserveAt(noon, "milliseconds", wrstats.Local("page", page), float64((i+1)*(ms+1)))
		}
	}
	_ = w.Close(ctx)

	var queries []wrstats.Query
	for _, page := range pages {
		queries = append(queries, wrstats.Query{
			Metric: "milliseconds", Entity: wrstats.Local("page", page), Span: wrstats.LastWindows(6),
		})
	}
	all, err := stats.NewReader().QuantilesOf(ctx, noon.Add(time.Minute), queries, 0.5, 0.99)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, q := range all {
		fmt.Printf("%s: %v views, median %.0f ms, p99 %.0f ms\n", pages[i], q.Count, q.Values[0], q.Values[1])
	}
	// Output:
	// Main: 100 views, median 49 ms, p99 98 ms
	// Help: 100 views, median 102 ms, p99 200 ms
}

// timings returns a Stats with the distribution milliseconds and the counter views.
func timings() *wrstats.Stats {
	stats, err := wrstats.New(memory.New(memory.Options{}), wrstats.Config{
		Prefix: "pages",
		Metrics: []wrstats.Metric{
			{Name: "views"},
			{Name: "milliseconds", Distribution: &wrstats.Distribution{Min: 0.1, Max: 60_000, RelativeError: 0.02}},
		},
	})
	if err != nil {
		panic(err)
	}
	return stats
}

func ExampleWriter_Distribution() {
	stats := timings()
	w := stats.NewWriter(wrstats.WriterOptions{})
	page := wrstats.Local("page", "Main")
	milliseconds, err := w.Distribution("milliseconds", page)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 9 {
		milliseconds.Observe(12.5)
	}
	milliseconds.Observe(300)
	_ = w.Close(ctx)

	q, _ := stats.NewReader().Quantiles(ctx, wrstats.Query{Metric: "milliseconds", Entity: page, Span: wrstats.LastWindows(6)}, 0.9, 1)
	fmt.Printf("%.0f ms, at most %.0f ms\n", q.Values[0], q.Values[1])
	// Output: 13 ms, at most 299 ms
}

// What happened at one instant can be observed and counted together.
func ExampleObserver_Addition() {
	stats := timings()
	w := stats.NewWriter(wrstats.WriterOptions{})
	page := wrstats.Local("page", "Main")
	milliseconds, _ := w.Distribution("milliseconds", page)
	views, _ := w.Counter("views", page)
	_ = w.AddAllAt(noon, []wrstats.Addition{
		{Counter: views, Value: 1},
		milliseconds.Addition(12.5),
	})
	_ = w.Close(ctx)
	q, _ := stats.NewReader().QuantilesAt(ctx, noon, wrstats.Query{Metric: "milliseconds", Entity: page, Span: wrstats.LastWindows(1)})
	fmt.Printf("%v from %.0f to %.0f ms\n", q.Count, q.Min, q.Max)
	// Output: 1 from 12 to 13 ms
}

// One read of the store answers rates and quantiles, of whole spans and of each window.
func ExampleReader_ReadAt() {
	stats := timings()
	w := stats.NewWriter(wrstats.WriterOptions{})
	page := wrstats.Local("page", "Main")
	for i := range 30 {
		when := noon.Add(time.Duration(i) * time.Minute)
		_ = w.AddAt(when, "views", page, 1)
		_ = w.ObserveAt(when, "milliseconds", page, float64(10+100*(i/10)))
	}
	_ = w.Close(ctx)
	half := wrstats.LastWindows(3)
	answer, err := stats.NewReader().ReadAt(ctx, noon.Add(29*time.Minute), wrstats.Request{
		Rates:     []wrstats.Query{{Metric: "views", Entity: page, Span: half}},
		Quantiles: []wrstats.Query{{Metric: "milliseconds", Entity: page, Span: half}},
		Ps:        []float64{0.5},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v views, median %.0f ms\n", answer.Rates[0].Total, answer.Quantiles[0].Values[0])
	for _, window := range answer.Quantiles[0].Windows {
		fmt.Printf("%s: %v, median %.0f ms\n", window.Start.Format("15:04"), window.Value, window.Values[0])
	}
	// Output:
	// 30 views, median 110 ms
	// 12:00: 10, median 10 ms
	// 12:10: 10, median 110 ms
	// 12:20: 10, median 209 ms
}
