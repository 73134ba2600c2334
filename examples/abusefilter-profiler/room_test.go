package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/timewindow"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// manyRules are rules with names alone, by turns in groups.
func manyRules(rules, groups int) *ruleSet {
	set := &ruleSet{}
	for i := range rules {
		r := &rule{ruleSpec: ruleSpec{ID: fmt.Sprint(i)}}
		g := set.group(fmt.Sprint("group", i%groups))
		g.rules = append(g.rules, r)
		g.runs = append(g.runs, profile.Run{Rule: r.ID})
		set.rules = append(set.rules, r)
	}
	return set
}

// profilerThatOnlyTheReplayFlushes has the options of the program, but for how much it may hold.
func profilerThatOnlyTheReplayFlushes(t *testing.T, s *session, maxPending int) *profile.Profiler {
	opts := s.profileOptions()
	opts.Writer.FlushInterval = -1
	opts.Writer.MaxPending = maxPending
	opts.SlowRun = time.Hour
	p, err := profile.New(memory.New(memory.Options{}), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close(context.Background())) })
	return p
}

// testWriter fails the test at a write.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Error(string(p))
	return len(p), nil
}

func TestAReplayFindsRoomForWhateverBinsItsTimesHit(t *testing.T) {
	const window = 6 * time.Second
	tests := []struct {
		rule          string
		rules, groups int
		least         int // room
		edits         int
		apart         time.Duration
	}{
		{"many edits in each bucket", 40, 3, 1 << 13, 1000, 100 * time.Millisecond},
		{"an edit in each bucket", 40, 3, 1 << 13, 200, time.Second},
		{"all edits in one bucket", 40, 1, 1 << 11, 200, 0},
		{"more rules than there is room for", 1200, 2, 1 << 10, 20, time.Second},
		{"more rules than there is room for, in one bucket", 1200, 2, 1 << 10, 100, 0},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			set := manyRules(tt.rules, tt.groups)
			s := &session{opts: options{window: window}, rules: set, stderr: testWriter{t}}
			room := newRoom(set, tt.least)
			r := newReplay(set, profilerThatOnlyTheReplayFlushes(t, s, room.limit))
			r.opts, r.room = s.opts, room
			at := time.Unix(1_700_000_000, 0)
			for i := range tt.edits {
				now := at.Add(time.Duration(i) * tt.apart)
				r.makeRoom(t.Context(), now)
				for _, g := range set.groups {
					for j := range g.runs {
						g.runs[j].Duration = time.Duration(100 * math.Pow(1.23, float64((i+j)%77))) // each in a bin of its own
					}
					r.profiler.RecordAt(now, g.name, g.runs)
				}
			}
			require.NoError(t, r.profiler.Sync(t.Context()))
			stats := r.profiler.Stats()
			require.Zero(t, stats.Rejected)
			require.Zero(t, stats.Dropped)
		})
	}
}

func TestRoomIsNeverLessThanWhatIsTouched(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	type pair struct {
		bucket       int64
		counter, bin int
	}
	for range 50 {
		set := manyRules(1+random.IntN(3000), 1)
		r := newRoom(set, random.IntN(1<<16))
		touched := make(map[pair]bool) // of one rule; all have as many
		buckets, bins := 1+random.Int64N(5), 1+random.IntN(r.bins)
		for range 1000 {
			bucket := random.Int64N(buckets)
			if r.take(bucket) {
				clear(touched)
			}
			for c := range countersOfRule {
				touched[pair{bucket, c, 0}] = true
			}
			touched[pair{bucket, countersOfRule, random.IntN(bins)}] = true
			require.LessOrEqual(t, len(touched)*len(set.rules), r.touched)
			require.LessOrEqual(t, r.touched, r.share)
		}
		require.GreaterOrEqual(t, r.limit, 2*r.share)
	}
}

func TestTheProgramHasRoomForWhatItsReplayTakes(t *testing.T) {
	for _, rules := range []int{1, 1000, 100_000} {
		s := &session{rules: manyRules(rules, 2), stderr: testWriter{t}}
		s.opts.window = defaultWindow
		room := newReplay(s.rules, nil).room
		require.Equal(t, room.limit, s.profileOptions().Writer.MaxPending)
		require.GreaterOrEqual(t, room.limit, wrstats.DefaultMaxPending)
		require.GreaterOrEqual(t, room.share, 5*rules)
	}
}

func TestTheEmbeddedStreamNeedsNoRoomMade(t *testing.T) {
	set, err := loadRules("")
	require.NoError(t, err)
	r := newReplay(set, nil).room
	require.Equal(t, wrstats.DefaultMaxPending, r.limit)
	for _, e := range embeddedEdits(t) {
		require.False(t, r.take(timewindow.Index(e.at, defaultWindow/windowSteps)))
	}
}

func TestMostBinsIsNotFewerThanThereAre(t *testing.T) {
	for _, o := range []profile.QuantileOptions{quantiles, {Min: 1, Max: 2}, {Min: 999, Max: 1001}, {Min: time.Microsecond, Max: time.Hour}} {
		store := &keyCounter{Store: memory.New(memory.Options{})}
		p, err := profile.New(store, profile.Options{Quantiles: o})
		require.NoError(t, err)
		_, err = p.Rules(t.Context(), []string{"1"})
		require.NoError(t, err)
		require.NoError(t, p.Close(t.Context()))
		bins := store.keys/7 - countersOfRule - 1 // a key for each of 7 windows, of all counters, the bins and their count
		require.GreaterOrEqual(t, mostBins(o), bins, "%v to %v", o.Min, o.Max)
		require.LessOrEqual(t, mostBins(o), bins+2)
	}
}

// keyCounter counts the keys that are asked for.
type keyCounter struct {
	wrstats.Store
	keys int
}

func (s *keyCounter) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	s.keys += len(keys)
	return s.Store.Get(ctx, keys)
}
