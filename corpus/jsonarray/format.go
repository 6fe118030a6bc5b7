// Package jsonarray reads JSON files that consist of one array, [{...}, {...}]. Each value is a
// record, parsed like a line of [jsonl]. Values are in memory one after the other, never the array.
//
// Brackets and strings separate the records. Each is parsed alone, so invalid JSON spoils only its
// own record. Bytes that cannot belong to an array end the reading. Places number the records.
package jsonarray

import (
	"bytes"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// Format is JSON arrays. Its zero value reads the fields "text" and "id".
type Format struct {
	corpus.Framed
	Fields jsonl.Fields
	// Stream means consecutive records on any number of lines, without an array.
	Stream bool
	// Arrays makes outputs arrays, too, instead of lines.
	Arrays bool
}

var _ corpus.Format = Format{}

func (f Format) Name() string {
	if f.Stream {
		return "JSON values on several lines"
	}
	return "JSON arrays"
}

func (Format) Endings() []string { return []string{".json"} }

// Recognize recognizes an array by its bracket and the brace of its first object, or the closing
// bracket. It recognizes a stream by a lone brace on the first line, the way all programs write an
// object on several lines. The next line must continue an object.
func (f Format) Recognize(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte(lexical.ByteOrderMark))
	if f.Stream {
		first, rest, _ := bytes.Cut(head, []byte{'\n'})
		rest = bytes.TrimLeft(rest, space)
		return string(bytes.TrimRight(first, space)) == "{" && len(rest) > 0 && (rest[0] == '"' || rest[0] == '}')
	}
	head = bytes.TrimLeft(head, space)
	if len(head) == 0 || head[0] != '[' {
		return false
	}
	head = bytes.TrimLeft(head[1:], space)
	return len(head) > 0 && (head[0] == '{' || head[0] == ']')
}

// Frames returns a finder for the records of an array.
func (f Format) Frames(maxRecord int) corpus.Frames {
	return &frames{maxRecord: maxRecord, stream: f.Stream, arrays: f.Arrays}
}

// EndsInside reports whether data begins with an object and ends inside it, but not in a string.
// This applies to the first line of an object on several lines.
func EndsInside(data []byte) bool {
	var v value
	data = bytes.TrimLeft(data, space)
	_, whole := v.scan(data)
	return len(data) > 0 && data[0] == '{' && !whole && !v.inString
}

// NewParser returns a parser for one goroutine.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	return jsonl.Format{Fields: f.Fields}.NewSpanParser(annotate)
}

// Keep writes a record as a line, or unchanged to an array.
func (Format) Keep(w *output.Writer, raw []byte) error {
	if !w.IsArray() {
		raw = line(raw)
	}
	return w.WriteElement(raw)
}

// Annotate writes a record with an additional field.
func (Format) Annotate(w *output.Writer, raw []byte, at corpus.Slot, value []byte) error {
	before, after := raw[:at.At], raw[at.At:]
	if !w.IsArray() {
		before, after = line(before), line(after)
	}
	return w.WriteElement(before, at.Lead, value, after)
}

// Answer writes an object with a single field.
func (Format) Answer(w *output.Writer, _ []byte, field string, value []byte) error {
	return jsonl.Format{}.Answer(w, nil, field, value)
}

// line returns a record of valid JSON on one line. Strings escape line ends, so unescaped ones are
// white space, like the white space after them.
func line(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		i := bytes.IndexAny(raw, "\r\n")
		if i < 0 {
			return append(out, raw...)
		}
		out = append(out, raw[:i]...)
		raw = bytes.TrimLeft(raw[i:], space)
	}
	return out
}
