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
	return w.WriteElement([]byte{'{'}, lead(field), value, []byte{'}'})
}

// lead is the text before the value of a field.
func lead(field string) []byte {
	name, err := json.Marshal(field)
	if err != nil {
		panic(err) // a string
	}
	return append(name, ':')
}
