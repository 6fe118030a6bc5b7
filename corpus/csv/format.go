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
	"errors"
	"strconv"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// Format is CSV and TSV. Its zero value reads the column "text" and, if present, "id".
type Format struct {
	corpus.Framed
	Text string // name of the text column; "" means "text"; several, with commas, are joined
	ID   string // name of the id column; "" means "id", if present
	Time string // name of the creation time column, in RFC 3339 or Unix seconds; "" means none
	// Annotated adds three columns for verdicts to the first row of outputs.
	Annotated bool
}

var _ corpus.Format = Format{}

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

// added are the columns appended to annotated rows.
var added = []string{lexical.VerdictColumn, lexical.OfColumn, lexical.ScoreColumn}

// annotated returns the first row with the added columns.
func (h *header) annotated() []byte {
	end := lineEnd(h.raw)
	all := bytes.Clone(h.raw[:end])
	for _, name := range added {
		all = append(append(all, h.delimiter), name...)
	}
	return append(all, h.raw[end:]...)
}

// lineEnd returns the index of a row's line end.
func lineEnd(raw []byte) int {
	return len(bytes.TrimSuffix(bytes.TrimSuffix(raw, newline), []byte{'\r'}))
}

// Annotate writes a row with its verdict in three more columns.
func (Format) Annotate(w *output.Writer, raw []byte, at corpus.Slot, value []byte) error {
	fields, err := verdictFields(at.Lead[0], value)
	if err != nil {
		return err
	}
	return w.WriteRecord(raw[:at.At], fields, bytes.TrimSuffix(raw[at.At:], newline), newline)
}

// Answer writes a verdict after empty fields: the bad record could make readers misread other rows.
func (Format) Answer(w *output.Writer, _ []byte, _ string, value []byte) error {
	head := w.Head()
	names := head[:lineEnd(head)]
	last := len(names) - len(lexical.ScoreColumn) - 1
	if last < 0 || string(names[last+1:]) != lexical.ScoreColumn {
		return nil // a pipe without column names has only that record
	}
	delimiter := names[last]
	row, err := verdictFields(delimiter, value)
	if err != nil {
		return err
	}
	names = bytes.TrimLeft(bytes.TrimPrefix(names, []byte(lexical.ByteOrderMark)), "\r\n")
	columns := fields(names, delimiter, func(int, []byte) {}) - len(added)
	return w.WriteRecord(bytes.Repeat([]byte{delimiter}, columns-1), row, newline)
}

func verdictFields(delimiter byte, value []byte) (row []byte, err error) {
	v, err := lexical.ReadVerdict(value)
	if err != nil {
		return nil, err
	}
	row = append(append(row, delimiter), v.Verdict...)
	row = append(row, delimiter)
	switch {
	case v.Of == nil:
	case strings.ContainsAny(*v.Of, "\"\r\n"+string(rune(delimiter))):
		row = append(append(append(row, quote), strings.ReplaceAll(*v.Of, `"`, `""`)...), quote)
	default:
		row = append(row, *v.Of...)
	}
	row = append(row, delimiter)
	if v.Score != nil {
		row = strconv.AppendFloat(row, *v.Score, 'g', -1, 64)
	}
	return row, nil
}
