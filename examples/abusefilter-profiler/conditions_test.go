package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConditionsAreThoseThatWereEvaluated(t *testing.T) {
	edit := &Edit{UserName: "192.0.2.7", UserIsAnonymous: true, Summary: "one two three", AddedSize: 5, PageTitle: "Cat"}
	tests := []struct {
		rule      string
		condition string
		matched   bool
		want      int
	}{
		{"a variable is no condition", `user_is_anonymous`, true, 0},
		{"not is no condition", `not user_is_anonymous`, false, 0},
		{"and and or are no conditions", `user_is_anonymous and (user_is_bot or user_is_anonymous)`, true, 0},
		{"arithmetic is no condition", `added_size * 2 + 1 == 11`, true, 1},
		{"a comparison is one", `added_size > 4`, true, 1},
		{"equality is one", `page_title == "Cat"`, true, 1},
		{"inequality is one", `page_title != "Cat"`, false, 1},
		{"matches is one", `summary matches "^one"`, true, 1},
		{"contains is one", `summary contains "two"`, true, 1},
		{"startsWith is one", `summary startsWith "two"`, false, 1},
		{"endsWith is one", `summary endsWith "three"`, true, 1},
		{"in a list is one", `page_namespace in [0, 2, 4]`, true, 1},
		{"in a list of texts is one", `page_title in ["Dog", "Cat"]`, true, 1},
		{"in a range is one", `added_size in 1..5`, true, 1},
		{"not in is one", `page_title not in ["Dog"]`, true, 1},
		{"a constant comparison is one", `1 == 1`, true, 1},
		{"a call is one", `contains_any(summary, "x", "two")`, true, 1},
		{"a call of the language is one", `lower(summary) == ""`, false, 2},
		{"nested calls are one each", `length(lcase(ucase(summary))) == 13`, true, 4},
		{"a pipe is a call", `summary | lower() | len() > 3`, true, 3},
		{"and: both", `added_size == 5 and summary contains "one"`, true, 2},
		{"and: the first settles it", `added_size == 6 and summary contains "one" and lcase(summary) == ""`, false, 1},
		{"and: up to the one that settles it", `added_size == 5 and summary contains "x" and lcase(summary) == ""`, false, 2},
		{"&& is and", `added_size == 6 && summary contains "one"`, false, 1},
		{"or: the first settles it", `added_size == 5 or summary contains "one"`, true, 1},
		{"or: both", `added_size == 6 or summary contains "one"`, true, 2},
		{"|| is or", `added_size == 5 || summary contains "one"`, true, 1},
		{"a variable settles it before any condition", `user_is_bot and added_size == 5`, false, 0},
		{"the right of or in the left of and", `(user_is_bot or added_size == 5) and added_size == 6`, false, 2},
		{"and inside or", `added_size == 6 and page_title == "Cat" or page_title == "Dog"`, false, 2},
		{"not over and", `not (added_size == 6 and page_title == "Cat")`, true, 1},
		{"?: the condition and the branch that is taken", `user_is_anonymous ? added_size == 5 : lcase(lcase(summary)) == "x"`, true, 1},
		{"?: the other branch", `added_size > 100 ? added_size == 5 : lcase(lcase(summary)) == "x"`, false, 4},
		{"if and else", `if user_is_bot { added_size == 5 } else { lcase(summary) == "x" }`, false, 2},
		{"?? the second if the first is nil", `(nil ?? length(summary)) == 13`, true, 2},
		{"?? the first if it is not nil", `(summary ?? lcase(ucase(summary))) == ""`, false, 1},
		{"any: itself, and its test for each element up to the first", `any(split(summary, " "), # == "two")`, true, 4},
		{"all: itself, and its test up to the first that fails", `all(split(summary, " "), # == "x")`, false, 3},
		{"filter: its test for each element", `len(filter(split(summary, " "), # contains "t")) == 2`, true, 7},
		{"a test of two conditions", `any(split(summary, " "), # contains "t" and # contains "h")`, true, 7},
		{"a call inside a test", `any(split(summary, " "), lcase(#) == "three")`, true, 8},
		{"count stops when it knows", `count(split(summary, " "), # != "") > 1`, true, 5},
		{"no elements, no tests", `any([], # == 1)`, false, 1},
		{"a variable of the rule's own", `let s = lcase(summary); s contains "one" and s contains "two"`, true, 3},
		{"a chain of comparisons settles early", `1 < added_size < 3 < length(summary)`, false, 2},
		{"a chain of comparisons evaluates its middle twice, and so counts it", `0 < (user_is_anonymous and added_size == 5 ? 1 : 2) < 3`, true, 4},
		{"two any over one list", `any([1, 2], # == 3) or any([1, 2], # == 2)`, true, 6},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			set, err := compileRules([]ruleSpec{{ID: "r", Group: "g", Condition: tt.condition}})
			require.NoError(t, err)
			for range 2 { // a run leaves nothing to the next
				matched, conditions := set.evaluate(set.rules[0], edit)
				require.NoError(t, set.rules[0].firstFailure)
				require.Equal(t, tt.matched, matched)
				require.Equal(t, tt.want, conditions)
			}
		})
	}
}

func TestRulesDoNotCountForEachOther(t *testing.T) {
	set, err := compileRules([]ruleSpec{
		{ID: "a", Group: "g", Condition: `user_is_bot or lcase(summary) == ""`},
		{ID: "b", Group: "g", Condition: `user_is_bot or added_size == 0`},
	})
	require.NoError(t, err)
	for i, want := range []int{2, 1} {
		_, conditions := set.evaluate(set.rules[i], &Edit{})
		require.Equal(t, want, conditions)
	}
}

func TestRulesCannotCallTheCounter(t *testing.T) {
	_, err := compileRules([]ruleSpec{{ID: "a", Condition: `+1() == 1`}})
	require.Error(t, err)
}
