package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGenerateIsTheSameEachTime(t *testing.T) {
	require.Equal(t, generate(), generate())
}

func TestGenerateMakesTwoHoursOfAllKinds(t *testing.T) {
	edits := embeddedEdits(t)
	require.Len(t, edits, generatedEdits)
	seen := map[string]int{}
	for i, e := range edits {
		if i > 0 {
			require.False(t, e.at.Before(edits[i-1].at), "in time order")
		}
		require.Less(t, e.at.Sub(generatedStart), generatedLength)
		count(seen, "bots", e.UserIsBot)
		count(seen, "IPv4", isAddress(e.UserName) && bytes.Contains([]byte(e.UserName), []byte(".")))
		count(seen, "IPv6", isAddress(e.UserName) && bytes.Contains([]byte(e.UserName), []byte(":")))
		count(seen, "new pages", e.PageIsNew)
		count(seen, "blanked pages", e.EditDelta < -1900)
		count(seen, "talk pages", e.PageNamespace == 3)
		seen[e.Wiki]++
		require.Equal(t, isAddress(e.UserName), e.UserIsAnonymous)
	}
	for _, what := range []string{"bots", "IPv4", "IPv6", "new pages", "blanked pages", "talk pages", "enwiki", "dewiki", "commonswiki"} {
		require.Greater(t, seen[what], 30, what)
	}
}

func TestEachEmbeddedRuleMatchesSomeEmbeddedEditsAndFailsOnNone(t *testing.T) {
	set, err := loadRules("")
	require.NoError(t, err)
	matches := map[string]int{}
	for _, e := range embeddedEdits(t) {
		for _, r := range set.rules {
			matched, _ := set.evaluate(r, &e)
			count(matches, r.ID, matched)
		}
	}
	require.Empty(t, set.failures())
	for _, r := range set.rules {
		require.Positive(t, matches[r.ID], r.ID)
		require.Less(t, matches[r.ID], generatedEdits/10, r.ID)
	}
}

func count(counts map[string]int, what string, is bool) {
	if is {
		counts[what]++
	}
}

// embeddedEdits decodes the embedded stream.
func embeddedEdits(tb testing.TB) []Edit {
	var edits []Edit
	for line := range bytes.Lines(generate()) {
		var edit Edit
		what, err := decodeLine(line, &edit)
		require.NoError(tb, err)
		require.Equal(tb, anEdit, what)
		edits = append(edits, edit)
	}
	return edits
}
