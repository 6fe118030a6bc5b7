// Package rows writes tables: lines of JSON, each an object with its columns in order. A file name
// ending in .csv or .tsv gives values between commas or tabs under a line of column names, as in
// RFC 4180. If .gz or .zst follows, the file is compressed.
package rows

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/visible"
)

// Table is a table being written.
type Table struct {
	out     io.Writer
	columns []string
	csv     *csv.Writer // nil: lines of JSON
	buf     bytes.Buffer
	fields  []string
}

// New begins a table in a file of that name. out gets a row in each call.
func New(out io.Writer, name string, columns ...string) (*Table, error) {
	t := &Table{out: out, columns: columns}
	separator, ok := separatorOf(name)
	if !ok {
		return t, nil
	}
	t.csv = csv.NewWriter(&t.buf)
	t.csv.Comma = separator
	return t, t.writeCSV(columns)
}

// separatorOf returns the separator of values in a file of that name; ok is false for JSON.
func separatorOf(name string) (separator rune, ok bool) {
	name, _ = output.CutPacking(name)
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return ',', true
	case ".tsv":
		return '\t', true
	}
	return 0, false
}

// Write writes a row: a value for each column, a string, a number, a bool or nil.
func (t *Table) Write(values ...any) error {
	if t.csv == nil {
		return t.writeJSON(values)
	}
	t.fields = t.fields[:0]
	for _, v := range values {
		if v == nil {
			v = ""
		}
		t.fields = append(t.fields, fmt.Sprint(v))
	}
	return t.writeCSV(t.fields)
}

func (t *Table) writeCSV(fields []string) error {
	t.buf.Reset()
	if err := t.csv.Write(fields); err != nil {
		return err
	}
	if t.csv.Flush(); t.csv.Error() != nil {
		return t.csv.Error()
	}
	_, err := t.out.Write(t.buf.Bytes())
	return err
}

func (t *Table) writeJSON(values []any) error {
	t.buf.Reset()
	enc := json.NewEncoder(&t.buf)
	enc.SetEscapeHTML(false)
	for i, v := range values {
		t.buf.WriteString([]string{"{", ","}[min(i, 1)])
		fmt.Fprintf(&t.buf, "%q:", t.columns[i]) // names of ours
		if err := enc.Encode(v); err != nil {
			return err
		}
		t.buf.Truncate(t.buf.Len() - 1) // the end of the line that Encode adds
	}
	t.buf.WriteString("}\n")
	_, err := t.out.Write(visible.JSON(nil, t.buf.Bytes()))
	return err
}
