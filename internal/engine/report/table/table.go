// Package table writes tables as lines of JSON or as CSV.
package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// Table is lines of JSON, each an object with its columns in order. A name ending in .csv or .tsv
// gives values between commas or tabs under a line of column names, as in RFC 4180. If .gz or .zst
// follows, the file is compressed.
type Table struct {
	out     io.Writer // gets a row in each call
	columns []string
	csv     *csv.Writer // nil for lines of JSON
	buf     bytes.Buffer
	line    []byte
}

// New returns a table of these columns. name is that of its file.
func New(out io.Writer, name string, columns ...string) (*Table, error) {
	t := &Table{out: out, columns: columns}
	if ending.Promised(name) != ending.CSV {
		return t, nil
	}
	t.csv = csv.NewWriter(&t.buf)
	if end, _ := ending.Of(name); end == ".tsv" {
		t.csv.Comma = '\t'
	}
	return t, t.writeCSV(columns)
}

// Write writes a row: a value for each column, a string, a number, a bool or nil.
func (t *Table) Write(values ...any) error {
	if t.csv == nil {
		return t.writeJSON(values)
	}
	fields := make([]string, len(values))
	for i, v := range values {
		if v != nil {
			fields[i] = fmt.Sprint(v)
		}
	}
	return t.writeCSV(fields)
}

func (t *Table) writeCSV(fields []string) error {
	t.buf.Reset()
	err := t.csv.WriteAll([][]string{fields})
	if err == nil {
		_, err = t.out.Write(t.buf.Bytes())
	}
	return err
}

func (t *Table) writeJSON(values []any) (err error) {
	t.line = append(t.line[:0], '{')
	for i, v := range values {
		if i > 0 {
			t.line = append(t.line, ',')
		}
		t.line = fmt.Appendf(t.line, "%q:", t.columns[i]) // our own names
		if t.line, err = report.AppendJSON(t.line, v); err != nil {
			return err
		}
	}
	_, err = t.out.Write(visible.JSON(nil, append(t.line, "}\n"...)))
	return err
}
