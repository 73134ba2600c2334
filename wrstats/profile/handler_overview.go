package profile

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile/internal/page"
)

func (h *handler) overview(w http.ResponseWriter, r *http.Request) {
	q, wrong := parseQuery(r)
	if wrong != "" {
		h.badRequest(w, r, wrong)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.opts.Timeout)
	defer cancel()
	var problems []string
	groups := allNames(ctx, h.profiler.GroupNames(), h.opts.Groups, "groups", &problems)
	rules := allNames(ctx, h.profiler.RuleNames(), h.opts.Rules, "rules", &problems)
	rules, notShown := limit(rules, h.opts.MaxRules, q.Search)
	now := h.opts.Now()
	all, err := h.profiler.ProfileAt(ctx, now, rules, groups)
	if !h.readable(w, r, err) {
		return
	}
	o := h.newOverview(all)
	o.Head, o.NotShown = h.head(now, err, problems), notShown
	if q.json {
		o.Rules = o.Select(q.View)
	}
	h.answer(w, r, q, o, func() ([]byte, error) { return o.HTML(h.frame(), q.View) })
}

// allNames returns those that are recorded and those that the caller gives, each once, in order.
func allNames(ctx context.Context, recorded []string, more func(context.Context) ([]string, error), what string, problems *[]string) []string {
	names := recorded
	if more != nil {
		given, err := more(ctx)
		if err != nil {
			*problems = append(*problems, "The list of "+what+" can’t be had, so that only those are shown that this process has recorded: "+err.Error())
		}
		names = append(names, given...)
	}
	slices.SortFunc(names, page.CompareIDs)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// limit keeps as many names as are allowed, those first that a search is for, and returns how many it left out.
func limit(names []string, most int, search string) (kept []string, left int) {
	if len(names) <= most {
		return names, 0
	}
	var others []string
	for _, name := range names {
		if page.Matches(name, search) {
			kept = append(kept, name)
		} else {
			others = append(others, name)
		}
	}
	kept = append(kept, others...)[:most]
	slices.SortFunc(kept, page.CompareIDs)
	return kept, len(names) - most
}

// readable says whether there is something to show, and sends the error if there is not.
func (h *handler) readable(w http.ResponseWriter, r *http.Request, err error) bool {
	if err == nil || errors.Is(err, wrstats.ErrPartial) {
		return true
	}
	h.fail(w, r, http.StatusServiceUnavailable,
		"The profile can’t be read", "The store did not answer. Recording goes on.", reasons(err)...)
	return false
}

// head says of when and how whole a profile is. err is nil or partial.
func (h *handler) head(now time.Time, err error, problems []string) page.Head {
	opts := h.profiler.opts
	return page.Head{
		Read: now.UTC(), From: now.Add(-opts.Retention).UTC(), StepNS: opts.Step.Nanoseconds(),
		Partial: err != nil, Problems: append(append([]string{}, problems...), reasons(err)...),
		SlowNS: h.opts.Slow.Nanoseconds(), NoTimes: opts.Quantiles.Off,
	}
}

// reasons are an error's, one for each server, without what all of them say.
func reasons(err error) (texts []string) {
	if err == nil {
		return nil
	}
	for text := range strings.SplitSeq(err.Error(), "\n") {
		for _, prefix := range []string{"wrstats: ", "read: ", wrstats.ErrPartial.Error() + ": ", "wrstats: "} {
			text = strings.TrimPrefix(text, prefix)
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

func (h *handler) newOverview(all Profile) *page.Overview {
	o := &page.Overview{
		Rules: make([]page.Row, len(all.Rules)), Groups: make([]page.Group, len(all.Groups)), Windows: []time.Time{},
		Writer: writerCounters(h.profiler.Stats()), Store: storeMeasures(h.opts.Store),
	}
	total := 0.0 // a Duration may not hold it
	for i := range all.Rules {
		total += float64(all.Rules[i].Time)
	}
	for i := range all.Rules {
		history := &all.Rules[i]
		o.Rules[i].Rule = h.newRule(&history.Rule, history.Windows)
		o.Rules[i].TimeShare = part(float64(history.Time), total)
		recent := history.Windows[max(0, len(history.Windows)-page.MaxSparkWindows):]
		o.Rules[i].SetWindows(newWindows(recent))
		if i == 0 {
			for _, w := range recent {
				o.Windows = append(o.Windows, w.Start.UTC())
			}
		}
	}
	page.Rank(o.Rules)
	for i := range all.Groups {
		o.Groups[i] = newGroupRow(&all.Groups[i])
	}
	return o
}

func part(some, all float64) float64 {
	if all == 0 {
		return 0
	}
	return some / all
}
