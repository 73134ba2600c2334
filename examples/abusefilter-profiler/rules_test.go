package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseRules(t *testing.T) {
	want := []ruleSpec{
		{ID: "a", Group: "default", Description: "A: rule", Condition: "user_is_bot"},
		{ID: "42", Group: "links", Condition: "added_size > 1\nand user_is_bot\n"},
	}
	tests := []struct{ rule, name, data string }{
		{"YAML", "r.yaml", "# comment\n- id: a\n  description: \"A: rule\"\n  condition: user_is_bot\n- id: 42\n  group: links\n  condition: |\n    added_size > 1\n    and user_is_bot\n"},
		{"JSON by its name", "r.json", `[{"id":"a","description":"A: rule","condition":"user_is_bot"},{"id":"42","group":"links","condition":"added_size > 1\nand user_is_bot\n"}]`},
		{"JSON by its first byte", "r", "\ufeff\n" + `[{"id":"a","description":"A: rule","condition":"user_is_bot"},{"id":"42","group":"links","condition":"added_size > 1\nand user_is_bot\n"}]` + "\n"},
		{"YAML in JSON's clothes", "r.yml", `[{"id":"a","description":"A: rule","condition":"user_is_bot"},{"id":"42","group":"links","condition":"added_size > 1\nand user_is_bot\n"}]`},
		{"YAML with a start and an end", "r", "---\n- {id: a, description: 'A: rule', condition: user_is_bot}\n- {id: '42', group: links, condition: \"added_size > 1\\nand user_is_bot\\n\"}\n...\n"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := parseRules(tt.name, []byte(tt.data))
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestParseRulesRefuses(t *testing.T) {
	tests := []struct{ rule, name, data, reason string }{
		{"an empty file", "r.yaml", "", "r.yaml: there are no rules in it"},
		{"comments only", "r.yaml", "# nothing\n", "r.yaml: there are no rules in it"},
		{"an empty list", "r.json", "[]", "r.json: there are no rules in it"},
		{"no id", "r.yaml", "- condition: true\n", "r.yaml: rule 1 of the list has no id"},
		{"an id that is empty", "r.json", `[{"id":"","condition":"true"}]`, "r.json: rule 1 of the list has no id"},
		{"an id twice", "r.yaml", "- {id: a, condition: 'true'}\n- {id: a, condition: 'false'}\n", `r.yaml: the id "a" is there twice`},
		{"an id twice, in two groups", "r.yaml", "- {id: a, group: x, condition: 'true'}\n- {id: a, group: y, condition: 'false'}\n", `r.yaml: the id "a" is there twice`},
		{"no condition", "r.yaml", "- id: a\n", `r.yaml: rule "a" has no condition`},
		{"a blank condition", "r.yaml", "- {id: a, condition: ' '}\n", `r.yaml: rule "a" has no condition`},
		{"an unknown field in YAML", "r.yaml", "- id: a\n  conditon: 'true'\n", `r.yaml: line 2, column 3: unknown field "conditon"; a rule has id, group, description, condition`},
		{"an unknown field in JSON", "r.json", "[{\"id\":\"a\",\n \"conditon\":\"true\"}]", `unknown field "conditon"; a rule has id, group, description, condition`},
		{"a field twice in YAML", "r.yaml", "- id: a\n  id: b\n", `r.yaml: line 2, column 3: mapping key "id" already defined`},
		{"a field of the wrong kind in JSON", "r.json", "[{\"id\":\n 42}]", `r.json: line 2, column `},
		{"a field of the wrong kind in YAML", "r.yaml", "- id: [a]\n", `r.yaml: line 1, column `},
		{"an object", "r.json", `{"id":"a"}`, `r.json: the file must be a list of rules`},
		{"a string in JSON", "r.json", `"id"`, `r.json: the file must be a list of rules`},
		{"a mapping", "r.yaml", "id: a\n", `r.yaml: the file must be a list of rules`},
		{"a mapping of a list", "r.yaml", "\nrules:\n- id: a\n", `r.yaml: the file must be a list of rules`},
		{"a mapping of two", "r.yaml", "id: a\ncondition: 'true'\n", `r.yaml: the file must be a list of rules`},
		{"text", "r.yaml", "some text\n", `r.yaml: the file must be a list of rules`},
		{"a number", "r.yaml", "17\n", `r.yaml: the file must be a list of rules`},
		{"a list of other things in JSON", "r.json", `[1]`, `: it is no rule; a rule has id, group, description, condition`},
		{"broken JSON", "r.json", "[\n{\"id\":\"a\",}]", `r.json: line 2, column 11: invalid character '}'`},
		{"JSON that ends early", "r.json", "[\n{\"id\":\"a\"", `r.json: line 2, column 10: the file ends before the list does`},
		{"JSON that goes on", "r.json", `[{"id":"a","condition":"true"}] x`, `r.json: line 1, column `},
		{"a second document of YAML", "r.yaml", "- {id: a, condition: 'true'}\n---\n- {id: b, condition: 'true'}\n", `r.yaml: something follows the list of rules`},
		{"a tag without a list", "r.yaml", "!6 ", `r.yaml: it is not YAML that can be read`},
		{"null", "r.yaml", "null", `r.yaml: there are no rules in it`},
		{"broken YAML", "r.yaml", "- id: a\n   condition: 'x\n", `r.yaml: line `},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := parseRules(tt.name, []byte(tt.data))
			require.ErrorContains(t, err, tt.reason)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestCompileRulesSaysWhichRuleIsWrongAndWhere(t *testing.T) {
	tests := []struct{ rule, condition, reason string }{
		{"an unknown name", "user_is_bot and\n  user_nme == 1", `rule "bad": condition, line 2, column 3: unknown name user_nme`},
		{"a field that is no variable", "at == 1", `rule "bad": condition, line 1, column 1: unknown name at`},
		{"a syntax error", "user_is_bot and (", `rule "bad": condition, line 1, column 17: unexpected token EOF`},
		{"types that do not go together", `user_is_bot and page_namespace == "Talk"`, `rule "bad": condition, line 1, column 32: invalid operation: == (mismatched types int and string)`},
		{"an argument of the wrong type", `lcase(1) == ""`, `rule "bad": condition, line 1, column 7: cannot use int as argument (type string)`},
		{"a pattern that is none", `summary matches "("`, `rule "bad": condition, line 1, column 9: error parsing regexp`},
		{"a condition that is no bool", "added_size + 1", `rule "bad": condition, line 1, column 1: expected bool, but got int`},
		{"a condition that may be no bool", "first([1, user_is_bot])", `rule "bad": condition, line 1, column 1: expected bool`},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := compileRules([]ruleSpec{{ID: "good", Condition: "user_is_bot"}, {ID: "bad", Condition: tt.condition}})
			require.ErrorContains(t, err, tt.reason)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestLoadRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(path, []byte("- {id: a, group: g, condition: user_is_bot}\n- {id: b, group: h, condition: user_is_bot}\n- {id: c, group: g, condition: user_is_bot}\n"), 0o600))
	set, err := loadRules(path)
	require.NoError(t, err)
	require.Len(t, set.rules, 3)
	require.Len(t, set.groups, 2)
	require.Equal(t, "g", set.groups[0].name)
	require.Len(t, set.groups[0].runs, 2)
	require.Equal(t, "c", set.groups[0].runs[1].Rule)

	_, err = loadRules(path + ".not")
	require.ErrorContains(t, err, "no such file")
}

func TestEmbeddedRules(t *testing.T) {
	set, err := loadRules("")
	require.NoError(t, err)
	require.Len(t, set.rules, 40)
	require.Len(t, set.groups, 2)
	for _, r := range set.rules {
		require.NotEmpty(t, r.Description, r.ID)
	}
}

// A file of any bytes is rules or an error, and rules of any text compile or are an error.
func FuzzRules(f *testing.F) {
	f.Add("r.yaml", embeddedRules)
	f.Add("r.json", []byte(`[{"id":"a","group":"g","description":"d","condition":"any(split(summary, \" \"), # == \"x\") ? true : 1 < added_size < 3"}]`))
	f.Add("r", []byte("- id: a\n  condition: |\n    user_is_bot and rcount(\"x\", summary) > 1\n"))
	f.Add("r", []byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		specs, err := parseRules(name, data)
		if err != nil {
			return
		}
		set, err := compileRules(specs)
		if err != nil {
			return
		}
		for _, r := range set.rules {
			_, conditions := set.evaluate(r, &Edit{Summary: "a b"})
			require.GreaterOrEqual(t, conditions, 0)
		}
	})
}
