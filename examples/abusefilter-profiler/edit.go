package main

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// An Edit is one edit of a page, with the variables that a rule's condition sees, named as
// AbuseFilter names them. Sizes are bytes.
type Edit struct {
	UserName          string `expr:"user_name"`
	UserIsAnonymous   bool   `expr:"user_is_anonymous"` // the name is an IP address; a temporary account's ("~2025-1") is not
	UserIsBot         bool   `expr:"user_is_bot"`
	PageTitle         string `expr:"page_title"`         // without its namespace
	PagePrefixedTitle string `expr:"page_prefixedtitle"` // with it
	PageNamespace     int    `expr:"page_namespace"`     // MediaWiki's number, or unknownNamespace
	PageIsNew         bool   `expr:"page_is_new"`
	Summary           string `expr:"summary"`
	EditIsMinor       bool   `expr:"edit_is_minor"`
	AddedSize         int    `expr:"added_size"`
	RemovedSize       int    `expr:"removed_size"`
	EditDelta         int    `expr:"edit_delta"`
	Wiki              string `expr:"wiki"`      // the database's name, such as "enwiki"
	Timestamp         int    `expr:"timestamp"` // Unix time in seconds

	at time.Time // Timestamp, to the precision of the input
}

// No wiki is older than the first of these, and a time past the second is one in another unit.
var (
	earliestEdit = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	latestEdit   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// setTime refuses a time at which no edit can have been made.
func (e *Edit) setTime(t time.Time) error {
	if t.Before(earliestEdit) || !t.Before(latestEdit) {
		return fmt.Errorf("the time %s is not in the years 2001 to 2099", t.UTC().Format(time.RFC3339))
	}
	e.at = t.UTC()
	e.Timestamp = int(t.Unix())
	return nil
}

// setTitle takes a title with its namespace, as events have it.
func (e *Edit) setTitle(prefixed string, namespace int) {
	e.PagePrefixedTitle, e.PageTitle, e.PageNamespace = prefixed, prefixed, namespace
	if namespace == mainNamespace {
		return
	}
	if _, title, ok := strings.Cut(prefixed, ":"); ok {
		e.PageTitle = title
	}
}

func isAddress(user string) bool {
	_, err := netip.ParseAddr(user)
	return err == nil
}
