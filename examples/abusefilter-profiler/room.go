package main

import (
	"math"

	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// What the profiler counts of an edit.
const (
	countersOfRule  = 4 // and the bin that its time is in
	countersOfGroup = 5
)

// A room knows when the Writer's buffer has to be handed over to be never full. It counts (counter, bucket)
// pairs that edits may have touched since that was done last, never fewer than they have: each edit touches a
// bin of each rule, which may be one that was not hit before in the bucket, until all are.
//
// A flush leaves what was touched before it awake until the next, and that takes room too: so half of the
// room is for what comes between two.
type room struct {
	limit    int // for the Writer's MaxPending
	share    int // of limit: pairs that may be touched between two flushes
	counters int // that each edit touches, bins aside
	rules    int
	bins     int // of a rule's time

	touched int
	bucket  int64 // of the last edit
	edits   int   // in a row in that bucket, since the flush
}

// newRoom returns the room for a set of rules: so many pairs, or more where two edits would not fit into them.
func newRoom(set *ruleSet, least int) room {
	r := room{
		counters: countersOfRule*len(set.rules) + countersOfGroup*len(set.groups),
		rules:    len(set.rules),
		bins:     mostBins(quantiles),
	}
	standing := r.rules * (1 + r.bins/32) // for the Observers, as MaxPending tells
	standing += r.rules + len(set.groups) // for times that carry a part of a unit in a bucket of the present
	r.limit = max(least, standing+2*(r.counters+r.rules))
	r.share = (r.limit - standing) / 2
	return r
}

// mostBins is how many bins a time can have, or one or two more.
func mostBins(o profile.QuantileOptions) int {
	logGamma := 2 * math.Atanh(profile.DefaultQuantileError)
	return 2 + int(math.Ceil(math.Log(float64(o.Max)/float64(o.Min))/logGamma))
}

// take takes the room of an edit in a bucket, and says whether the buffer has to be handed over before.
func (r *room) take(bucket int64) (full bool) {
	if bucket != r.bucket {
		r.bucket, r.edits = bucket, 0
	}
	if full = r.touched+r.pairs() > r.share; full {
		r.touched, r.edits = 0, 0
	}
	r.touched += r.pairs()
	r.edits++
	return full
}

// pairs are the most that one more edit in the bucket touches for the first time.
func (r *room) pairs() int {
	switch {
	case r.edits == 0:
		return r.counters + r.rules
	case r.edits < r.bins:
		return r.rules
	}
	return 0
}
