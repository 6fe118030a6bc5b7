package jsonl

import (
	"bytes"

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
	if isUTF16(head) {
		return 0, corpus.RejectUTF16
	}
	return c.LineCutter.Begin(head)
}

// isUTF16 looks for an opening brace of two bytes.
func isUTF16(head []byte) bool {
	if len(head) < 2 {
		return false
	}
	switch [2]byte(head) {
	case [2]byte{'{', 0}, [2]byte{0, '{'}:
		return true
	}
	return false
}

var newline = []byte{'\n'}

// Strip takes the '\n' of a line away. Lines of nothing but white space are empty.
func (cutter) Strip(line []byte) (raw []byte, empty bool) {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
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
