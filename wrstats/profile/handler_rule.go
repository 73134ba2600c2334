package profile

import (
	"context"
	"net/http"

	"github.com/wrstats/go-wrstats/wrstats/profile/internal/page"
)

func (h *handler) rule(w http.ResponseWriter, r *http.Request) {
	q, wrong := parseRuleQuery(r)
	if wrong != "" {
		h.badRequest(w, r, wrong)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.opts.Timeout)
	defer cancel()
	now := h.opts.Now()
	history, err := h.profiler.HistoryAt(ctx, now, q.id)
	if !h.readable(w, r, err) {
		return
	}
	p := &page.RulePage{
		Head:    h.head(now, err, nil),
		Rule:    h.newRule(&history.Rule, history.Windows),
		Windows: newWindows(history.Windows),
	}
	h.answer(w, r, q, p, func() ([]byte, error) { return p.HTML(h.frame(), h.opts.Reset != nil) })
}

// newRule is all of a rule but its sparkline and its part of the time of all.
func (h *handler) newRule(r *Rule, windows []Window) page.Rule {
	found := 0
	for i := range windows {
		if windows[i].Found {
			found++
		}
	}
	slow := r.MeanTime > h.opts.Slow || r.P95 > h.opts.Slow
	return page.Rule{
		ID: r.Name, Page: linkTo(r.Name),
		Runs: r.Runs, Matches: r.Matches, MatchRate: r.MatchRate,
		Conditions: r.Conditions, MeanConditions: r.MeanConditions,
		TimeNS: int64(r.Time), MeanNS: int64(r.MeanTime),
		P50NS: int64(r.P50), P95NS: int64(r.P95), P99NS: int64(r.P99),
		Found: found, Incomplete: r.Missing, Unknown: r.Unknown, Slow: slow,
	}
}

func newWindows(windows []Window) []page.Window {
	rows := make([]page.Window, len(windows))
	for i, w := range windows {
		rows[i] = page.Window{
			Start: w.Start.UTC(), Share: w.Share,
			Runs: w.Runs, Matches: w.Matches, Conditions: w.Conditions,
			TimeNS: int64(w.Time), P50NS: int64(w.P50), P95NS: int64(w.P95), P99NS: int64(w.P99),
			Found: w.Found, Incomplete: w.Missing, Unknown: w.Unknown,
		}
	}
	return rows
}

func newGroupRow(g *GroupHistory) page.Group {
	found := 0
	for i := range g.Windows {
		if g.Windows[i].Found {
			found++
		}
	}
	return page.Group{
		ID: g.Name, Actions: g.Actions, Overflows: g.Overflows, Matches: g.Matches,
		Conditions: g.Conditions, MeanConditions: g.MeanConditions,
		TimeNS: int64(g.Time), MeanNS: int64(g.MeanTime), Found: found, Incomplete: g.Missing,
	}
}

// reset asks whether a rule is to be reset, and then does it.
func (h *handler) reset(w http.ResponseWriter, r *http.Request) {
	q, wrong := parseRuleQuery(r)
	if wrong != "" {
		h.badRequest(w, r, wrong)
		return
	}
	if err := h.crossOrigin.Check(r); err != nil {
		h.fail(w, r, http.StatusForbidden, "That came from another site", "A rule can only be reset from its own page.")
		return
	}
	if err := h.opts.Reset(r); err != nil {
		h.fail(w, r, http.StatusForbidden, "You may not reset rules", err.Error())
		return
	}
	if r.Method != http.MethodPost {
		h.answer(w, r, query{}, nil, page.Reset{Frame: page.Frame{Title: h.opts.Title}, ID: q.id}.HTML)
		return
	}
	h.doReset(w, r, q.id)
}

// doReset goes back to the rule's page when it is done, so that reloading that resets nothing.
func (h *handler) doReset(w http.ResponseWriter, r *http.Request, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), h.opts.Timeout)
	defer cancel()
	if err := h.profiler.ResetAt(ctx, h.opts.Now(), id); err != nil {
		h.fail(w, r, http.StatusServiceUnavailable,
			"The rule could not be reset", "Some of it may be deleted and some not.", reasons(err)...)
		return
	}
	w.Header().Set("Location", page.Link(id))
	w.WriteHeader(http.StatusSeeOther)
}
