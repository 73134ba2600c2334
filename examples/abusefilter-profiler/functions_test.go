package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFunctions(t *testing.T) {
	edit := &Edit{UserName: "192.0.2.77", PageTitle: "Caté", Summary: "One two, one!"}
	tests := []struct{ rule, condition string }{
		{"lcase", `lcase(summary) == "one two, one!"`},
		{"ucase", `ucase(page_title) == "CATÉ"`},
		{"length counts characters", `length(page_title) == 4 and length("") == 0`},
		{"contains_any: one", `contains_any(summary, "x", "two")`},
		{"contains_any: none", `not contains_any(summary, "x", "y")`},
		{"contains_any of more than a few", `contains_any(summary, "1", "2", "3", "4", "5", "6", "7", "8", "9", "two")`},
		{"contains_all", `contains_all(summary, "One", "two") and not contains_all(summary, "One", "x")`},
		{"equals_to_any", `equals_to_any(page_title, "x", "Caté") and not equals_to_any(page_title, "Cat")`},
		{"rcount", `rcount("(?i)one", summary) == 2 and rcount("x", summary) == 0`},
		{"ip_in_range: prefix", `ip_in_range(user_name, "192.0.2.64/26") and not ip_in_range(user_name, "192.0.2.0/26")`},
		{"ip_in_range: the edges of a prefix are in it", `ip_in_range("10.0.0.0", "10.0.0.7/8") and ip_in_range("10.255.255.255", "10.0.0.0/8") and not ip_in_range("11.0.0.0", "10.0.0.0/8")`},
		{"ip_in_range: from and to", `ip_in_range(user_name, "192.0.2.70 - 192.0.2.77") and not ip_in_range(user_name, "192.0.2.1-192.0.2.76")`},
		{"ip_in_range: one address", `ip_in_range(user_name, "192.0.2.77") and not ip_in_range(user_name, "192.0.2.7")`},
		{"ip_in_range: version 6, however it is written", `ip_in_range("2001:DB8:0:0:0:0:0:1", "2001:db8::/32") and not ip_in_range("2001:db9::", "2001:db8::/32")`},
		{"ip_in_range: the two versions are apart", `not ip_in_range("::1", "0.0.0.0/0") and not ip_in_range("0.0.0.1", "::/0")`},
		{"ip_in_range: a name is in no range", `not ip_in_range("Ann", "0.0.0.0/0")`},
		{"ip_in_ranges: one of them", `ip_in_ranges(user_name, "10.0.0.0/8", "192.0.2.0/24") and not ip_in_ranges(user_name, "10.0.0.0/8")`},
		{"ccnorm", `ccnorm("Sh1t 3$ оП") == "SHIT ES OП"`},
		{"rmdoubles", `rmdoubles("aaabbc a") == "abc a"`},
		{"rmspecials", `rmspecials("a-b c_1!é") == "ab c1é"`},
		{"rmwhitespace", `rmwhitespace(" a\tb\n") == "ab"`},
		{"norm", `norm("P0o-o-p 1") == "POOPI"`},
		{"specialratio", `specialratio("ab!?") == 0.5 and specialratio("") == 0.0 and specialratio("a b") == 0.0`},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			set, err := compileRules([]ruleSpec{{ID: "r", Condition: tt.condition}})
			require.NoError(t, err)
			matched, _ := set.evaluate(set.rules[0], edit)
			require.NoError(t, set.rules[0].firstFailure)
			require.True(t, matched)
		})
	}
}

func TestARuleThatFailsIsCountedAndDoesNotMatch(t *testing.T) {
	tests := []struct{ rule, condition, reason string }{
		{"a range that is none", `added_size == 0 and ip_in_range(user_name, "here")`, `condition, line 1, column 21: "here" is not a range of addresses`},
		{"a range of two versions", `ip_in_range(user_name, "1.2.3.4-::1")`, `condition, line 1, column 1: "1.2.3.4-::1" is not a range of addresses`},
		{"a prefix that is none", `ip_in_ranges(user_name, "1.2.3.4/33")`, `condition, line 1, column 1: "1.2.3.4/33" is not a range of addresses`},
		{"a pattern that is none", `rcount("(" + summary, summary) == 1`, "condition, line 1, column 1: error parsing regexp: missing closing ): `(`"},
		{"a number that is none", `int(summary) == 1`, `condition, line 1, column 1: invalid operation: int()`},
		{"a division by zero", `added_size % removed_size == 1`, `condition, line 1, column 12: runtime error: integer divide by zero`},
		{"an argument that turns out to be no text", `lcase(first([1, summary])) == "x"`, `condition, line 1, column 1: 1 is a int, not a string`},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			set, err := compileRules([]ruleSpec{{ID: "r", Condition: tt.condition}})
			require.NoError(t, err)
			for range 2 {
				matched, conditions := set.evaluate(set.rules[0], &Edit{})
				require.False(t, matched)
				require.Positive(t, conditions)
			}
			require.Equal(t, 2, set.rules[0].failures)
			require.ErrorContains(t, set.rules[0].firstFailure, tt.reason)
		})
	}
}

func TestPatternCacheIsBounded(t *testing.T) {
	var c patternCache
	for i := range 2*maxPatterns + 1 {
		_, err := c.get(string(rune('a' + i)))
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(c.compiled), maxPatterns)
}
