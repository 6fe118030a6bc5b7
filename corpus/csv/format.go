// Package csv reads CSV and TSV tables. Each row is a document.
//
// The rules are those of RFC 4180, adapted to common tables: see docs/manual.md. The separator is
// the first for which the first row names the text column. After an unclosed quote, or text after a
// closing quote, reading resumes at the next line, since the intended end of the row is unknown.
//
// The place of a row is its first line in the file. Kept rows are written unchanged, after the
// first row of their input. Annotated outputs contain all rows, with three more columns.
package csv

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is CSV and TSV. Its zero value reads the column "text" and, if present, "id".
type Format struct {
	corpus.Framed
	Text string // name of the text column; "" means "text"
	ID   string // name of the id column; "" means "id", if present
	Time string // name of the creation time column, see corpus.ParseTime; "" means none
	// Annotated adds three columns for verdicts to the first row of outputs.
	Annotated bool
}

var _ corpus.Format = Format{}

func (f Format) text() string { return cmp.Or(f.Text, "text") }

func (Format) Name() string { return "CSV" }

func (Format) Endings() []string { return []string{".csv", ".tsv"} }

func (Format) Noun() string { return "row" }

var newline = []byte{'\n'}

// Frames returns a finder for the rows of an input.
func (f Format) Frames(maxRecord int) corpus.Frames {
	return &frames{format: f, maxRecord: maxRecord, line: 1}
}

// NewParser returns a parser for one goroutine. Annotating rows needs f.Annotated.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	if annotate != "" && !f.Annotated {
		return nil, errors.New("the first row of the output has no columns for verdicts")
	}
	return &parser{}, nil
}

// Keep writes a row unchanged, with a line end if it lacks one.
func (Format) Keep(w *output.Writer, raw []byte) error {
	return w.WriteRecord(bytes.TrimSuffix(raw, newline), newline)
}
