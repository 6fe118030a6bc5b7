// Package csv reads tables in text: CSV and TSV. Each row is a document.
//
// The rules are those of RFC 4180, adapted to tables in use: docs/manual.md has them. The separator is
// the one under which the first row names the column of the text; the first of these, if several do.
// Behind a quote that is not closed, and behind text after a closing one, reading goes on at the next
// line, since the intended end of the row is unknown.
//
// The place of a row is the line of the file in which it begins. Kept rows are written as they came,
// behind the first row of their input. If annotated, all rows are written, with three columns more.
package csv

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is CSV and TSV. Its zero value reads the columns "text" and, if there is one, "id".
type Format struct {
	corpus.Framed
	Text string // name of the column of the text; "" is "text"
	ID   string // of the id; "" is "id", if there is such a column
	Time string // of when the document was made, as corpus.ParseTime reads it; "" is none
	// Annotated has outputs begin with three more columns, for the verdicts of rows.
	Annotated bool
}

var _ corpus.Format = Format{}

func (f Format) text() string { return cmp.Or(f.Text, "text") }

func (Format) Name() string { return "CSV" }

func (Format) Endings() []string { return []string{".csv", ".tsv"} }

func (Format) Noun() string { return "row" }

var newline = []byte{'\n'}

// Frames returns frames that find the rows of an input.
func (f Format) Frames(maxRecord int) corpus.Frames {
	return &frames{format: f, maxRecord: maxRecord, line: 1}
}

// NewParser returns a parser for one goroutine. Rows can be annotated if outputs begin with
// the columns for that.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	if annotate != "" && !f.Annotated {
		return nil, errors.New("the first row of the output has no columns for verdicts")
	}
	return &parser{}, nil
}

// Keep writes a row as it came, and a line end behind the last of a file that lacks one.
func (Format) Keep(w *output.Writer, raw []byte) error {
	return w.WriteRecord(bytes.TrimSuffix(raw, newline), newline)
}
