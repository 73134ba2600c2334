package promstats_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

var options = promstats.Options{MaxAge: 10 * time.Second, MaxStale: time.Minute, Timeout: 5 * time.Second}

// names of what most of these tests look at.
const names = "rule_runs wrstats_rates_missing_windows wrstats_rates_reads_total wrstats_rates_read_errors_total"

func own(reads, failed, partial int) []string {
	return []string{
		fmt.Sprintf(`wrstats_rates_reads_total %d`, reads),
		fmt.Sprintf(`wrstats_rates_read_errors_total{kind="failed"} %d`, failed),
		fmt.Sprintf(`wrstats_rates_read_errors_total{kind="partial"} %d`, partial),
	}
}

func TestScrapesWithinMaxAgeShareARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.add(t, "runs", 1, "rule", "1")
		c := newRates(t, f, options, runs("1"))
		requireShown(t, c, "rule_runs", `rule_runs{rule="1"} 1`)
		f.add(t, "runs", 1, "rule", "1")
		time.Sleep(10*time.Second - 1)
		requireShown(t, c, "rule_runs", `rule_runs{rule="1"} 1`)
		require.Equal(t, 1, f.store.read())
		time.Sleep(time.Nanosecond)
		requireShown(t, c, "rule_runs", `rule_runs{rule="1"} 2`)
		require.Equal(t, 2, f.store.read())
	})
}

func TestScrapesAtOnceShareARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.add(t, "runs", 1, "rule", "1")
		f.store.set(func(_ context.Context, values []wrstats.Value) ([]wrstats.Value, error) {
			time.Sleep(3 * time.Second)
			return values, nil
		})
		c := newRates(t, f, options, runs("1"))
		type answer struct {
			series []string
			err    error
			took   time.Duration
		}
		const scrapers = 50
		answers := make(chan answer, scrapers)
		for range scrapers {
			go func() {
				began := time.Now()
				series, err := tryScrape(c)
				answers <- answer{series["rule_runs"], err, time.Since(began)}
			}()
		}
		for range scrapers {
			require.Equal(t, answer{[]string{`rule_runs{rule="1"} 1`}, nil, 3 * time.Second}, <-answers)
		}
		require.Equal(t, 1, f.store.read())
	})
}

func TestValuesOutliveFailuresUntilMaxStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.add(t, "runs", 1, "rule", "1")
		c := newRates(t, f, options, runs("1"))
		const at = " wrstats_rates_last_read_timestamp_seconds"
		before := []string{`rule_runs{rule="1"} 1`, `wrstats_rates_missing_windows{gauge="rule_runs"} 5`}
		requireShown(t, c, names+at, append(append(before, own(1, 0, 0)...), `wrstats_rates_last_read_timestamp_seconds 9.466848e+08`)...)
		f.store.set(down)
		f.add(t, "runs", 1, "rule", "1")

		time.Sleep(10 * time.Second)
		requireShown(t, c, names+at, append(append(before, own(2, 1, 0)...), `wrstats_rates_last_read_timestamp_seconds 9.466848e+08`)...)
		time.Sleep(10*time.Second - 1)
		scrape(t, c)
		require.Equal(t, 2, f.store.read(), "a store that is down is asked no more often")
		time.Sleep(40*time.Second + 1)
		requireShown(t, c, names, append(before, own(3, 2, 0)...)...) // a minute old
		time.Sleep(time.Nanosecond)
		requireShown(t, c, names+at, append(own(3, 2, 0), `wrstats_rates_last_read_timestamp_seconds 9.466848e+08`)...)

		f.store.set(nil)
		time.Sleep(10 * time.Second)
		requireShown(t, c, names+at, append(append([]string{`rule_runs{rule="1"} 2`, before[1]}, own(4, 2, 0)...),
			`wrstats_rates_last_read_timestamp_seconds 9.4668487e+08`)...)
	})
}

func TestAStoreThatIsDownFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.store.set(down)
		requireShown(t, newRates(t, f, options, runs("1")), names+" wrstats_rates_last_read_timestamp_seconds",
			append(own(1, 1, 0), `wrstats_rates_last_read_timestamp_seconds 0`)...)
	})
}

// loseTheFirst is one of two servers that do not answer, which has the keys of the first half.
func loseTheFirst(_ context.Context, values []wrstats.Value) ([]wrstats.Value, error) {
	clear(values[:len(values)/2])
	return values, fmt.Errorf("%w: %w", wrstats.ErrPartial, errDown)
}

func TestAPartialReadShowsWhatWasFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var told []error
		opts := options
		opts.OnError = func(err error) { told = append(told, err) }
		for _, rule := range []string{"1", "2"} {
			f.add(t, "runs", 5, "rule", rule)
			f.add(t, "ms", 50, "rule", rule)
		}
		total, mean, missing := runs("1", "2"), runs("1", "2"), runs("1", "2")
		mean.Name, mean.Value = "mean", promstats.Mean("ms", "runs")
		missing.Name, missing.Value = "missing", promstats.Missing("runs")
		c := newRates(t, f, opts, total, mean, missing)
		const shown = "rule_runs mean missing"
		requireShown(t, c, shown, `rule_runs{rule="1"} 5`, `rule_runs{rule="2"} 5`,
			`mean{rule="1"} 10`, `mean{rule="2"} 10`, `missing{rule="1"} 5`, `missing{rule="2"} 5`)

		f.store.set(loseTheFirst)
		time.Sleep(10 * time.Second)
		requireShown(t, c, names, append([]string{
			`wrstats_rates_missing_windows{gauge="mean"} 22`,
			`wrstats_rates_missing_windows{gauge="missing"} 12`,
			`wrstats_rates_missing_windows{gauge="rule_runs"} 12`,
		}, own(2, 0, 1)...)...) // the totals were in the half that is lost: unknown, and not 0
		requireShown(t, c, shown, `missing{rule="1"} 6`, `missing{rule="2"} 6`)
		synctest.Wait()
		require.Len(t, told, 1)
		require.ErrorIs(t, told[0], errDown)

		f.store.set(func(_ context.Context, values []wrstats.Value) ([]wrstats.Value, error) {
			clear(values[6:]) // the windows of the second rule and all of the times
			return values, wrstats.ErrPartial
		})
		time.Sleep(10 * time.Second)
		requireShown(t, c, shown, `rule_runs{rule="1"} 5`, `missing{rule="1"} 5`, `missing{rule="2"} 6`)
	})
}

func TestAnAnswerThatIsNoAnswerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.store.set(func(context.Context, []wrstats.Value) ([]wrstats.Value, error) { return nil, wrstats.ErrPartial })
		requireShown(t, newRates(t, f, options, runs("1")), names, own(1, 1, 0)...)
	})
}

// scrapeTakes scrapes and requires that it takes exactly so long.
func scrapeTakes(t *testing.T, c *promstats.Rates, want time.Duration) {
	t.Helper()
	began := time.Now()
	scrape(t, c)
	require.Equal(t, want, time.Since(began))
}

func TestASlowStoreHoldsAScrapeForTheTimeoutAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.add(t, "runs", 1, "rule", "1")
		c := newRates(t, f, options, runs("1"))
		scrape(t, c)
		f.store.set(func(ctx context.Context, _ []wrstats.Value) ([]wrstats.Value, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		time.Sleep(10 * time.Second)
		scrapeTakes(t, c, 5*time.Second)
		synctest.Wait()
		requireShown(t, c, "rule_runs wrstats_rates_read_errors_total", `rule_runs{rule="1"} 1`,
			`wrstats_rates_read_errors_total{kind="failed"} 1`, `wrstats_rates_read_errors_total{kind="partial"} 0`)
		scrapeTakes(t, c, 0)
		require.Equal(t, 2, f.store.read())
	})
}

func TestAStoreThatHangsHasOneReadAndHoldsOneRoundOfScrapes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.add(t, "runs", 1, "rule", "1")
		c := newRates(t, f, options, runs("1"))
		scrape(t, c)
		hang := make(chan struct{})
		f.store.set(func(_ context.Context, values []wrstats.Value) ([]wrstats.Value, error) {
			<-hang // whatever the context says
			return values, nil
		})
		time.Sleep(10 * time.Second)
		scrapeTakes(t, c, 5*time.Second)
		for range 4 {
			time.Sleep(10 * time.Second)
			scrapeTakes(t, c, 0)
		}
		requireShown(t, c, "rule_runs", `rule_runs{rule="1"} 1`)
		require.Equal(t, 2, f.store.read())
		time.Sleep(10 * time.Second)
		requireShown(t, c, "rule_runs") // more than a minute old

		close(hang)
		synctest.Wait()
		f.store.set(nil)
		requireShown(t, c, "rule_runs", `rule_runs{rule="1"} 1`)
		require.Equal(t, 3, f.store.read())
	})
}

func TestWhoHearsOfErrorsHoldsNoScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.store.set(down)
		hear := make(chan struct{})
		opts := options
		opts.OnError = func(error) { <-hear }
		c := newRates(t, f, opts, runs("1"))
		for range 3 {
			scrapeTakes(t, c, 0)
			require.Equal(t, 1, f.store.read(), "there is no other read meanwhile")
			time.Sleep(10 * time.Second)
		}
		close(hear)
		synctest.Wait()
		scrapeTakes(t, c, 0)
		require.Equal(t, 2, f.store.read())
	})
}
