package main

import (
	"encoding/json"
	"strings"
)

const (
	mainNamespace = 0

	// unknownNamespace stands for a namespace that an event gives by a name in the wiki's own
	// language, such as "Benutzer". Those names differ by wiki and are not listed here, so such a page
	// is known to be outside the main namespace and no more. MediaWiki uses no number below -2.
	unknownNamespace = -100
)

// namespaceNumbers has MediaWiki's canonical names, and the English ones that Wikipedias and
// common extensions add, in lower case.
var namespaceNumbers = map[string]int{
	"": mainNamespace, "main": mainNamespace, "talk": 1,
	"media": -2, "special": -1,
	"user": 2, "user talk": 3,
	"project": 4, "project talk": 5, "wikipedia": 4, "wikipedia talk": 5,
	"file": 6, "file talk": 7, "image": 6, "image talk": 7,
	"mediawiki": 8, "mediawiki talk": 9,
	"template": 10, "template talk": 11,
	"help": 12, "help talk": 13,
	"category": 14, "category talk": 15,
	"portal": 100, "portal talk": 101,
	"book": 108, "book talk": 109,
	"draft": 118, "draft talk": 119,
	"education program": 446, "education program talk": 447,
	"timedtext": 710, "timedtext talk": 711,
	"module": 828, "module talk": 829,
	"gadget": 2300, "gadget talk": 2301, "topic": 2600,
}

// namespaceNumber returns the number of a namespace's name; underscores are spaces.
func namespaceNumber(name string) int {
	number, ok := namespaceNumbers[strings.ToLower(strings.ReplaceAll(name, "_", " "))]
	if !ok {
		return unknownNamespace
	}
	return number
}

// A namespace is read from a number or a name: the two formats of the input have one each.
type namespace int

// UnmarshalJSON implements [json.Unmarshaler].
func (n *namespace) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*int)(n))
	}
	var name string
	if err := json.Unmarshal(data, &name); err != nil {
		return err
	}
	*n = namespace(namespaceNumber(name))
	return nil
}
