package wrstats

import (
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestACounterThatIsBeingAddedToDoesNotGoToSleep(t *testing.T) {
	b := &buffer{limit: 10}
	f := newFamily(b, &Metric{Name: "count", Resolution: 1, Sequences: []Sequence{{Step: time.Minute, Retention: time.Hour}}}, time.Now())
	c := f.counter(Local("x"))
	require.NoError(t, c.add(1)) // between a flush that found it untouched and its going to sleep
	b.sleep(c)
	require.True(t, c.awake)
	require.EqualValues(t, nano, c.live.Load())

	b.fold(c)
	b.drain(c, nil)
	b.sleep(c)
	require.False(t, c.awake)
	require.NoError(t, c.add(2)) // wakes it
	require.EqualValues(t, 2*nano, c.live.Load())
	require.Same(t, c, f.known(Local("x")))
}

// By name an Observer can be found just before it leaves the buffer, and be used when another has its place.
func TestAnObserverThatWasReplacedObservesInItsPlace(t *testing.T) {
	b := &buffer{limit: 100}
	d := Distribution{Min: 1, Max: 100, RelativeError: 0.5}
	m := &Metric{Name: "time", Resolution: 1, Sequences: []Sequence{{Step: time.Minute, Retention: time.Hour}}, Distribution: &d, bins: newBins(d, "time")}
	f := newFamily(b, m, time.Now())
	old := f.counter(Local("x")).observer
	old.Observe(5)
	c, err := old.bin(5)
	require.NoError(t, err)
	b.fold(c)
	b.drain(c, nil)
	b.sleep(c)
	require.False(t, c.awake)
	b.take(nil)
	require.Empty(t, b.awake)
	require.Empty(t, f.byEntity)
	require.Zero(t, b.held+b.idle)

	other := f.counter(Local("x")).observer
	require.NotSame(t, old, other)
	other.Observe(50)
	old.Observe(5)
	old.ObserveAt(time.Now(), 5)
	old.Observe(7) // of a bin that neither has
	require.Len(t, f.byEntity, 1)
	require.Same(t, other.count, f.byEntity[Local("x")])
	var n int64
	for _, c := range b.awake {
		require.Same(t, other, c.observer)
		b.fold(c)
		n += c.cells[0].normal().units
	}
	require.EqualValues(t, 4, n)
}

func TestACounterIsWholeCacheLines(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("the layout is for 64 bits")
	}
	require.Zero(t, unsafe.Sizeof(Counter{})%64)
	require.LessOrEqual(t, unsafe.Offsetof(Counter{}.entity), uintptr(64))
	require.GreaterOrEqual(t, unsafe.Offsetof(Counter{}.live), uintptr(64))
}

// The clock is set back and forward under a counter that is being added to.
func TestWhatIsLiveIsCountedByTheClockAsItWas(t *testing.T) {
	const step = 10 * time.Minute
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		rule  string
		clock []time.Duration // since noon, of each addition: 1, 2, 4, and so on
		want  map[time.Duration]int64
	}{
		{"an hour back", []time.Duration{0, -time.Hour}, map[time.Duration]int64{0: 1, -time.Hour: 2}},
		{"an hour forward", []time.Duration{0, time.Hour}, map[time.Duration]int64{0: 1, time.Hour: 2}},
		{"back and forward again", []time.Duration{0, -time.Hour, 0, time.Hour, 0}, map[time.Duration]int64{0: 1 + 4 + 16, -time.Hour: 2, time.Hour: 8}},
		{"within a bucket", []time.Duration{step / 2, 0, step - 1}, map[time.Duration]int64{0: 7}},
		{"over an edge", []time.Duration{0, -1, 0}, map[time.Duration]int64{0: 5, -step: 2}},
		{"out of all time", []time.Duration{0, -1 << 63, time.Minute}, map[time.Duration]int64{0: 7}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			b := &buffer{limit: 100}
			f := newFamily(b, &Metric{Name: "count", Resolution: 1, Sequences: []Sequence{{Step: step, Retention: time.Hour}}}, noon)
			b.families = []*family{f}
			counter := f.counter(Local("x"))
			for i, since := range c.clock {
				now := noon.Add(since)
				if since == -1<<63 {
					now = time.Time{} // a clock that was never set
				}
				b.moveTo(now)
				require.NoError(t, counter.add(float64(int(1)<<i)))
			}
			b.fold(counter)
			got := make(map[time.Duration]int64)
			for _, s := range b.drain(counter, nil) {
				got[time.Unix(0, s.start).Sub(noon)] += s.units
			}
			require.Equal(t, c.want, got)
			require.Zero(t, b.account.dropped)
		})
	}
}
