package profile_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// twoRuns is an action in which rule 42 runs twice.
var twoRuns = []profile.Run{
	{Rule: "42", Duration: 12345 * time.Microsecond, Conditions: 7},
	{Rule: "42", Duration: 655 * time.Microsecond, Conditions: 5, Matched: true},
}

func TestStoredAsAbuseFilterStoresIt(t *testing.T) {
	for _, c := range []struct {
		rule  string
		opts  profile.Options
		scope string // and prefix
		index string // of the bucket
		ttl   time.Duration
	}{
		{"by default", profile.Options{}, "local:abusefilter-profile", "2941000", 70 * time.Minute},
		{"with a wiki's keys, keyspace, step and retention", profile.Options{
			Keys: wrstats.MediaWikiKeys, Keyspace: "enwiki", Step: 2 * time.Hour, Retention: 24 * time.Hour,
		}, "enwiki:abusefilter-profile", "245083", 26 * time.Hour},
		{"without quantiles", profile.Options{Quantiles: profile.QuantileOptions{Off: true}}, "local:abusefilter-profile", "2941000", 70 * time.Minute},
		{"under a prefix of one's own", profile.Options{Prefix: "rules"}, "local:rules", "2941000", 70 * time.Minute},
	} {
		t.Run(c.rule, func(t *testing.T) {
			store := newTap()
			p := openOn(t, store, c.opts)
			p.RecordAt(start.Add(599*time.Second), "default", twoRuns)
			require.NoError(t, p.Sync(t.Context()))
			want := map[string]int64{
				"count::" + c.index + ":filter:42":          2,
				"matches::" + c.index + ":filter:42":        1,
				"total-time::" + c.index + ":filter:42":     13000,
				"total-cond::" + c.index + ":filter:42":     12,
				"total::" + c.index + ":group:default":      1,
				"overflow::" + c.index + ":group:default":   0,
				"matches::" + c.index + ":group:default":    1,
				"total-time::" + c.index + ":group:default": 13000,
				"total-cond::" + c.index + ":group:default": 12,
			}
			if !c.opts.Quantiles.Off {
				want["time::"+c.index+":filter:42"] = 2
				want["time/0.1/13::"+c.index+":filter:42"] = 1 // 11.1 to 13.6 ms
				want["time/0.1/-2::"+c.index+":filter:42"] = 1 // 0.55 to 0.67 ms
			}
			require.Len(t, store.ttls, len(want), "there are no other keys")
			for key, n := range want {
				key = c.scope + ":" + key
				require.Equal(t, []wrstats.Value{{N: n, Found: true}}, get(t, store, key), key)
				require.Equal(t, c.ttl, store.ttls[key], key)
			}
		})
	}
}

func get(t testing.TB, store wrstats.Store, keys ...string) []wrstats.Value {
	t.Helper()
	values, err := store.Get(context.Background(), keys)
	require.NoError(t, err)
	return values
}

func TestARunThatDoesNotMatchTouchesMatches(t *testing.T) {
	for _, r := range recorders {
		synctest.Test(t, func(t *testing.T) {
			p, store := open(t, profile.Options{})
			r.record(p, "default", []profile.Run{{Rule: "42"}})
			require.NoError(t, p.Sync(t.Context()))
			bucket := strconv.FormatInt(time.Now().Unix()/600, 10)
			for _, metric := range []string{"matches", "total-time", "total-cond"} {
				key := "local:abusefilter-profile:" + metric + "::" + bucket + ":filter:42"
				require.Equal(t, []wrstats.Value{{N: 0, Found: true}}, get(t, store, key), key)
			}
		})
	}
}

func TestFractionsOfAMicrosecondAreCarried(t *testing.T) {
	for _, r := range recorders {
		for _, syncEach := range []int{1, 7, 1000} {
			t.Run(r.name+"/sync each="+strconv.Itoa(syncEach), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, _ := open(t, profile.Options{})
					for i := range 1000 {
						r.record(p, "default", []profile.Run{{Rule: "42", Duration: 400}, {Rule: "43", Duration: 1}})
						if i%syncEach == 0 {
							require.NoError(t, p.Sync(t.Context()))
						}
					}
					rules := rulesAt(t, p, time.Now(), "42", "43")
					require.Equal(t, 400*time.Microsecond, rules[0].Time)
					require.Equal(t, 400*time.Nanosecond, rules[0].MeanTime)
					require.Equal(t, time.Microsecond, rules[1].Time)
					require.Equal(t, 401*time.Microsecond, groupAt(t, p, time.Now(), "default").Time)
				})
			})
		}
	}
}

func TestRecordAtFilesIntoTheWindowsOfItsOwnTime(t *testing.T) {
	p, store := open(t, profile.Options{})
	for _, seconds := range []float64{600, 599.9, 0, 1200, -0.001, 599.999999999, 1} { // in no order
		p.RecordAt(start.Add(time.Duration(seconds*1e9)), "default", []profile.Run{{Rule: "42"}})
	}
	require.NoError(t, p.Sync(t.Context()))
	var counts, totals []int64
	for _, bucket := range []string{"2940999", "2941000", "2941001", "2941002", "2941003"} {
		counts = append(counts, get(t, store, "local:abusefilter-profile:count::"+bucket+":filter:42")[0].N)
		totals = append(totals, get(t, store, "local:abusefilter-profile:total::"+bucket+":group:default")[0].N)
	}
	require.Equal(t, []int64{1, 4, 1, 1, 0}, counts)
	require.Equal(t, counts, totals)
}

func TestAnActionOverTheConditionLimitIsAnOverflow(t *testing.T) {
	for _, c := range []struct {
		rule       string
		limit      int
		conditions []int // of the action's runs
		want       float64
	}{
		{"exactly at the limit is not over it", 10, []int{4, 6}, 0},
		{"one over it is", 10, []int{4, 7}, 1},
		{"each run may be within it", 10, []int{9, 9, 9}, 1},
		{"the default is 1000", 0, []int{1000}, 0},
		{"and 1001 is over the default", 0, []int{1001}, 1},
		{"no runs are no overflow", 1, nil, 0},
	} {
		for _, r := range recorders {
			t.Run(c.rule+"/"+r.name, func(t *testing.T) {
				p, _ := open(t, profile.Options{ConditionLimit: c.limit})
				var runs []profile.Run
				for i, n := range c.conditions {
					runs = append(runs, profile.Run{Rule: strconv.Itoa(i), Conditions: n})
				}
				r.record(p, "default", runs)
				g := groupAt(t, p, time.Now(), "default")
				require.EqualValues(t, 1, g.Actions)
				require.Equal(t, c.want, g.Overflows)
			})
		}
	}
}

func TestARunOverSlowRunIsLogged(t *testing.T) {
	for _, c := range []struct {
		rule string
		slow time.Duration // the option
		runs []profile.Run
		want []map[string]any
	}{
		{"exactly at it is not", time.Millisecond, []profile.Run{{Rule: "1", Duration: time.Millisecond}}, nil},
		{"the default is 500 ms", 0, []profile.Run{{Rule: "1", Duration: 500 * time.Millisecond}}, nil},
		{"only the slow ones are, each for itself", time.Millisecond, []profile.Run{
			{Rule: "1", Duration: time.Millisecond + 1, Conditions: 3, Matched: true},
			{Rule: "2"},
			{Rule: "3", Duration: time.Second},
		}, []map[string]any{
			{"level": "WARN", "msg": "profile: slow run", "group": "default", "rule": "1", "duration": 1e6 + 1.0, "conditions": 3.0, "matched": true},
			{"level": "WARN", "msg": "profile: slow run", "group": "default", "rule": "3", "duration": 1e9, "conditions": 0.0, "matched": false},
		}},
		{"over the default", 0, []profile.Run{{Rule: "1", Duration: 500*time.Millisecond + 1}}, []map[string]any{
			{"level": "WARN", "msg": "profile: slow run", "group": "default", "rule": "1", "duration": 5e8 + 1.0, "conditions": 0.0, "matched": false},
		}},
	} {
		for _, r := range recorders {
			t.Run(c.rule+"/"+r.name, func(t *testing.T) {
				logger, log := newLog()
				p, _ := open(t, profile.Options{SlowRun: c.slow, Logger: logger})
				r.record(p, "default", c.runs)
				require.Equal(t, c.want, log())
				require.EqualValues(t, 1, rulesAt(t, p, time.Now(), "1")[0].Runs, "it counts all the same")
			})
		}
	}
}

func TestRecordKeepsNothingOfRuns(t *testing.T) {
	for _, r := range recorders {
		t.Run(r.name, func(t *testing.T) {
			p, _ := open(t, profile.Options{})
			runs := []profile.Run{{Rule: "1", Conditions: 1, Matched: true}, {Rule: "2", Conditions: 2}}
			for range 3 {
				r.record(p, "default", runs)
				runs[0], runs[1] = runs[1], runs[0]
			}
			clear(runs)
			rules := rulesAt(t, p, time.Now(), "1", "2")
			require.EqualValues(t, []float64{3, 3, 3}, []float64{rules[0].Runs, rules[0].Conditions, rules[0].Matches})
			require.EqualValues(t, []float64{3, 6, 0}, []float64{rules[1].Runs, rules[1].Conditions, rules[1].Matches})
		})
	}
}

func TestManyRecordWhileOneReads(t *testing.T) {
	const goroutines, actions = 8, 500
	p, _ := open(t, profile.Options{Step: time.Second})
	var recording, reading sync.WaitGroup
	for g := range goroutines {
		recording.Go(func() {
			for i := range actions {
				recorders[i%2].record(p, "default", []profile.Run{
					{Rule: "shared", Duration: 2 * time.Microsecond, Conditions: 1, Matched: i%4 == 0},
					{Rule: strconv.Itoa(g), Duration: time.Microsecond, Conditions: 2},
					{Rule: strconv.Itoa(i % 100), Conditions: 3}, // some are new at the same time
				})
			}
		})
	}
	stop, readErr := make(chan struct{}), error(nil)
	reading.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, err := p.Rules(context.Background(), []string{"shared", "0", "99"})
				readErr = errors.Join(readErr, err, p.Sync(context.Background()))
			}
		}
	})
	recording.Wait()
	close(stop)
	reading.Wait()
	require.NoError(t, readErr)

	const all = goroutines * actions
	rule := rulesAt(t, p, time.Now(), "shared")[0]
	require.Equal(t, []float64{all, all / 4, all}, []float64{rule.Runs, rule.Matches, rule.Conditions})
	require.Equal(t, all*2*time.Microsecond, rule.Time)
	g := groupAt(t, p, time.Now(), "default")
	require.Equal(t, []float64{all, all / 4, 6 * all}, []float64{g.Actions, g.Matches, g.Conditions})
	require.Equal(t, all*3*time.Microsecond, g.Time)
	stats := p.Stats()
	require.Equal(t, stats.Added, stats.Flushed)
	require.Zero(t, stats.Rejected)
}

// A stalledLog blocks until it is closed.
type stalledLog chan struct{}

func (l stalledLog) Write(p []byte) (int, error) {
	<-l
	return len(p), nil
}

func TestALogThatStallsHoldsUpNobodyElse(t *testing.T) {
	for _, r := range recorders {
		synctest.Test(t, func(t *testing.T) {
			log := make(stalledLog)
			p, _ := open(t, profile.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
			go r.record(p, "default", []profile.Run{{Rule: "slow", Duration: time.Second}, {Rule: ""}})
			synctest.Wait()
			r.record(p, "new", []profile.Run{{Rule: "new"}}) // else a deadlock, which fails the test
			r.record(p, "new", []profile.Run{{Rule: "new"}})
			require.EqualValues(t, 2, rulesAt(t, p, time.Now(), "new")[0].Runs)
			close(log)
			synctest.Wait()
			require.EqualValues(t, 1, rulesAt(t, p, time.Now(), "slow")[0].Runs)
		})
	}
}

func TestWhatIsNegativeCountsAsZero(t *testing.T) {
	for _, r := range recorders {
		t.Run(r.name, func(t *testing.T) {
			p, _ := open(t, profile.Options{})
			r.record(p, "default", []profile.Run{
				{Rule: "1", Duration: -time.Hour, Conditions: -5},
				{Rule: "1", Duration: time.Millisecond, Conditions: 2},
			})
			rule := rulesAt(t, p, time.Now(), "1")[0]
			require.Equal(t, 2.0, rule.Runs)
			require.Equal(t, time.Millisecond, rule.Time)
			require.Equal(t, 2.0, rule.Conditions)
			group := groupAt(t, p, time.Now(), "default")
			require.Equal(t, time.Millisecond, group.Time)
			require.Equal(t, 2.0, group.Conditions)
			require.Zero(t, p.Stats().Rejected)
		})
	}
}

func TestWhatIsTooMuchCountsAsTheMost(t *testing.T) {
	const (
		mostConditions = 1 << 53
		mostTime       = time.Duration(1<<62 - 1)
		most           = time.Duration(math.MaxInt64)
	)
	for _, c := range []struct {
		rule                        string
		runs                        []profile.Run
		conditions, groupConditions float64
		time, groupTime             time.Duration
		overflows                   float64
	}{
		{"one run of the most that there is", []profile.Run{{Duration: math.MaxInt64, Conditions: math.MaxInt}},
			min(math.MaxInt, mostConditions), min(math.MaxInt, mostConditions), mostTime, mostTime, 1},
		{"sums that would be 0", []profile.Run{{Duration: 1 << 62, Conditions: math.MaxInt - 1}, {Duration: 1 << 62, Conditions: math.MaxInt - 1}, {Duration: 1 << 62, Conditions: 4}},
			2*min(math.MaxInt-1, mostConditions) + 4, min(2*(math.MaxInt-1)+4, mostConditions), most, mostTime, 1},
		{"with what is negative", []profile.Run{{Duration: math.MaxInt64, Conditions: 2000}, {Duration: math.MinInt64, Conditions: math.MinInt}},
			2000, 2000, mostTime, mostTime, 1},
	} {
		for _, r := range recorders {
			t.Run(c.rule+"/"+r.name, func(t *testing.T) {
				p, _ := open(t, profile.Options{})
				for i := range c.runs {
					c.runs[i].Rule = "1"
				}
				r.record(p, "default", c.runs)
				rule := rulesAt(t, p, time.Now(), "1")[0]
				require.Equal(t, float64(len(c.runs)), rule.Runs)
				require.Equal(t, c.conditions, rule.Conditions)
				require.InEpsilon(t, c.time, rule.Time, 1e-9)
				require.Zero(t, rule.Missing)
				group := groupAt(t, p, time.Now(), "default")
				require.Equal(t, c.overflows, group.Overflows)
				require.Equal(t, c.groupConditions, group.Conditions)
				require.InEpsilon(t, c.groupTime, group.Time, 1e-9)
				require.Zero(t, p.Stats().Rejected)
			})
		}
	}
}
