package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The oracle reads a line with encoding/json into an ordered tree and looks up the fields there:
// slow, and obviously right.

type oracleMember struct {
	key   string
	value any // string, json.Number, nil, bool, []oracleMember (object), []any (array)
}

func oracleValue(dec *json.Decoder) any {
	tok, err := dec.Token()
	if err != nil {
		panic(err) // the caller has checked the syntax
	}
	switch tok {
	case json.Delim('{'):
		object := []oracleMember{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				panic(err)
			}
			object = append(object, oracleMember{key.(string), oracleValue(dec)})
		}
		_, _ = dec.Token()
		return object
	case json.Delim('['):
		array := []any{}
		for dec.More() {
			array = append(array, oracleValue(dec))
		}
		_, _ = dec.Token()
		return array
	}
	return tok
}

// oracleGet follows a path, and reports whether one of its names occurs twice.
func oracleGet(object []oracleMember, path []string) (v any, found, twice bool) {
	same := func(m oracleMember) bool { return m.key == path[0] }
	first := slices.IndexFunc(object, same)
	if first < 0 {
		return nil, false, false
	}
	twice = slices.ContainsFunc(object[first+1:], same)
	if len(path) == 1 {
		return object[first].value, true, twice
	}
	for _, m := range object {
		if below, isObject := m.value.([]oracleMember); isObject && same(m) {
			belowTwice := false
			v, found, belowTwice = oracleGet(below, path[1:])
			twice = twice || belowTwice
		}
	}
	return v, found, twice
}

func oracleField(object []oracleMember, name string) (v any, found, twice bool) {
	v, found, twice = oracleGet(object, []string{name})
	if path := strings.Split(name, "."); len(path) > 1 {
		below, belowFound, belowTwice := oracleGet(object, path)
		twice = twice || belowTwice
		if !found {
			v, found = below, belowFound
		}
	}
	return v, found, twice
}

// oracleParse returns id and text, or the reason why the line has none.
func oracleParse(textField, idField, file string, line int64, raw []byte) (id, text, reason string) {
	if !json.Valid(raw) {
		return "", "", "invalid JSON"
	}
	if !utf8.Valid(raw) {
		return "", "", "invalid UTF-8"
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	object, isObject := oracleValue(dec).([]oracleMember)
	if !isObject {
		return "", "", "not a JSON object"
	}
	textValue, _, twice := oracleField(object, textField)
	idValue, idFound, idTwice := oracleField(object, idField)
	if twice || idTwice {
		return "", "", "occurs twice"
	}
	text, isString := textValue.(string)
	if !isString {
		return "", "", fmt.Sprintf("field %q is", textField)
	}
	switch v := idValue.(type) {
	case string:
		id = v
	case json.Number:
		id = v.String()
	case nil:
	default:
		return "", "", fmt.Sprintf("field %q is", idField)
	}
	if !idFound || id == "" {
		id = fmt.Sprintf("%s:%d", file, line)
	}
	return id, text, ""
}

// oracleRecord is a document, or a line with the reason why it is none.
type oracleRecord struct {
	File     string
	Line     int64
	Raw      string
	ID, Text string
	Reason   string
}
