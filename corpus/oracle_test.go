package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The oracle reads a line with encoding/json into an ordered tree and looks
// the fields up there: slow, and obviously what the parser should do.

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

// oracleGet follows a path. A name on it that occurs twice makes it ambiguous.
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

// oracleParse returns id and text, or the reason why there are none.
func oracleParse(fields Fields, file string, line int64, raw []byte) (id, text, reason string) {
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
	textValue, _, twice := oracleField(object, fields.Text)
	idValue, idFound, idTwice := oracleField(object, fields.ID)
	if twice || idTwice {
		return "", "", "occurs twice"
	}
	text, isString := textValue.(string)
	if !isString {
		return "", "", fmt.Sprintf("field %q is", fields.Text)
	}
	switch v := idValue.(type) {
	case string:
		id = v
	case json.Number:
		id = v.String()
	case nil:
	default:
		return "", "", fmt.Sprintf("field %q is", fields.ID)
	}
	if !idFound || id == "" {
		id = fmt.Sprintf("%s:%d", file, line)
	}
	return id, text, ""
}

type oracleRecord struct {
	File     string
	Line     int64
	Raw      string
	ID, Text string
	Reason   string
}

// oracleLines reads a decoded input the plain way: all of it, cut at '\n'.
func oracleLines(fields Fields, file string, data []byte, maxLine int) []oracleRecord {
	var records []oracleRecord
	utf16 := isUTF16(data)
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for i, raw := range bytes.Split(data, []byte("\n")) {
		r := oracleRecord{File: file, Line: int64(i + 1), Raw: string(raw)}
		switch {
		case maxLine > 0 && len(raw) > maxLine:
			r.Reason = "longer than the limit"
			r.Raw = string(raw[:min(maxLine+1, overlongHead)])
		case len(raw) == 0:
			continue
		case utf16:
			r.Reason = "UTF-16"
		case len(bytes.Trim(raw, " \t\r")) == 0:
			continue
		default:
			r.ID, r.Text, r.Reason = oracleParse(fields, file, r.Line, raw)
		}
		records = append(records, r)
	}
	return slices.Clip(records)
}
