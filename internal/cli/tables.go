package cli

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/report"
	"github.com/firstseen/firstseen/internal/visible"
)

// A table has lines of JSON, each an object with its columns in order. A file name ending in .csv or .tsv
// gives values between commas or tabs under a line of column names, as in RFC 4180. If .gz or .zst
// follows, the file is compressed.
type table struct {
	out     io.Writer // gets a row in each call
	columns []string
	csv     *csv.Writer // nil: lines of JSON
	buf     bytes.Buffer
	line    []byte
}

// writeTable writes a table of these columns. The file gets its name when write has returned without an
// error.
func writeTable(cmd *cobra.Command, name string, columns []string, write func(*table) error) error {
	return writeOutput(cmd, file{name: name}, func(w io.Writer) error {
		t, err := newTable(w, name, columns...)
		if err != nil {
			return err
		}
		return write(t)
	})
}

func newTable(out io.Writer, name string, columns ...string) (*table, error) {
	t := &table{out: out, columns: columns}
	name, _ = output.CutPacking(name)
	ending := strings.ToLower(filepath.Ext(name))
	if ending != ".csv" && ending != ".tsv" {
		return t, nil
	}
	t.csv = csv.NewWriter(&t.buf)
	if ending == ".tsv" {
		t.csv.Comma = '\t'
	}
	return t, t.writeCSV(columns)
}

// write writes a row: a value for each column, a string, a number, a bool or nil.
func (t *table) write(values ...any) error {
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

func (t *table) writeCSV(fields []string) error {
	t.buf.Reset()
	err := t.csv.WriteAll([][]string{fields})
	if err == nil {
		_, err = t.out.Write(t.buf.Bytes())
	}
	return err
}

func (t *table) writeJSON(values []any) (err error) {
	t.line = append(t.line[:0], '{')
	for i, v := range values {
		if i > 0 {
			t.line = append(t.line, ',')
		}
		t.line = fmt.Appendf(t.line, "%q:", t.columns[i]) // names of ours
		if t.line, err = report.AppendJSON(t.line, v); err != nil {
			return err
		}
	}
	_, err = t.out.Write(visible.JSON(nil, append(t.line, "}\n"...)))
	return err
}
