package page

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// spaced writes narrow spaces as plain ones.
func spaced(text string) string { return strings.ReplaceAll(text, thinSpace, " ") }

func TestDurationHasThreeDigitsAndAUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                        "0 s",
		1:                        "1 ns",
		999:                      "999 ns",
		time.Microsecond:         "1.00 µs",
		80 * time.Microsecond:    "80.0 µs",
		99949:                    "99.9 µs",
		99951:                    "100 µs",
		999499:                   "999 µs",
		999500:                   "1.00 ms",
		12345678:                 "12.3 ms",
		999999999:                "1.00 s",
		59 * time.Second:         "59.0 s",
		90 * time.Second:         "1.50 min",
		36 * time.Hour:           "1.50 d",
		1000 * 24 * time.Hour:    "1000 d",
		time.Hour - 1:            "1.00 h",
		2*time.Minute + 1234:     "2.00 min",
		100 * time.Millisecond:   "100 ms",
		9995 * time.Microsecond:  "10.0 ms",
		99950 * time.Microsecond: "100 ms",
	} {
		require.Equal(t, want, spaced(duration(int64(d))), "%d", d)
	}
	for ns, want := range map[float64]string{0: "0 s", 1500: "1.5 µs", 2e6: "2 ms", 250e3: "250 µs", 10e6: "10 ms"} {
		require.Equal(t, want, spaced(axis(ns)))
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "−1,234", 1234.56: "1,234.6", 0.25: "0.2",
		math.Inf(1): "–", 1 << 53: "9,007,199,254,740,992",
		1e20: "100,000,000,000,000,000,000", 1e21: "1e+21", -1.2345e300: "-1.23e+300",
	} {
		require.Equal(t, want, number(v))
	}
	require.Equal(t, "–", number(math.NaN()))
}

func TestAPercentageIsNeverNothingOrAllThatIsNot(t *testing.T) {
	for part, want := range map[float64]string{
		0: "0 %", 1: "100 %", 0.5: "50.0 %", 0.00001: "< 0.01 %", 0.0001: "0.01 %", 0.01234: "1.23 %", 0.99999: "> 99.9 %", 0.9951: "99.5 %", 2: "200 %",
	} {
		require.Equal(t, want, spaced(percent(part)))
	}
}

func TestSpanIsInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Hour: "1 hour", 10 * time.Minute: "10 minutes", 24 * time.Hour: "1 day", 90 * time.Minute: "90 minutes",
		time.Millisecond: "1 millisecond", 1500 * time.Millisecond: "1,500 milliseconds", 1500: "1.5µs", 26 * time.Hour: "26 hours",
	} {
		require.Equal(t, want, Span(d))
	}
	require.Equal(t, "hour", last(time.Hour))
	require.Equal(t, "1.5µs", last(1500))
}

func TestIDsAreInTheOrderOfNumbersThenWords(t *testing.T) {
	order := []string{"", "0", "1", "01", "9", "10", "18446744073709551617", "1a", "a", "a1", "\xff"}
	for i, a := range order[1:] {
		for j, b := range order[1:] {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			got := CompareIDs(a, b)
			if a == "01" && b == "1" || a == "1" && b == "01" {
				require.NotZero(t, got, "they are two")
				continue
			}
			require.Equal(t, want, got, "%q, %q", a, b)
		}
	}
}

func FuzzLabelShowsWhatItSays(f *testing.F) {
	for _, id := range []string{"", "42", "\xff\x00", "\u202ex", "правило", `\`, "a\u200bb", "\u2028", "😀", "\ufffd"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		label := Label(id)
		require.True(t, utf8.ValidString(label))
		for _, r := range label {
			require.True(t, r == ' ' || unicode.IsPrint(r), "%q", label)
		}
	})
}

func FuzzLabelsOfTwoIDsDiffer(f *testing.F) {
	f.Add("\xff", `\xff`)
	f.Add("\ufffd", "\xff")
	f.Add("\n", `\n`)
	f.Fuzz(func(t *testing.T, a, b string) {
		require.Equal(t, a == b, Label(a) == Label(b), "%q, %q", a, b)
	})
}
