// Command quickstart counts requests and reads them back over the last hour.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/wrstats"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	store, err := backends.Open(ctx, "memory:") // where the counters are kept
	if err != nil {
		return err
	}
	defer store.Close()
	stats, err := wrstats.New(store, wrstats.Config{
		Prefix:  "quickstart",
		Metrics: []wrstats.Metric{{Name: "requests"}, {Name: "ms", Resolution: 0.001}},
	})
	if err != nil {
		return err
	}
	writer := stats.NewWriter(wrstats.WriterOptions{}) // flushes every second
	defer writer.Close(ctx)

	home := wrstats.Local("route", "/home")
	requests, err := writer.Counter("requests", home) // a handle, for hot paths
	if err != nil {
		return err
	}
	for _, ms := range []float64{12.5, 7.25, 40.25} {
		requests.Inc()
		_ = writer.Add("ms", home, ms) // by name; the error is of an unknown metric or an invalid value
	}
	if err := writer.Sync(ctx); err != nil { // only to read at once what was counted just now
		return err
	}

	rates, err := stats.NewReader().Rates(ctx, []wrstats.Query{
		{Metric: "requests", Entity: home, Span: wrstats.Last(time.Hour)},
		{Metric: "ms", Entity: home, Span: wrstats.Last(time.Hour)},
	})
	if err != nil {
		return err
	}
	count, ms := rates[0], rates[1]
	mean, _ := ms.Per(count)
	_, err = fmt.Fprintf(out, "%v requests in the last hour, %v ms each; nothing in %d of its %d windows\n",
		count.Total, mean, count.Missing(), len(count.Windows))
	return err
}
