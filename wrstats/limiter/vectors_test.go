package limiter_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// A vector is a case that the PHP library was run on.
type vector struct {
	Conditions []struct {
		Name   string
		Limit  int64
		Window int64 `json:"window_ms"`
	}
	Buckets int `json:"bucket_count"`
	Ops     []vectorOp
}

type vectorOp struct {
	At        int64 `json:"at_ms"`
	Op        string
	Condition string
	Entity    struct {
		Global     bool
		Components []string
	}
	Amount    int64
	Allowed   bool
	Prev, New int64
}

func (o *vectorOp) op() limiter.Op {
	e := wrstats.Local(o.Entity.Components...)
	if o.Entity.Global {
		e = wrstats.Global(o.Entity.Components...)
	}
	return limiter.Op{Condition: o.Condition, Entity: e, Amount: o.Amount}
}

func TestDecisionsAreThoseOfTheOriginal(t *testing.T) {
	file, err := os.Open("testdata/limiter.jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var v vector
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		for _, remembered := range []int{0, -1} {
			t.Run(fmt.Sprintf("%d/denials=%d", n, remembered), func(t *testing.T) { v.run(t, remembered) })
		}
	}
	require.NoError(t, lines.Err())
	require.Equal(t, 30, n)
}

func (v *vector) run(t *testing.T, maxDenials int) {
	var conditions []limiter.Condition
	for _, c := range v.Conditions {
		conditions = append(conditions, limiter.Condition{Name: c.Name, Limit: c.Limit, Window: time.Duration(c.Window) * time.Millisecond})
	}
	store := memory.New(memory.Options{})
	defer store.Close()
	l, err := limiter.New(store, conditions, limiter.Options{Buckets: v.Buckets, MaxDenials: maxDenials})
	require.NoError(t, err)
	for i, o := range v.Ops {
		now := time.UnixMilli(o.At)
		var d limiter.Decision
		switch o.Op {
		case "incr":
			require.NoError(t, l.AddAt(t.Context(), now, o.op()))
			continue
		case "try":
			d, err = l.TryAt(t.Context(), now, o.op())
		case "peek":
			d, err = l.PeekAt(t.Context(), now, o.op())
		default:
			t.Fatalf("op %d: %q", i, o.Op)
		}
		require.NoError(t, err, "op %d", i)
		require.Equal(t, o.Allowed, d.Allowed, "op %d: %+v", i, d)
		require.Len(t, d.Ops, 1)
		require.Equal(t, [2]int64{o.Prev, o.New}, [2]int64{d.Ops[0].Prev, d.Ops[0].New}, "op %d", i)
	}
}
