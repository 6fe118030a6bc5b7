package jsonl

import (
	"bytes"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is JSON lines. Its zero value reads the fields "text" and "id".
type Format struct{ Fields Fields }

// Fields names the fields of a JSON object that make a document.
//
// A name with dots, such as "metadata.url", is a path through nested objects,
// unless the object has a field of that very name, which wins.
type Fields struct {
	Text string // "" means "text"
	ID   string // "" means "id"
	Time string // when the document was made, RFC 3339 or Unix seconds; "" for none
}

var (
	_ corpus.Format = Format{}
	_ corpus.Cutter = Format{}
)

// Name is "JSON lines".
func (Format) Name() string { return "JSON lines" }

// Endings are those of JSON lines in the wild.
func (Format) Endings() []string { return []string{".jsonl", ".ndjson", ".json"} }

// Noun is "line".
func (Format) Noun() string { return "line" }

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

// Begin passes over a byte order mark, and rejects UTF-16.
func (Format) Begin(head []byte) (passed int, reject string) {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return 3, ""
	case isUTF16(head):
		return 0, "the file is UTF-16, not UTF-8: say so with --encoding utf-16le or utf-16be"
	}
	return 0, ""
}

// isUTF16 looks for a byte order mark, or an opening brace of two bytes.
func isUTF16(head []byte) bool {
	if len(head) < 2 {
		return false
	}
	switch [2]byte(head) {
	case [2]byte{0xff, 0xfe}, [2]byte{0xfe, 0xff}, [2]byte{'{', 0}, [2]byte{0, '{'}:
		return true
	}
	return false
}

var newline = []byte{'\n'}

// Cut counts whole lines.
func (Format) Cut(data []byte, most int) (end, lines int) {
	if most == 1 {
		end = bytes.IndexByte(data, '\n') + 1
		return end, min(end, 1)
	}
	end = bytes.LastIndexByte(data, '\n') + 1
	if lines = bytes.Count(data[:end], newline); lines <= most {
		return end, lines
	}
	end = 0
	for range most {
		end += bytes.IndexByte(data[end:], '\n') + 1
	}
	return end, most
}

// End looks for the end of a line.
func (Format) End(data []byte, from int) int {
	i := bytes.IndexByte(data[from:], '\n')
	if i < 0 {
		return -1
	}
	return from + i + 1
}

// Terminator is '\n'.
func (Format) Terminator() []byte { return newline }

// Strip takes the '\n' of a line away. Lines of nothing but white space are empty.
func (Format) Strip(line []byte) (raw []byte, empty bool) {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	return line, skipSpace(line, 0) == len(line)
}

// Keep writes a line as it came.
func (Format) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(raw, newline) }

// Annotate writes a line with one more field.
func (Format) Annotate(w *output.Writer, raw []byte, at corpus.Slot, value []byte) error {
	return w.WriteRecord(raw[:at.At], at.Lead, value, raw[at.At:], newline)
}

// Answer writes an object of one field.
func (Format) Answer(w *output.Writer, field string, value []byte) error {
	return w.WriteRecord([]byte{'{'}, leads(field)[0], value, []byte("}\n"))
}
