package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	tickerEdit = `{"time":"2015-09-12T00:46:58.771Z","channel":"#en.wikipedia","namespace":"User talk","page":"User talk:Ann: b",` +
		`"user":"192.0.2.7","comment":"hé \"x\"","isAnonymous":true,"isMinor":true,"isNew":true,"isRobot":true,"isUnpatrolled":false,"added":36,"deleted":6,"delta":30}`
	changeEdit = `{"$schema":"/mediawiki/recentchange/1.0.0","meta":{"domain":"de.wikipedia.org","offset":1},"id":5,"type":"edit","namespace":0,` +
		`"title":"Köln: Dom","comment":"c","timestamp":1700000000,"user":"2001:DB8::1","bot":true,"minor":true,"patrolled":false,` +
		`"length":{"old":100,"new":70},"revision":{"old":1,"new":2},"server_name":"de.wikipedia.org","wiki":"dewiki"}`
	changeNew = `{"type":"new","namespace":3,"title":"User talk:Bo","comment":"","timestamp":1700000000,"user":"~2025-12345-6","bot":false,"minor":false,"length":{"old":null,"new":70},"wiki":"enwiki"}`
	changeLog = `{"type":"log","namespace":2,"title":"User:Bo","comment":"","timestamp":1700000000,"user":"Bo","bot":false,"wiki":"enwiki","log_type":"newusers","log_params":[]}`
	canary    = `{"meta":{"domain":"canary"},"type":"edit","namespace":0,"title":"x","comment":"","timestamp":1700000000,"user":"Bo","wiki":"enwiki"}`
)

var (
	tickerWant = Edit{
		UserName: "192.0.2.7", UserIsAnonymous: true, UserIsBot: true,
		PageTitle: "Ann: b", PagePrefixedTitle: "User talk:Ann: b", PageNamespace: 3, PageIsNew: true,
		Summary: `hé "x"`, EditIsMinor: true, AddedSize: 36, RemovedSize: 6, EditDelta: 30,
		Wiki: "enwiki", Timestamp: 1442018818, at: time.Date(2015, 9, 12, 0, 46, 58, 771e6, time.UTC),
	}
	changeWant = Edit{
		UserName: "2001:DB8::1", UserIsAnonymous: true, UserIsBot: true,
		PageTitle: "Köln: Dom", PagePrefixedTitle: "Köln: Dom", Summary: "c", EditIsMinor: true,
		RemovedSize: 30, EditDelta: -30, Wiki: "dewiki", Timestamp: 1700000000, at: time.Unix(1700000000, 0).UTC(),
	}
	newWant = Edit{
		UserName: "~2025-12345-6", PageTitle: "Bo", PagePrefixedTitle: "User talk:Bo", PageNamespace: 3, PageIsNew: true,
		AddedSize: 70, EditDelta: 70, Wiki: "enwiki", Timestamp: 1700000000, at: time.Unix(1700000000, 0).UTC(),
	}
)

func TestDecodeLine(t *testing.T) {
	tests := []struct {
		rule string
		line string
		want content
		edit Edit
	}{
		{"a wikiticker edit", tickerEdit, anEdit, tickerWant},
		{"a recentchange edit; its sizes are the change of length", changeEdit, anEdit, changeWant},
		{"a recentchange of type new; a temporary account is not anonymous", changeNew, anEdit, newWant},
		{"a data line of an event stream", "data: " + changeEdit, anEdit, changeWant},
		{"the space after data: may be missing", "data:" + changeEdit, anEdit, changeWant},
		{"a byte order mark and white space are no part of it", "\ufeff \t" + changeEdit + " \r", anEdit, changeWant},
		{"a log entry is no edit", changeLog, noEdit, Edit{}},
		{"a categorization is no edit", `{"type":"categorize","wiki":"enwiki"}`, noEdit, Edit{}},
		{"a canary event is no edit", canary, noEdit, Edit{}},
		{"a blank line is nothing", "  ", nothing, Edit{}},
		{"the other lines of an event stream are nothing: event", "event: message", nothing, Edit{}},
		{"the other lines of an event stream are nothing: id", `id: [{"topic":"codfw.mediawiki.recentchange","partition":0}]`, nothing, Edit{}},
		{"the other lines of an event stream are nothing: comment", ":ok", nothing, Edit{}},
		{"the other lines of an event stream are nothing: retry", "retry: 1000", nothing, Edit{}},
		{"an empty data line is nothing", "data:", nothing, Edit{}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			var edit Edit
			got, err := decodeLine([]byte(tt.line), &edit)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.edit, edit)
		})
	}
}

func TestDecodeLineSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ rule, line, reason string }{
		{"not JSON", "hello", "invalid character 'h' looking for beginning of value"},
		{"half a line", `{"channel":"#en`, "unexpected end of JSON input"},
		{"two values", `{} {}`, "invalid character '{' after top-level value"},
		{"JSON of another kind", `[1]`, "the line is not a JSON object"},
		{"null", `null`, errNotEvent.Error()},
		{"an object of another kind", `{"a":1}`, errNotEvent.Error()},
		{"a type without a wiki", `{"type":"edit"}`, errNotEvent.Error()},
		{"a field of the wrong kind", `{"channel":"#en.wikipedia","added":"x"}`, `the field "added" has a value of the wrong kind: string`},
		{"a field of the wrong kind, inside", `{"type":"edit","wiki":"w","length":{"new":[]}}`, `the field "length.new" has a value of the wrong kind: array`},
		{"a namespace of the wrong kind", `{"type":"edit","wiki":"w","namespace":{}}`, `the field "namespace" has a value of the wrong kind: object`},
		{"not UTF-8", "{\"channel\":\"#en.wikipedia\",\"user\":\"\xff\"}", "the line is not UTF-8"},
		{"wikiticker: no time", `{"channel":"#en.wikipedia"}`, "the edit has no time"},
		{"wikiticker: time of another form", `{"channel":"#en.wikipedia","time":"yesterday"}`, `the time "yesterday" is not RFC 3339`},
		{"wikiticker: time before any wiki", `{"channel":"#en.wikipedia","time":"0001-01-01T00:00:00Z"}`, "the time 0001-01-01T00:00:00Z is not in the years 2001 to 2099"},
		{"wikiticker: time after all", `{"channel":"#en.wikipedia","time":"2100-01-01T00:00:00Z"}`, "the time 2100-01-01T00:00:00Z is not in the years 2001 to 2099"},
		{"wikiticker: channel of another form", `{"channel":"chat","time":"2015-09-12T00:46:58Z"}`, `the channel "chat" is not like "#en.wikipedia"`},
		{"recentchange: no time", `{"type":"edit","wiki":"w","title":"t"}`, "the edit has no time"},
		{"recentchange: no title", `{"type":"edit","wiki":"w","timestamp":1700000000}`, "the edit has no title"},
		{"recentchange: time in milliseconds", `{"type":"edit","wiki":"w","title":"t","timestamp":1700000000000}`, "the time 55840-11-08T22:13:20Z is not in the years 2001 to 2099"},
		{"recentchange: time that is a string", `{"type":"edit","wiki":"w","title":"t","timestamp":"1700000000"}`, `the field "timestamp" has a value of the wrong kind: string`},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := decodeLine([]byte(tt.line), &Edit{})
			require.EqualError(t, err, tt.reason)
		})
	}
}

func TestChannelWiki(t *testing.T) {
	tests := []struct{ channel, want string }{
		{"#en.wikipedia", "enwiki"},
		{"en.wikipedia", "enwiki"},
		{"#zh-min-nan.wikipedia", "zh_min_nanwiki"},
		{"#fr.wiktionary", "frwiktionary"},
		{"#commons.wikimedia", "commonswiki"},
		{"#www.wikidata", "wikidatawiki"},
	}
	for _, tt := range tests {
		got, err := channelWiki(tt.channel)
		require.NoError(t, err)
		require.Equal(t, tt.want, got, tt.channel)
	}
	for _, wrong := range []string{"", "#", "#en", "#.wikipedia", "#en."} {
		_, err := channelWiki(wrong)
		require.Error(t, err, wrong)
	}
}

func TestNamespaceNumber(t *testing.T) {
	tests := []struct {
		name string
		want int
	}{
		{"Main", 0}, {"", 0}, {"Talk", 1}, {"User", 2}, {"User talk", 3}, {"user_Talk", 3}, {"Wikipedia", 4}, {"Project talk", 5},
		{"File", 6}, {"Template", 10}, {"Category talk", 15}, {"Draft", 118}, {"Module", 828}, {"Benutzer", unknownNamespace},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, namespaceNumber(tt.name), tt.name)
	}
}

func TestSetTitleTakesTheNamespaceOffTheTitle(t *testing.T) {
	tests := []struct {
		title     string
		namespace int
		want      string
	}{
		{"Star Trek: Picard", 0, "Star Trek: Picard"},
		{"Talk:Star Trek: Picard", 1, "Star Trek: Picard"},
		{"Benutzer:Ann", unknownNamespace, "Ann"},
		{"No prefix", 2, "No prefix"},
	}
	for _, tt := range tests {
		var edit Edit
		edit.setTitle(tt.title, tt.namespace)
		require.Equal(t, tt.want, edit.PageTitle)
		require.Equal(t, tt.title, edit.PagePrefixedTitle)
	}
}

// A line of any bytes is decoded or refused, and an edit that is decoded is whole.
func FuzzDecodeLine(f *testing.F) {
	for _, line := range []string{tickerEdit, changeEdit, "data: " + changeNew, changeLog, canary, ":ok", "null", "[]", `{"namespace":1e99}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var edit Edit
		what, err := decodeLine(line, &edit)
		if err != nil || what != anEdit {
			return
		}
		require.NotEmpty(t, edit.Wiki)
		require.False(t, edit.at.Before(earliestEdit) || !edit.at.Before(latestEdit))
		require.Equal(t, edit.at.Unix(), int64(edit.Timestamp))
	})
}
