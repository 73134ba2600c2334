package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// thousands writes a number without decimals, its digits in groups of three: 1,234,567.
func thousands(v float64) string {
	digits := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	var b strings.Builder
	if v < 0 && digits != "0" {
		b.WriteByte('-')
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// percent writes a share with one decimal: 0.0123 is "1.2 %".
func percent(share float64) string {
	return strconv.FormatFloat(share*100, 'f', 1, 64) + " %"
}

// measured writes a time in three digits and the unit that fits: "850 ns", "3.21 µs", "12.4 ms", "1.50 s".
func measured(d time.Duration) string {
	v, unit := float64(d.Nanoseconds()), "ns"
	for _, larger := range []string{"µs", "ms", "s"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, larger
	}
	switch {
	case unit == "ns" || v >= 99.95:
		return thousands(v) + " " + unit
	case v >= 9.995:
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.2f %s", v, unit)
}

// span writes a length of time as one sets it: "1 h", "10 min", "1 h 30 min".
func span(d time.Duration) string {
	parts := []string{}
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"h", time.Hour}, {"min", time.Minute}} {
		if n := d / unit.size; n > 0 {
			parts = append(parts, thousands(float64(n))+" "+unit.name)
			d %= unit.size
		}
	}
	if d > 0 || len(parts) == 0 {
		parts = append(parts, strconv.FormatFloat(d.Seconds(), 'f', -1, 64)+" s")
	}
	return strings.Join(parts, " ")
}

// label writes a name that may hold anything so that it stays in its cell.
func label(s string, width int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}
