// Package nested reads documents inside larger values of JSON, such as the answers of programs on the
// web: a path such as data.cards.*.mblog leads to each. The values are lines, or those of an array,
// or stand behind one another.
//
// A value is looked at as a whole, so it may be as long as a record. A value of invalid JSON is a
// bad record, and so is one in which the path leads nowhere before its first "*". Behind that,
// values the path does not lead to are passed over, and so is null.
//
// The place of a record has the number of the value as its part, and its number in that.
// Records are read as lines of [jsonl] are, with fields of their own. They are written byte for
// byte, without line ends and the white space behind these.
package nested

import (
	"bytes"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
)

// Format is records inside of values of JSON.
type Format struct {
	jsonarray.Format // of the fields of records, and how they are written
	Path             jsonl.Path
	Values           Values
}

// Values selects the layout of the values.
type Values uint8

const (
	Lines  Values = iota // one on each line
	Array                // in an array, which is the whole file
	Stream               // behind one another, each on any number of lines
)

var (
	_ corpus.Format     = Format{}
	_ corpus.Framer     = Format{}
	_ corpus.Recognizer = Format{}
	_ corpus.Numbered   = (*frames)(nil)
)

// Name is "JSON with records inside", whatever the layout of the values: inputs may differ in that.
func (Format) Name() string { return "JSON with records inside" }

// Endings returns the endings of JSON.
func (Format) Endings() []string { return jsonl.Format{}.Endings() }

// Recognize recognizes an array by its brackets, unless each line is one. It recognizes values on
// several lines by the first line, which ends inside of an object.
func (f Format) Recognize(head []byte) bool {
	switch f.Values {
	case Array:
		return f.Format.Recognize(head) && !jsonarray.OnEachLine(head)
	case Stream:
		first, _, whole := bytes.Cut(bytes.TrimPrefix(head, []byte(byteOrderMark)), []byte("\n"))
		return whole && jsonarray.EndsInside(first)
	}
	return jsonl.Format{}.Recognize(head) || jsonarray.OnEachLine(head)
}

// Frames returns frames that find the records of an input.
func (f Format) Frames(maxRecord int) corpus.Frames {
	found := &frames{path: f.Path}
	switch f.Values {
	case Lines:
		found.values = &lines{maxRecord: maxRecord}
	case Array:
		found.values = f.Format.Frames(maxRecord)
	case Stream:
		found.values = jsonarray.Format{Stream: true}.Frames(maxRecord)
	}
	return found
}
