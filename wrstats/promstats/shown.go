package promstats

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A shown is a gauge that can be shown.
type shown struct {
	Gauge
	desc *prometheus.Desc
}

func newShown(r *wrstats.Reader, gauge *Gauge, labels prometheus.Labels) (shown, error) {
	if err := gauge.check(); err != nil {
		return shown{}, err
	}
	g := shown{Gauge: gauge.withDefaults()}
	all := make(prometheus.Labels, len(labels)+len(g.ConstLabels))
	for _, some := range []prometheus.Labels{labels, g.ConstLabels} {
		for name, value := range some {
			if _, twice := all[name]; twice {
				return shown{}, fmt.Errorf("in ConstLabels, %q is in the Options, too", name)
			}
			all[name] = value
		}
	}
	g.desc = prometheus.NewDesc(g.Name, g.Help, g.labelNames(), all)
	return g, g.readable(r)
}

// readable returns why the gauge can't be read, whatever state the store is in.
func (g *shown) readable(r *wrstats.Reader) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // so nothing is asked
	req := wrstats.Request{Ps: g.Value.ps}
	g.ask(&req, wrstats.Local())
	_, err := r.Read(ctx, req)
	if errors.Is(err, context.Canceled) || errors.Is(err, wrstats.ErrClosed) {
		return nil
	}
	return err
}

// checkTwins finds gauges whose series no label would tell apart.
func checkTwins(gauges []Gauge) error {
	seen := make(map[string]bool)
	for i, g := range gauges {
		key := fmt.Sprintf("%s %q", g.Name, g.ConstLabels) // in the order of names
		if seen[key] {
			return fmt.Errorf("promstats: gauge %d: Name and ConstLabels are another's", i)
		}
		seen[key] = true
	}
	return nil
}

// ask appends the queries of an entity.
func (g *shown) ask(req *wrstats.Request, e wrstats.Entity) {
	for _, metric := range g.Value.rates {
		req.Rates = append(req.Rates, wrstats.Query{Metric: metric, Entity: e, Span: g.Span})
	}
	if metric := g.Value.distribution; metric != "" {
		req.Quantiles = append(req.Quantiles, wrstats.Query{Metric: metric, Entity: e, Span: g.Span})
	}
}
