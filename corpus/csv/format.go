// Package csv reads tables in text: CSV and TSV. Each row is a document.
//
// The rules are those of RFC 4180, adapted to tables in use. The first row that is not empty has
// the names of the columns. Fields are separated by comma, tab, semicolon or pipe. The separator is
// the one under which the first row names the column of the text; the first of these, if several
// do. Rows end with LF or CR LF. A field that begins with a quote (") ends at the next one that is
// not doubled, and may hold delimiters and line ends. In any other field a quote is a character like
// others. Spaces belong to the fields. Rows of nothing but a line end are passed over.
//
// Between tabs, a text may have line ends and tabs as \n, \r and \t, and backslashes as \\, unless
// it begins with a quote. Databases and jq @tsv write such texts. It is read so if every backslash
// in the text begins one of these; any other text is as it is. Output, and an id, stay as they
// came.
//
// A row is a bad record in any of these cases:
//
//   - it has not as many fields as the first row;
//   - it is not UTF-8;
//   - it has something behind a closing quote;
//   - it has a quote not closed in as many bytes as a record may have.
//
// Behind the last two, reading goes on at the next line, since the intended end of the row is
// unknown.
//
// The place of a row is the line of the file in which it begins. Kept rows are written as they came,
// behind the first row of their input. If annotated, all rows are written, with three columns more.
package csv

import (
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

// Name is "CSV".
func (Format) Name() string { return "CSV" }

// Endings are ".csv" and ".tsv".
func (Format) Endings() []string { return []string{".csv", ".tsv"} }

// Noun is "row".
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
	if n := len(raw); n > 0 && raw[n-1] == '\n' {
		return w.WriteRecord(raw)
	}
	return w.WriteRecord(raw, newline)
}
