package timewindow_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/timewindow"
)

const tenMinutes = 10 * time.Minute

// unix returns the instant of a decimal number of seconds, as exact as its literal.
func unix(sec int64, nsec ...int64) time.Time {
	if len(nsec) == 0 {
		return time.Unix(sec, 0)
	}
	return time.Unix(sec, nsec[0])
}

func TestIndexRoundsDown(t *testing.T) {
	for _, c := range []struct {
		rule string
		t    time.Time
		step time.Duration
		want int64
	}{
		{"a second before the epoch is bucket -1", unix(-1), tenMinutes, -1},
		{"the epoch is bucket 0", unix(0), tenMinutes, 0},
		{"the start of bucket -1", unix(-600), tenMinutes, -1},
		{"a second before it", unix(-601), tenMinutes, -2},
		{"a nanosecond before it", unix(-600, -1), tenMinutes, -2},
		{"the last nanosecond of bucket 0", unix(599, 999_999_999), tenMinutes, 0},
		{"an edge belongs to the later bucket", unix(600), tenMinutes, 1},
		{"steps of a nanosecond", unix(1, 5), 1, 1_000_000_005},
		{"7 days count from 1970, a Thursday", time.Date(2022, 11, 3, 0, 0, 0, 0, time.UTC), 7 * 24 * time.Hour, 2757},
		{"7 days: the Monday after is the same week", time.Date(2022, 11, 7, 0, 0, 0, 0, time.UTC), 7 * 24 * time.Hour, 2757},
		{"7 minutes do not divide an hour", unix(3600), 7 * time.Minute, 8},
		{"year 1, beyond int64 nanoseconds", time.Time{}, time.Second, -62135596800},
		{"year 1, half a second later", time.Time{}.Add(time.Second / 2), time.Second, -62135596800},
		{"a nanosecond before year 1", time.Time{}.Add(-1), time.Second, -62135596801},
		{"year 9999", time.Date(9999, 12, 31, 23, 59, 59, 999, time.UTC), time.Hour, 70389527},
		{"too far for nanoseconds is the nearest int64", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 1, math.MaxInt64},
		{"likewise before", time.Time{}, 1, math.MinInt64},
		{"the longest step", unix(0, math.MaxInt64), math.MaxInt64, 1},
		{"the longest step before the epoch", unix(-1), math.MaxInt64, -1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			require.Equal(t, c.want, timewindow.Index(c.t, c.step))
		})
	}
}

func TestIndexIgnoresTheLocation(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	require.NoError(t, err)
	first := time.Date(2022, 11, 6, 1, 30, 0, 0, chicago) // this hour comes twice that night
	second := first.Add(time.Hour)
	require.Equal(t, first.Format("15:04"), second.Format("15:04"))
	require.EqualValues(t, 6, timewindow.Index(second, tenMinutes)-timewindow.Index(first, tenMinutes))
	require.Equal(t, timewindow.Index(first.UTC(), tenMinutes), timewindow.Index(first, tenMinutes))
}

func TestStartIsTheInverseOfIndex(t *testing.T) {
	require.Equal(t, time.Unix(600, 0).UTC(), timewindow.Start(1, tenMinutes))
	require.Equal(t, time.Unix(-600, 0).UTC(), timewindow.Start(-1, tenMinutes))
	require.Equal(t, time.UTC, timewindow.Start(1, tenMinutes).Location())
	require.True(t, time.Time{}.Equal(timewindow.Start(-62135596800, time.Second)))
	require.Equal(t, time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC), timewindow.Start(70389527, time.Hour))
}

func TestAStepThatIsNotPositivePanics(t *testing.T) {
	for _, step := range []time.Duration{0, -1, math.MinInt64} {
		require.Panics(t, func() { timewindow.Index(unix(0), step) })
		require.Panics(t, func() { timewindow.Start(0, step) })
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		rule       string
		start, end time.Time
		index      int64
		now        time.Time
		want       float64
	}{
		{"a bucket within the range", unix(0), unix(3600), 2, unix(4000), 1},
		{"half of the oldest", unix(300), unix(3900), 0, unix(3900), 0.5},
		{"the bucket in progress ends now", unix(300), unix(900), 1, unix(900), 1},
		{"a part of the bucket in progress", unix(600), unix(750), 1, unix(900), 0.5},
		{"a bucket before the range", unix(600), unix(1200), 0, unix(1200), 0},
		{"a bucket after the range", unix(0), unix(600), 1, unix(1200), 0},
		{"a bucket that starts after now", unix(0), unix(3600), 2, unix(1199, 999_999_999), 0},
		{"now is the bucket's start and the range's end", unix(0), unix(600), 1, unix(600), 1},
		{"now is the bucket's start, and the range goes on", unix(0), unix(3600), 1, unix(600), 1},
		{"now is the bucket's start, and the range begins there", unix(600), unix(1200), 1, unix(600), 0},
		{"now is the bucket's start, and the range ended before", unix(0), unix(599), 1, unix(600), 0},
		{"a range in the future", unix(6000), unix(7000), 1, unix(900), 0},
		{"an empty range", unix(700), unix(700), 1, unix(900), 0},
		{"a range that ends before it starts, at the bucket's start and now", unix(1200), unix(600), 1, unix(600), 0},
		{"a range that ends before it starts", unix(1200), unix(600), 1, unix(1500), 0},
		{"the clock was set back an hour", unix(3600), unix(7200), 6, unix(3600 - 1), 0},
		{"before the epoch", unix(-900), unix(-300), -2, unix(0), 0.5},
		{"a range of all time", time.Time{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 0, unix(100), 1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := timewindow.Range{Start: c.start, End: c.end}
			require.Equal(t, c.want, r.Share(c.index, tenMinutes, c.now))
		})
	}
}

func TestAnInstantOnASharedEdgeBelongsToOneRange(t *testing.T) {
	first := timewindow.Range{Start: unix(0), End: unix(600)}
	second := timewindow.Range{Start: unix(600), End: unix(1200)}
	// One event at 600, in bucket 1, read at that instant, and after.
	for _, now := range []time.Time{unix(600), unix(600, 1), unix(900), unix(1200), unix(5000)} {
		require.Equal(t, 1.0, first.Share(1, tenMinutes, now)+second.Share(1, tenMinutes, now), now)
	}
}

func TestBucketsIncludesBothEnds(t *testing.T) {
	first, last := timewindow.Range{Start: unix(0), End: unix(3600)}.Buckets(tenMinutes)
	require.EqualValues(t, 0, first)
	require.EqualValues(t, 6, last)
	require.Equal(t, time.Hour, timewindow.Range{Start: unix(0), End: unix(3600)}.Duration())
}

func TestSharesOfARangeAddUpToItsLength(t *testing.T) {
	for _, c := range []struct{ window, step time.Duration }{
		{time.Minute, 7 * time.Second},
		{time.Second, time.Second / 30}, // 33.33 ms, which does not divide it
		{time.Hour, tenMinutes},
	} {
		for at := time.Duration(0); at < 24*time.Hour; at += 17*time.Minute + 1234567 {
			end := unix(0).Add(at)
			r := timewindow.Range{Start: end.Add(-c.window), End: end}
			now := end.Add(2 * c.step) // the last bucket is over
			sum := 0.0
			first, last := r.Buckets(c.step)
			for i := first; i <= last; i++ {
				sum += r.Share(i, c.step, now)
			}
			require.InDelta(t, float64(c.window)/float64(c.step), sum, 1e-9, "%v of %v at %v", c.window, c.step, at)
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(int64(0), int64(0), int64(tenMinutes))
	f.Add(int64(-1), int64(999_999_999), int64(1))
	f.Add(int64(-62135596800), int64(1), int64(7))
	f.Add(int64(1<<40), int64(5), int64(math.MaxInt64))
	f.Add(int64(math.MinInt64/int64(time.Second)), int64(0), int64(time.Second))
	f.Fuzz(func(t *testing.T, sec, nsec, step int64) {
		sec %= 1 << 40 // some 30,000 years
		nsec %= 1_000_000_000
		if step <= 0 {
			return
		}
		instant := time.Unix(sec, nsec)
		index := timewindow.Index(instant, time.Duration(step))

		n := new(big.Int).Mul(big.NewInt(sec), big.NewInt(1_000_000_000))
		n.Add(n, big.NewInt(nsec))
		want := n.Div(n, big.NewInt(step)) // Euclidean, which rounds down here
		if !want.IsInt64() {
			require.Equal(t, want.Sign() > 0, index == math.MaxInt64)
			require.Equal(t, want.Sign() < 0, index == math.MinInt64)
			return
		}
		require.Equal(t, want.Int64(), index)
		require.False(t, timewindow.Start(index, time.Duration(step)).After(instant))
		require.Equal(t, index, timewindow.Index(timewindow.Start(index, time.Duration(step)), time.Duration(step)))
	})
}

func FuzzShare(f *testing.F) {
	f.Add(int64(0), int64(3600e9), int64(3), int64(600e9), int64(1900e9))
	f.Add(int64(-5), int64(-5), int64(-1), int64(1), int64(-5))
	f.Add(int64(math.MinInt64), int64(math.MaxInt64), int64(0), int64(math.MaxInt64), int64(1))
	f.Fuzz(func(t *testing.T, start, end, index, step, now int64) {
		if step <= 0 {
			return
		}
		r := timewindow.Range{Start: time.Unix(0, start), End: time.Unix(0, end)}
		share := r.Share(index, time.Duration(step), time.Unix(0, now))
		require.True(t, share >= 0 && share <= 1, share) // NaN is neither
		if timewindow.Start(index, time.Duration(step)).After(time.Unix(0, now)) {
			require.Zero(t, share)
		}
	})
}
