package profile

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
)

// The handles are dropped when there are too many, and what they counted is not.
func TestHandlesAreBounded(t *testing.T) {
	p, err := New(memory.New(memory.Options{}), Options{Writer: wrstats.WriterOptions{FlushInterval: -1}})
	require.NoError(t, err)
	defer p.Close(t.Context())
	now := time.Now()
	for round := range 3 {
		p.Record("group", []Run{{Rule: "kept"}, {Rule: "kept"}})
		rule, group := p.rules["kept"], p.groups["group"]
		for i := 0; len(p.rules) < maxHandles; i++ {
			p.rules[strconv.Itoa(i)] = rule
		}
		for i := 0; len(p.groups) < maxHandles; i++ {
			p.groups[strconv.Itoa(i)] = group
		}
		p.Record("group", []Run{{Rule: "kept"}})
		require.Equal(t, maxHandles, len(p.rules), "what is known makes no room")
		nth := strconv.Itoa(round)
		p.RecordAt(now, "new"+nth, []Run{{Rule: "kept"}, {Rule: "new" + nth}, {Rule: "kept"}})
		require.Less(t, len(p.rules), 3)
		require.Less(t, len(p.groups), 3)
		for _, c := range p.rules {
			next := c.next.Load()
			require.True(t, next == nil || next == p.rules[next.name], "what is kept holds on to nothing that was dropped")
		}
		require.NoError(t, p.Sync(t.Context()))
	}
	rules, err := p.Rules(t.Context(), []string{"kept", "new2"})
	require.NoError(t, err)
	require.Equal(t, []float64{15, 1}, []float64{rules[0].Runs, rules[1].Runs})
	require.Equal(t, []float64{0, 0}, []float64{rules[0].Unknown, rules[1].Unknown})
	group, err := p.Group(t.Context(), "group")
	require.NoError(t, err)
	require.EqualValues(t, 6, group.Actions)
}
