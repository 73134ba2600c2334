package main

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
)

// functions returns the functions of AbuseFilter that rules can call besides those of the language:
//
//	lcase(s) ucase(s) length(s)              letters to lower or upper case; the number of characters
//	contains_any(s, …) contains_all(s, …)    whether s has one of the texts, or all
//	equals_to_any(s, …)                      whether s is one of the texts
//	rcount(pattern, s)                       how often a regular expression matches
//	ip_in_range(ip, range)                   whether a name is an address in "192.0.2.0/24" or "192.0.2.1-192.0.2.9"
//	ip_in_ranges(ip, …)                      in one of the ranges
//	ccnorm(s)                                look-alike characters made one: "SH1T" and "$hit" are "SHIT"
//	rmdoubles(s) rmspecials(s) rmwhitespace(s)   without repeated, special or white characters
//	norm(s)                                  all four
//	specialratio(s)                          the share of characters that are not letters, digits or white
func functions() []expr.Option {
	patterns := &patternCache{}
	return []expr.Option{
		text("lcase", strings.ToLower),
		text("ucase", strings.ToUpper),
		text("ccnorm", ccnorm),
		text("rmdoubles", rmdoubles),
		text("rmspecials", rmspecials),
		text("rmwhitespace", rmwhitespace),
		text("norm", norm),
		anyOf("contains_any", strings.Contains),
		anyOf("equals_to_any", func(s, other string) bool { return s == other }),
		expr.Function("contains_all", containsAll, new(func(string, ...string) bool)),
		expr.Function("length", length, new(func(string) int)),
		expr.Function("specialratio", specialRatio, new(func(string) float64)),
		expr.Function("rcount", patterns.count, new(func(string, string) int)),
		expr.Function("ip_in_range", ipInRanges, new(func(string, string) bool)),
		expr.Function("ip_in_ranges", ipInRanges, new(func(string, ...string) bool)),
	}
}

// text is a function of one text to another.
func text(name string, f func(string) string) expr.Option {
	return expr.Function(name, func(args ...any) (any, error) {
		s, err := asText(args[0])
		return f(s), err
	}, new(func(string) string))
}

// anyOf is a function that asks whether something holds of its first text and one of the others.
func anyOf(name string, holds func(s, other string) bool) expr.Option {
	return expr.Function(name, func(args ...any) (any, error) {
		texts, err := asTexts(args)
		if err != nil {
			return nil, err
		}
		for _, other := range texts[1:] {
			if holds(texts[0], other) {
				return true, nil
			}
		}
		return false, nil
	}, new(func(string, ...string) bool))
}

func containsAll(args ...any) (any, error) {
	texts, err := asTexts(args)
	if err != nil {
		return nil, err
	}
	for _, part := range texts[1:] {
		if !strings.Contains(texts[0], part) {
			return false, nil
		}
	}
	return true, nil
}

func length(args ...any) (any, error) {
	s, err := asText(args[0])
	return utf8.RuneCountInString(s), err
}

func specialRatio(args ...any) (any, error) {
	s, err := asText(args[0])
	if err != nil || s == "" {
		return 0.0, err
	}
	special := utf8.RuneCountInString(s) - utf8.RuneCountInString(rmspecials(s))
	return float64(special) / float64(utf8.RuneCountInString(s)), nil
}

// asText takes an argument whose type the compiler could not know.
func asText(arg any) (string, error) {
	s, ok := arg.(string)
	if !ok {
		return "", fmt.Errorf("%v is a %T, not a string", arg, arg)
	}
	return s, nil
}

func asTexts(args []any) ([]string, error) {
	var few [8]string
	texts := few[:0]
	for _, arg := range args {
		s, err := asText(arg)
		if err != nil {
			return nil, err
		}
		texts = append(texts, s)
	}
	return texts, nil
}

// maxPatterns bounds a patternCache: a pattern can be made of an edit's own text.
const maxPatterns = 1000

// A patternCache keeps compiled patterns.
type patternCache struct{ compiled map[string]*regexp.Regexp }

func (c *patternCache) count(args ...any) (any, error) {
	texts, err := asTexts(args)
	if err != nil {
		return nil, err
	}
	pattern, err := c.get(texts[0])
	if err != nil {
		return nil, err
	}
	return len(pattern.FindAllStringIndex(texts[1], -1)), nil
}

func (c *patternCache) get(pattern string) (*regexp.Regexp, error) {
	if re := c.compiled[pattern]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	if c.compiled == nil || len(c.compiled) >= maxPatterns {
		c.compiled = map[string]*regexp.Regexp{}
	}
	c.compiled[pattern] = re
	return re, nil
}

// ipInRanges is false for a name that is no address; a range that is none is an error. Addresses of the
// two versions are in no range of each other: they compare by version first.
func ipInRanges(args ...any) (any, error) {
	texts, err := asTexts(args)
	if err != nil {
		return nil, err
	}
	ip, ipErr := netip.ParseAddr(texts[0])
	for _, r := range texts[1:] {
		first, last, err := parseRange(r)
		if err != nil {
			return nil, err
		}
		if ipErr == nil && first.Compare(ip) <= 0 && ip.Compare(last) <= 0 {
			return true, nil
		}
	}
	return false, nil
}

// parseRange returns the first and last address of "192.0.2.0/24", "192.0.2.1-192.0.2.9" or "192.0.2.7".
func parseRange(s string) (first, last netip.Addr, err error) {
	if strings.Contains(s, "/") {
		prefix, err := netip.ParsePrefix(s)
		if err != nil {
			return first, last, fmt.Errorf("%q is not a range of addresses", s)
		}
		return prefix.Masked().Addr(), lastAddress(prefix), nil
	}
	from, to, ok := strings.Cut(s, "-")
	if !ok {
		to = from
	}
	first, err = netip.ParseAddr(strings.TrimSpace(from))
	if err == nil {
		last, err = netip.ParseAddr(strings.TrimSpace(to))
	}
	if err != nil || first.BitLen() != last.BitLen() {
		return first, last, fmt.Errorf("%q is not a range of addresses", s)
	}
	return first, last, nil
}

func lastAddress(prefix netip.Prefix) netip.Addr {
	bytes := prefix.Addr().AsSlice()
	for i := prefix.Bits(); i < len(bytes)*8; i++ {
		bytes[i/8] |= 0x80 >> (i % 8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}
