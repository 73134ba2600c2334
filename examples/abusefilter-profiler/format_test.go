package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestThousands(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", 0.4: "0", -1234: "-1,234", -0.4: "0", 1e15: "1,000,000,000,000,000"} {
		require.Equal(t, want, thousands(v))
	}
}

func TestMeasuredHasThreeDigitsAndAUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ns", 850: "850 ns", 999: "999 ns", 1000: "1.00 µs", 3214: "3.21 µs", 9995: "10.0 µs", 12400 * time.Nanosecond: "12.4 µs",
		99950: "100 µs", 999_400: "999 µs", 999_600: "1.00 ms", 999_999_999: "1.00 s", 90 * time.Second: "90.0 s", time.Hour: "3,600 s",
	} {
		require.Equal(t, want, measured(d), int64(d))
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Hour: "1 h", 10 * time.Minute: "10 min", 90 * time.Minute: "1 h 30 min", 24 * time.Hour: "24 h",
		time.Second: "1 s", 1500 * time.Millisecond: "1.5 s", 61 * time.Second: "1 min 1 s", 0: "0 s",
	} {
		require.Equal(t, want, span(d))
	}
}

func TestPercent(t *testing.T) {
	require.Equal(t, "1.2 %", percent(0.0123))
	require.Equal(t, "100.0 %", percent(1))
}

func TestLabelStaysInItsCell(t *testing.T) {
	require.Equal(t, "short", label("short", 5))
	require.Equal(t, "long…", label("longer", 5))
	require.Equal(t, "größ…", label("größer", 5))
	require.Equal(t, "a\ufffdb\ufffd[2J", label("a\nb\x1b[2J", 20))
}

func TestTableAlignsTextLeftAndNumbersRight(t *testing.T) {
	table := table{texts: 1}
	table.add("rule", "mean")
	table.add("é", "3.21 µs")
	table.add("longer", "1 s")
	var b strings.Builder
	table.write(&b)
	require.Equal(t, "rule       mean\né       3.21 µs\nlonger      1 s\n", b.String())
}

func TestProgress(t *testing.T) {
	var w strings.Builder
	start := time.Unix(1000, 0)
	p := startProgress(&w, start)
	in := &input{size: 200}
	in.read.Store(50)

	p.showAt(start.Add(999*time.Millisecond), in, &counts{Edits: 10})
	p.clear()
	require.Empty(t, w.String(), "nothing within a second")

	p.showAt(start.Add(2*time.Second), in, &counts{Edits: 3000})
	require.Equal(t, "\r\x1b[K25.0 %  3,000 edits  1,500 a second", w.String())

	p.showAt(start.Add(2100*time.Millisecond), in, &counts{Edits: 3001})
	require.NotContains(t, w.String(), "3,001", "not more often than it can be read")

	p.clear()
	p.clear()
	require.Equal(t, 2, strings.Count(w.String(), "\r\x1b[K"), "wiped once")

	require.Nil(t, newProgress(&w), "silent when it is no terminal")
}
