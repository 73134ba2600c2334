package promstats

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A plan is what a read asks for.
type plan struct {
	request wrstats.Request
	rows    []row
	skipped map[string]int // entities, by the names of gauges
}

// A row is an entity of a gauge. It has the first of its queries.
type row struct {
	gauge           *shown
	labels          []string
	rates, quantile int
}

func (c *Rates) plan() plan {
	p := plan{skipped: make(map[string]int)}
	for i := range c.gauges {
		p.add(&c.gauges[i])
	}
	slices.Sort(p.request.Ps)
	p.request.Ps = slices.Compact(p.request.Ps)
	return p
}

func (p *plan) add(g *shown) {
	p.request.Ps = append(p.request.Ps, g.Value.ps...)
	seen := make(map[string]bool)
	for _, e := range g.Entities() {
		labels, ok := g.labelValues(e)
		key := strings.Join(labels, "\xff") // which is in no label
		if !ok || seen[key] {
			p.skipped[g.Name]++
			continue
		}
		seen[key] = true
		p.rows = append(p.rows, row{g, labels, len(p.request.Rates), len(p.request.Quantiles)})
		g.ask(&p.request, e)
	}
}

// answer is what a read came to for a row.
func (p *plan) answer(row *row, all *wrstats.Answer, whole bool) answer {
	v := &row.gauge.Value
	a := answer{rates: all.Rates[row.rates : row.rates+len(v.rates)], whole: whole}
	if v.distribution == "" {
		return a
	}
	a.quantiles = all.Quantiles[row.quantile]
	values := make([]float64, len(v.ps))
	for i, x := range v.ps {
		at, _ := slices.BinarySearch(p.request.Ps, x)
		values[i] = a.quantiles.Values[at]
	}
	a.quantiles.Values = values
	return a
}

// completeness returns how many windows were asked for, and how many of them had no key.
func (a *answer) completeness() (windows, missing int) {
	for _, r := range a.rates {
		windows += asked(r)
		missing += r.Missing()
	}
	for _, w := range a.quantiles.Windows {
		if w.Share > 0 {
			windows++
		}
	}
	return windows, missing + a.quantiles.Missing
}

// A snapshot is what one read of the store came to.
type snapshot struct {
	at      time.Time
	metrics []prometheus.Metric
}

// take reads all gauges as of now. Without a snapshot there is an error; with one, there is when it is
// partial.
func (c *Rates) take(ctx context.Context, now time.Time) (*snapshot, error) {
	p := c.plan()
	all, err := c.reader.ReadAt(ctx, now, p.request)
	if err != nil && len(all.Rates)+len(all.Quantiles) == 0 {
		return nil, err
	}
	s := &snapshot{at: now}
	windows, missing := make(map[string]int), make(map[string]int)
	for i := range p.rows {
		row := &p.rows[i]
		a := p.answer(row, &all, err == nil)
		asked, without := a.completeness()
		windows[row.gauge.Name] += asked
		missing[row.gauge.Name] += without
		s.show(row, &a)
	}
	for name := range c.names() {
		s.add(c.descs.windows, float64(windows[name]), name)
		s.add(c.descs.missing, float64(missing[name]), name)
		s.add(c.descs.skipped, float64(p.skipped[name]), name)
	}
	return s, err
}

func (s *snapshot) show(row *row, a *answer) {
	g := row.gauge
	for i, v := range g.Value.show(a) {
		labels := row.labels
		if len(g.Value.ps) > 0 {
			p := strconv.FormatFloat(g.Value.ps[i], 'g', -1, 64)
			labels = append(slices.Clip(labels), p)
		}
		s.add(g.desc, v*g.Scale, labels...)
	}
}

func (s *snapshot) add(desc *prometheus.Desc, v float64, labels ...string) {
	s.metrics = append(s.metrics, constMetric(desc, prometheus.GaugeValue, v, labels...))
}

// names are those of the gauges, each once.
func (c *Rates) names() map[string]bool {
	names := make(map[string]bool)
	for i := range c.gauges {
		names[c.gauges[i].Name] = true
	}
	return names
}
