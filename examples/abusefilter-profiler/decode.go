package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// A content is what a line of input turned out to hold.
type content int

const (
	nothing content = iota // blank, or the framing of an event stream
	anEdit
	noEdit // an event of another kind
)

var (
	errNotUTF8   = errors.New("the line is not UTF-8")
	errNotEvent  = errors.New("neither a wikiticker edit (it has a channel) nor a recentchange event (it has a type and a wiki)")
	errNotObject = errors.New("the line is not a JSON object")
)

// A record has the fields of both formats: many names are common to them, and a line that has a
// channel is a wikiticker edit.
type record struct {
	Namespace namespace `json:"namespace"`
	User      string    `json:"user"`
	Comment   string    `json:"comment"`

	// wikiticker
	Time        string `json:"time"`
	Channel     string `json:"channel"`
	Page        string `json:"page"`
	IsAnonymous bool   `json:"isAnonymous"`
	IsMinor     bool   `json:"isMinor"`
	IsNew       bool   `json:"isNew"`
	IsRobot     bool   `json:"isRobot"`
	Added       int    `json:"added"`
	Deleted     int    `json:"deleted"`
	Delta       int    `json:"delta"`

	// recentchange
	Type      string `json:"type"`
	Title     string `json:"title"`
	Bot       bool   `json:"bot"`
	Minor     bool   `json:"minor"`
	Timestamp int64  `json:"timestamp"`
	Wiki      string `json:"wiki"`
	Length    struct {
		Old int `json:"old"`
		New int `json:"new"`
	} `json:"length"`
	Meta struct {
		Domain string `json:"domain"`
	} `json:"meta"`
}

// decodeLine reads one line of either format, bare or as a data line of an event stream, into edit.
func decodeLine(line []byte, edit *Edit) (content, error) {
	line = payload(line)
	if len(line) == 0 {
		return nothing, nil
	}
	if !utf8.Valid(line) {
		return nothing, errNotUTF8
	}
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nothing, plainJSONError(err)
	}
	if r.Channel != "" {
		return anEdit, r.wikiticker(edit)
	}
	if r.Type == "" || r.Wiki == "" {
		return nothing, errNotEvent
	}
	return r.recentChange(edit)
}

var (
	byteOrderMark = []byte("\ufeff")
	dataField     = []byte("data:")
	otherFields   = [][]byte{[]byte(":"), []byte("event:"), []byte("id:"), []byte("retry:")}
)

// payload strips what an event stream puts around an event; what has no event is empty.
func payload(line []byte) []byte {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark))
	if data, ok := bytes.CutPrefix(line, dataField); ok {
		return bytes.TrimSpace(data)
	}
	for _, field := range otherFields {
		if bytes.HasPrefix(line, field) {
			return nil
		}
	}
	return line
}

// plainJSONError says it without the names of Go's types.
func plainJSONError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Field == "" && wrong.Type.Name() == "record" {
		return errNotObject
	}
	return fmt.Errorf("the field %q has a value of the wrong kind: %s", wrong.Field, wrong.Value)
}
