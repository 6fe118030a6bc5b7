// Package jsonl reads and writes JSON lines: files with one JSON object on each line. One field of
// it is the text of a document. [Format] is for [corpus.NewSource] and a run.
//
// Its promises:
//
//   - JSON is read strictly: everything refused by encoding/json is refused, and so are invalid
//     UTF-8 and a wanted field that occurs twice. A lone surrogate escape becomes U+FFFD, as in
//     encoding/json.
//   - A line ends with '\n'; a '\r' before that belongs to it. Blank lines are no records, but they
//     are counted.
//   - An annotation is added at the end of the object; all other bytes of the
//     line, white space included, stay as they are.
package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is JSON lines. Its zero value reads the fields "text" and "id".
type Format struct {
	corpus.Lines
	Fields Fields
}

// Fields names the fields of a JSON object that make a document.
//
// A name with dots, such as "metadata.url", is a path through nested objects,
// unless the object has a field of that very name, which wins.
type Fields struct {
	Text string // "" means "text"
	ID   string // "" means "id"
	Time string // when the document was made, RFC 3339 or Unix seconds; "" for none
}

var _ corpus.Format = Format{}

// Name is "JSON lines".
func (Format) Name() string { return "JSON lines" }

// Endings are those of JSON lines in the wild.
func (Format) Endings() []string { return []string{".jsonl", ".ndjson", ".json"} }

// Recognize recognizes lines of JSON by the brace of the first.
func (Format) Recognize(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	i := skipSpace(head, 0)
	for i < len(head) && head[i] == '\n' {
		i = skipSpace(head, i+1)
	}
	return i < len(head) && head[i] == '{'
}

// NewParser returns a parser for one goroutine. It fails when the path of a field
// is longer than 32 names.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	return newParser(f.Fields, annotate)
}

// Cutter returns that of lines of JSON.
func (Format) Cutter() corpus.Cutter { return cutter{} }

type cutter struct{ corpus.LineCutter }

// Begin rejects UTF-16 without a byte order mark, too.
func (c cutter) Begin(head []byte) (passed int, reject string) {
	if bytes.HasPrefix(head, []byte("{\x00")) || bytes.HasPrefix(head, []byte("\x00{")) {
		return 0, corpus.RejectUTF16
	}
	return c.LineCutter.Begin(head)
}

var newline = []byte{'\n'}

// Strip takes the '\n' of a line away. Lines of nothing but white space are empty.
func (cutter) Strip(line []byte) (raw []byte, empty bool) {
	line = bytes.TrimSuffix(line, newline)
	return line, skipSpace(line, 0) == len(line)
}

// Annotate writes a line with one more field.
func (Format) Annotate(w *output.Writer, raw []byte, at corpus.Slot, value []byte) error {
	return w.WriteRecord(raw[:at.At], at.Lead, value, raw[at.At:], newline)
}

// Answer writes an object of one field.
func (Format) Answer(w *output.Writer, _ []byte, field string, value []byte) error {
	return w.WriteRecord([]byte{'{'}, leads(field)[0], value, []byte("}\n"))
}

// leads returns the text before the value of an added field: in an object without members, and in
// one with some.
func leads(field string) [2][]byte {
	name, err := json.Marshal(field)
	if err != nil {
		panic(err) // a string
	}
	name = append(name, ':')
	return [2][]byte{name, append([]byte{','}, name...)}
}

// slotOf returns the place for one more field at the end of the object raw. It
// returns an error when raw is not a JSON object or has a field of that name
// already: two fields of one name mean different things to different readers.
func slotOf(raw []byte, field string, leads *[2][]byte) (corpus.Slot, error) {
	empty, err := checkFree(raw, field)
	if err != nil {
		return corpus.Slot{}, err
	}
	slot := corpus.Slot{At: bytes.LastIndexByte(raw, '}'), Lead: leads[1]}
	if empty {
		slot.Lead = leads[0]
	}
	return slot, nil
}

// checkFree checks that raw is an object without the field, and reports whether it has no field at
// all.
func checkFree(raw []byte, field string) (empty bool, err error) {
	empty, taken := true, false
	err = scanLine(raw, func(b []byte, key value, i, depth int) (int, error) {
		name := b[key.start:key.end]
		if key.escaped && len(name) <= maxEscape*len(field) {
			name, _, _ = decodeString(nil, b[:key.end+1], key.start)
		}
		empty, taken = false, taken || string(name) == field
		_, end, err := scanValue(b, i, depth)
		return end, err
	})
	if err == nil && taken {
		err = fmt.Errorf("the line already has a field %q", field)
	}
	if err != nil {
		return false, fmt.Errorf("adding field %q: %w", field, err)
	}
	return empty, nil
}
