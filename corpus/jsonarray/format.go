// Package jsonarray reads JSON files that consist of one array, [{...}, {...}]. Each value is a
// record, parsed like a line of [jsonl]. Values are in memory one after the other, never the array.
//
// Brackets and strings separate the records. Each is parsed alone, so invalid JSON spoils only its
// own record. Bytes that cannot belong to an array end the reading. Places number the records.
package jsonarray

import (
	"bytes"
	"fmt"

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
	return jsonl.Format{Fields: f.Fields}.NewParser(annotate)
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

const space = " \t\r\n"

// expected is the part of the array that may come next.
type expected uint8

const (
	wantArray expected = iota // the opening bracket
	wantFirst                 // a value or the closing bracket
	wantValue                 // a value, after a comma
	wantComma                 // a comma or the closing bracket
	wantEnd                   // nothing
	inLong                    // the rest of a record longer than the limit
)

// frames finds the values of one array.
type frames struct {
	corpus.NumberedFrames
	maxRecord int
	stream    bool // the records are not in an array
	arrays    bool // outputs are arrays
	want      expected
	number    int64 // of the last record
	value     value
}

// Head opens the array of an output, once that of the input is open.
func (f *frames) Head() (head []byte, has bool) {
	if f.arrays && f.want != wantArray {
		head = []byte(output.ArrayHead)
	}
	return head, f.arrays
}

// Frame returns the next frame: white space, a part of the array, or a record.
func (f *frames) Frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	switch {
	case f.Damaged():
		return corpus.BadRest(data, end, f.number+1, "it comes after damaged data, so the start of a record cannot be found")
	case f.want == inLong:
		return f.restOfLong(data, end)
	case f.want == wantArray && bytes.HasPrefix(data, []byte(lexical.ByteOrderMark)):
		return corpus.Frame{Pass: len(lexical.ByteOrderMark)}
	case f.want == wantArray && len(data) < len(lexical.ByteOrderMark) && data[0] == lexical.ByteOrderMark[0] && end == corpus.GoesOn:
		return corpus.Frame{Need: len(lexical.ByteOrderMark)}
	case f.want == wantArray && f.stream:
		f.want = wantValue
	}
	if n := len(data) - len(bytes.TrimLeft(data, space)); n > 0 {
		return corpus.Frame{Pass: n}
	}
	var next expected
	switch c := data[0]; {
	case f.want == wantArray && c == '[':
		next = wantFirst
	case (f.want == wantFirst || f.want == wantComma) && c == ']':
		next = wantEnd
	case f.want == wantComma && c == ',':
		next = wantValue
	case (f.want == wantFirst || f.want == wantValue) && c != ',' && c != ']' && c != '}' && c != ':':
		return f.record(data, end)
	default:
		rest := corpus.BadRest(data, end, f.number+1, [...]string{
			"the file is not a JSON array: it does not begin with [", "expected a record here",
			"expected a record here", "expected a comma or ] after a record", "something follows the array: if each line is an array, read them with jq -c '.[]' FILE | firstseen ... -",
		}[f.want])
		if rest.Bad != "" {
			f.want = wantEnd
		}
		return rest
	}
	f.want = next
	return corpus.Frame{Pass: 1}
}

// Unfinished returns what the end of the input lacks, unless the last record says so; "" for nothing.
func (f *frames) Unfinished() string {
	if f.stream || f.want != wantFirst && f.want != wantValue && f.want != wantComma {
		return ""
	}
	return "the array ends without its ]: the file was cut off; fetch it again"
}

// record returns the value at the start of data.
func (f *frames) record(data []byte, end corpus.SectionEnd) corpus.Frame {
	n, whole := f.value.scan(data[:min(len(data), f.maxRecord+1)])
	switch {
	case whole && n <= f.maxRecord:
		return f.hand(n, "")
	case n <= f.maxRecord && end == corpus.GoesOn:
		return corpus.Frame{Need: len(data) + 1}
	case n <= f.maxRecord:
		fr := f.hand(n, "the file ends inside the record")
		f.want = wantEnd
		return fr
	}
	long := f.value
	fr := f.hand(n, fmt.Sprintf("the record is longer than the limit of %d bytes", f.maxRecord))
	if !whole {
		long.seen = 0
		f.want, f.value = inLong, long
	}
	return fr
}

// hand returns a frame with a record of n bytes.
func (f *frames) hand(n int, bad string) corpus.Frame {
	f.number++
	f.recorded()
	return corpus.Frame{Take: n, Pass: n, Record: true, Bad: bad, Number: f.number}
}

// recorded prepares for the data after a record.
func (f *frames) recorded() {
	if f.want, f.value = wantComma, (value{}); f.stream {
		f.want = wantValue
	}
}

// restOfLong skips the rest of a record longer than the limit.
func (f *frames) restOfLong(data []byte, end corpus.SectionEnd) corpus.Frame {
	n, whole := f.value.scan(data)
	f.value.seen = 0
	if whole {
		f.recorded()
	}
	if n == 0 { // only the byte that ended it is left
		return f.Frame(data, end)
	}
	return corpus.Frame{Pass: n}
}

// value is the state of scanning a value.
type value struct {
	depth             int
	inString, escaped bool
	bare              bool // not an object, array or string
	seen              int  // bytes scanned
}

// scan continues after v.seen bytes of data. n is the index after the value or after the data.
func (v *value) scan(data []byte) (n int, whole bool) {
	for ; v.seen < len(data); v.seen++ {
		c := data[v.seen]
		switch {
		case v.escaped:
			v.escaped = false
		case v.inString:
			v.escaped, v.inString = c == '\\', c != '"'
			if !v.inString && v.depth == 0 {
				return v.seen + 1, true
			}
		case v.bare:
			if c == ',' || c == ']' || bytes.IndexByte([]byte(space), c) >= 0 {
				return v.seen, true
			}
		case c == '"':
			v.inString = true
		case c == '{' || c == '[':
			v.depth++
		case c == '}' || c == ']':
			if v.depth--; v.depth == 0 {
				return v.seen + 1, true
			}
		case v.depth == 0:
			v.bare = true
		}
	}
	return v.seen, false
}
