package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var errNoTime = errors.New("the edit has no time")

// wikiticker takes an edit as the "wikiticker" data set has it: one edit a line, with the sizes that
// were added and deleted, and the wiki as its channel.
func (r *record) wikiticker(edit *Edit) error {
	wiki, err := channelWiki(r.Channel)
	if err != nil {
		return err
	}
	if r.Time == "" {
		return errNoTime
	}
	at, err := time.Parse(time.RFC3339, r.Time)
	if err != nil {
		return fmt.Errorf("the time %q is not RFC 3339", r.Time)
	}
	*edit = Edit{
		UserName:        r.User,
		UserIsAnonymous: r.IsAnonymous,
		UserIsBot:       r.IsRobot,
		PageIsNew:       r.IsNew,
		Summary:         r.Comment,
		EditIsMinor:     r.IsMinor,
		AddedSize:       r.Added,
		RemovedSize:     r.Deleted,
		EditDelta:       r.Delta,
		Wiki:            wiki,
	}
	edit.setTitle(r.Page, int(r.Namespace))
	return edit.setTime(at)
}

// channelWiki returns the database's name of a channel: "#en.wikipedia" is enwiki, "#fr.wiktionary"
// frwiktionary, "#commons.wikimedia" commonswiki.
func channelWiki(channel string) (string, error) {
	site, project, ok := strings.Cut(strings.TrimPrefix(channel, "#"), ".")
	if !ok || site == "" || project == "" {
		return "", fmt.Errorf("the channel %q is not like \"#en.wikipedia\"", channel)
	}
	site = strings.ReplaceAll(site, "-", "_")
	switch project {
	case "wikipedia", "wikimedia":
		return site + "wiki", nil
	case "wikidata", "mediawiki":
		return project + "wiki", nil
	}
	return site + project, nil
}
