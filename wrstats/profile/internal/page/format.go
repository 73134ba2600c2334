package page

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	thinSpace = "\u202f" // narrow, and no line breaks at it
	none      = "–"      // where there is nothing to say
)

// Label makes an id fit to be shown: what is no UTF-8, or would not show or would change what is beside it, becomes
// an escape.
func Label(id string) string {
	var b strings.Builder
	for len(id) > 0 {
		r, size := utf8.DecodeRuneInString(id)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + hex(id[0]))
		case r == ' ' || r != '\\' && unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		id = id[size:]
	}
	return b.String()
}

func hex(b byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[b>>4], digits[b&15]})
}

// number groups the digits of a count by thousands. What is no integer has a decimal, and what is too large to be a
// count has an exponent.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	if math.Abs(v) >= 1e21 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	decimals := 1
	if v == math.Trunc(v) {
		decimals = 0
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', decimals, 64), ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "−", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// percent shows a part with three digits, and never as 0 % or 100 % what is not.
func percent(part float64) string {
	p := 100 * part
	switch {
	case p == 0:
		return "0" + thinSpace + "%"
	case p < 0.01:
		return "<" + thinSpace + "0.01" + thinSpace + "%"
	case p > 99.9 && p < 100:
		return ">" + thinSpace + "99.9" + thinSpace + "%"
	}
	return digits(p) + thinSpace + "%"
}

// digits shows a number of less than a thousand with three digits.
func digits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

var units = []struct {
	name string
	ns   float64
}{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}}

// duration shows a time with three digits and its unit.
func duration(ns int64) string { return nanoseconds(float64(ns)) }

// nanoseconds is duration for what an int64 may not hold.
func nanoseconds(v float64) string {
	if v == 0 {
		return "0" + thinSpace + "s"
	}
	i := 0
	for i+1 < len(units) && v >= units[i+1].ns*0.9995 {
		i++
	}
	if i == 0 {
		return number(v) + thinSpace + "ns"
	}
	return digits(v/units[i].ns) + thinSpace + units[i].name
}

// Span says a length of time in words, such as "10 minutes".
func Span(d time.Duration) string {
	for _, u := range []struct {
		name string
		d    time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}, {"millisecond", time.Millisecond}} {
		switch {
		case d == u.d:
			return "1 " + u.name
		case d >= u.d && d%u.d == 0:
			return number(float64(d/u.d)) + " " + u.name + "s"
		}
	}
	return d.String()
}

// last is Span after "the last".
func last(d time.Duration) string {
	return strings.TrimPrefix(Span(d), "1 ")
}

// clock shows an instant as exactly as windows of a step need it.
func clock(t time.Time, step time.Duration) string {
	switch t = t.UTC(); {
	case step >= 24*time.Hour:
		return t.Format("2 Jan")
	case step%time.Minute == 0:
		return t.Format("15:04")
	case step%time.Second == 0:
		return t.Format("15:04:05")
	}
	return t.Format("15:04:05.000")
}

// plural is a count with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(float64(n)) + " " + many
}

// anyNumber is number for templates, which have counts of both kinds.
func anyNumber(v any) string {
	if n, ok := v.(int); ok {
		return number(float64(n))
	}
	return number(v.(float64))
}

// axis is duration without the zeros that a ruler's value ends in.
func axis(ns float64) string {
	text := nanoseconds(math.Trunc(ns))
	digits, unit, ok := strings.Cut(text, thinSpace)
	if ok && strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	return digits + thinSpace + unit
}
