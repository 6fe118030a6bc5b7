// Package jsonl reads and writes JSON lines: files with one JSON object per line. One field of the
// object is the text of a document. [Format] is an argument of [corpus.NewSource].
//
// The package promises:
//
//   - JSON is read strictly: it rejects all that encoding/json rejects, invalid UTF-8, and a wanted
//     field that occurs twice. A lone surrogate escape becomes U+FFFD, as in encoding/json.
//   - A line ends with '\n'; a preceding '\r' belongs to the line. Blank lines are no records, but
//     are counted.
//   - An annotation is added at the end of the object; all other bytes of the line, including white
//     space, are unchanged.
package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// Format is JSON lines. Its zero value reads the fields "text" and "id".
type Format struct {
	corpus.Lines
	Fields Fields
}

// Fields names the fields of a JSON object that make up a document. A name with dots, such as
// "metadata.url", is a path through nested objects. A field with that very name takes precedence.
type Fields struct {
	Text string             // "" means "text"; of several names with commas between them, the texts are joined
	ID   string             // "" means "id"
	Time string             // creation time, RFC 3339 or Unix seconds; "" for none
	HTML string             // the field of Text whose value is a page; "" for none
	Page func() corpus.Text // makes the text of a page, called once for each parser
}

var _ corpus.Format = Format{}

func (Format) Name() string { return "JSON lines" }

func (Format) Endings() []string { return []string{".jsonl", ".ndjson", ".json"} }

// Recognize recognizes JSON lines by the brace of the first line.
func (Format) Recognize(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte(lexical.ByteOrderMark))
	i := skipSpace(head, 0)
	return i < len(head) && head[i] == '{'
}

// NewParser returns a parser for one goroutine. More than 16 text fields are an error, and a path of
// more than 32 names.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	return newParser(f.Fields, annotate)
}

// Cutter returns a LineCutter that removes only '\n', and also rejects UTF-16 by its first brace.
func (Format) Cutter() corpus.Cutter { return cutter{} }

type cutter struct{ corpus.LineCutter }

func (c cutter) Begin(head []byte) (passed int, reject string) {
	if bytes.HasPrefix(head, []byte("{\x00")) || bytes.HasPrefix(head, []byte("\x00{")) {
		return 0, lexical.RejectUTF16
	}
	return c.LineCutter.Begin(head)
}

var newline = []byte{'\n'}

// Strip removes the '\n' of a line. Lines of white space are empty.
func (cutter) Strip(line []byte) (raw []byte, empty bool) {
	line = bytes.TrimSuffix(line, newline)
	return line, skipSpace(line, 0) == len(line)
}

// Annotate writes a line with an additional field.
func (Format) Annotate(w *output.Writer, raw []byte, at corpus.Slot, value []byte) error {
	return w.WriteRecord(raw[:at.At], at.Lead, value, raw[at.At:], newline)
}

// Answer writes an object with a single field.
func (Format) Answer(w *output.Writer, _ []byte, field string, value []byte) error {
	return w.WriteElement([]byte{'{'}, lead(field), value, []byte{'}'})
}

// lead returns the JSON before the value of a field.
func lead(field string) []byte {
	name, _ := json.Marshal(field) // never fails for a string
	return append(name, ':')
}

// Cut appends a record to dst, without some ranges of its text. The ranges are in bytes of the
// decoded text, ascending and disjoint. If mark is set, they are kept between >>> and <<<. All
// other bytes of the record are unchanged.
func (f Format) Cut(dst, raw []byte, ranges [][2]int, mark bool) ([]byte, error) {
	p, err := newParser(f.Fields, "")
	if err != nil {
		return dst, err
	}
	if p.joins() {
		return dst, errors.New("the text is made of several fields, or of a page")
	}
	p.block = &corpus.Block{Data: raw}
	defer p.block.Release()
	if err := p.scan(raw); err != nil {
		return dst, err
	}
	text := p.targets[p.found(textLiteral, textPath)].value
	if text.kind != kindString {
		return dst, fmt.Errorf("field %q is not a string", p.fields.Text)
	}
	at, from := text.start, 0 // index in raw, and the end of the part appended
	decoded := 0
	forward := func(to int) error {
		for decoded < to && at < text.end {
			n, size := decodedCharacter(raw[at:text.end])
			at, decoded = at+n, decoded+size
		}
		if decoded != to {
			return fmt.Errorf("a passage begins or ends inside a character of the text, or after the text")
		}
		return nil
	}
	for _, r := range ranges {
		if err := forward(r[0]); err != nil {
			return dst, err
		}
		dst = append(dst, raw[from:at]...)
		from = at
		if err := forward(r[1]); err != nil {
			return dst, err
		}
		if mark {
			dst = slices.Concat(dst, []byte(">>>"), raw[from:at], []byte("<<<"))
		}
		from = at
	}
	return append(dst, raw[from:]...), nil
}

// decodedCharacter returns the length of the first character in b, both as written and decoded.
func decodedCharacter(b []byte) (written, size int) {
	switch {
	case b[0] != '\\':
		_, size = utf8.DecodeRune(b)
		return size, size
	case b[1] != 'u':
		return 2, 1
	}
	var decoded [utf8.UTFMax]byte
	written, size, _ = decodeUnicode(decoded[:], b, 0, 0) // already validated
	return written, size
}
