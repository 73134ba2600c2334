// Package promstats shows counters of package wrstats to Prometheus.
//
// [NewWriter] and [NewStore] make collectors of what a Writer and a Store count about themselves: what was
// added, stored and lost, what each server was sent and answered. [NewRates] makes a collector of what is
// counted: rolling totals, rates, means and quantiles of chosen entities, as gauges with a label for each
// component. It reads all of them with one multi-get, which scrapes share, and shows none that is older than
// it may be.
//
// A rolling total goes up and down, so it is a gauge, and rate() and increase() are not for it: it is what
// they would have come to. All processes that share the counters see the same, so it is enough to scrape
// rates from one of them; each has a Writer of its own.
//
// The collectors may be scraped by many at once. Labels tell several of a kind in one registry apart.
package promstats
