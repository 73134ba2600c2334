package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	yamlast "github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// defaultGroup is the group of a rule that names none.
const defaultGroup = "default"

// A ruleSpec is a rule as a file has it.
type ruleSpec struct {
	ID          string `json:"id" yaml:"id"`
	Group       string `json:"group" yaml:"group"`
	Description string `json:"description" yaml:"description"`
	Condition   string `json:"condition" yaml:"condition"`
}

const (
	ruleFields   = "id, group, description, condition"
	unknownField = "unknown field" // as both decoders say it
)

var (
	errNoRules = errors.New("there are no rules in it")
	errNoList  = errors.New("the file must be a list of rules")
	errNoRule  = errors.New("it is no rule; a rule has " + ruleFields)
)

// parseRules reads a list of rules: YAML, or JSON if the name ends in .json or the list starts as JSON
// does. It refuses fields it does not know, ids that are empty or repeated, and rules without a condition.
func parseRules(name string, data []byte) ([]ruleSpec, error) {
	decode := decodeYAML
	if isJSON(name, data) {
		decode = decodeJSON
	}
	specs, err := decode(bytes.TrimPrefix(data, byteOrderMark))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkSpecs(specs); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return specs, nil
}

func isJSON(name string, data []byte) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return true
	case ".yaml", ".yml":
		return false
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))
	return bytes.HasPrefix(data, []byte("[")) || bytes.HasPrefix(data, []byte("{"))
}

func checkSpecs(specs []ruleSpec) error {
	if len(specs) == 0 {
		return errNoRules
	}
	seen := map[string]bool{}
	for i := range specs {
		spec := &specs[i]
		switch {
		case spec.ID == "":
			return fmt.Errorf("rule %d of the list has no id", i+1)
		case seen[spec.ID]:
			return fmt.Errorf("the id %q is there twice", spec.ID)
		case strings.TrimSpace(spec.Condition) == "":
			return fmt.Errorf("rule %q has no condition", spec.ID)
		}
		seen[spec.ID] = true
		if spec.Group == "" {
			spec.Group = defaultGroup
		}
	}
	return nil
}

func decodeJSON(data []byte) ([]ruleSpec, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var specs []ruleSpec
	if err := decoder.Decode(&specs); err != nil {
		return nil, locateJSON(data, decoder.InputOffset(), err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, locateJSON(data, decoder.InputOffset(), errors.New("something follows the list of rules"))
	}
	return specs, nil
}

// locateJSON says where in a file an error is, as well as the decoder knows.
func locateJSON(data []byte, offset int64, err error) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset - 1
	case errors.As(err, &wrong) && wrong.Type.Kind() == reflect.Slice:
		return errNoList
	case errors.As(err, &wrong) && wrong.Field == "":
		offset, err = wrong.Offset, errNoRule
	case errors.As(err, &wrong):
		offset, err = wrong.Offset, fmt.Errorf("%q has a value of the wrong kind: %s", wrong.Field, wrong.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		offset, err = int64(len(data)), errors.New("the file ends before the list does")
	}
	line, column := position(data, offset)
	return fmt.Errorf("line %d, column %d: %s", line, column, withFields(strings.TrimPrefix(err.Error(), "json: ")))
}

// withFields names the fields of a rule to a message about one that there is not.
func withFields(message string) string {
	if !strings.HasPrefix(message, unknownField) {
		return message
	}
	return message + "; a rule has " + ruleFields
}

// position returns the line and column, from 1, of a byte of a text.
func position(data []byte, offset int64) (line, column int) {
	before := data[:min(max(offset, 0), int64(len(data)))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

func decodeYAML(data []byte) (specs []ruleSpec, err error) {
	defer func() {
		if r := recover(); r != nil { // the YAML package panics at some lists that are none, such as "!tag"
			specs, err = nil, fmt.Errorf("it is not YAML that can be read: %v", r)
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, locateYAML(err, nil)
	}
	documents := 0
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == yamlast.CommentType {
			continue
		}
		if documents++; documents > 1 {
			return nil, errors.New("something follows the list of rules")
		}
		if err := yaml.NodeToValue(doc.Body, &specs, yaml.DisallowUnknownField()); err != nil {
			return nil, locateYAML(err, doc.Body)
		}
	}
	return specs, nil
}

// locateYAML says an error of the YAML package in one line; body is what it was found in, if it could be parsed.
func locateYAML(err error, body yamlast.Node) error {
	if noList(body) {
		return errNoList
	}
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil || at.GetToken().Position == nil {
		return err
	}
	p := at.GetToken().Position
	return fmt.Errorf("line %d, column %d: %s", p.Line, p.Column, withFields(at.GetMessage()))
}

// noList says whether a document is certainly none.
func noList(body yamlast.Node) bool {
	switch body.(type) {
	case *yamlast.MappingNode, *yamlast.MappingValueNode, yamlast.ScalarNode:
		return true
	}
	return false
}
