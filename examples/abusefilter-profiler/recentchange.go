package main

import (
	"errors"
	"time"
)

var errNoTitle = errors.New("the edit has no title")

// recentChange takes an event of Wikimedia's recentchange stream. Only the types edit and new are
// edits; log entries, categorizations, external changes and the stream's own canary events are not.
// An event has the page's length before and after, so what was added and what was removed is the
// difference of the two; one that both adds and removes shows its net effect only.
func (r *record) recentChange(edit *Edit) (content, error) {
	if r.Type != "edit" && r.Type != "new" || r.Meta.Domain == "canary" {
		return noEdit, nil
	}
	if r.Timestamp == 0 {
		return anEdit, errNoTime
	}
	if r.Title == "" {
		return anEdit, errNoTitle
	}
	delta := r.Length.New - r.Length.Old
	*edit = Edit{
		UserName:        r.User,
		UserIsAnonymous: isAddress(r.User),
		UserIsBot:       r.Bot,
		PageIsNew:       r.Type == "new",
		Summary:         r.Comment,
		EditIsMinor:     r.Minor,
		AddedSize:       max(delta, 0),
		RemovedSize:     max(-delta, 0),
		EditDelta:       delta,
		Wiki:            r.Wiki,
	}
	edit.setTitle(r.Title, int(r.Namespace))
	return anEdit, edit.setTime(time.Unix(r.Timestamp, 0))
}
