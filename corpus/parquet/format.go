package parquet

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is Apache Parquet. Its zero value reads the columns "text" and, if there is one, "id".
type Format struct {
	corpus.Random
	Text string // dotted path of the column of the text; "" is "text"
	ID   string // of the id; "" is "id", if there is such a column
	Rows bool   // rows are to be written again, so that all columns are read
}

var _ corpus.Format = Format{}

func (f Format) text() string { return cmp.Or(f.Text, "text") }

// Name is "Parquet".
func (Format) Name() string { return "Parquet" }

// Endings are ".parquet" and ".parq".
func (Format) Endings() []string { return []string{".parquet", ".parq"} }

// Recognize recognizes a file by its first four bytes.
func (Format) Recognize(head []byte) bool {
	return bytes.HasPrefix(head, []byte(fileMagic)) || bytes.HasPrefix(head, []byte(cryptMagic))
}

// Keep writes a row as it came.
func (Format) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(frameRow(raw, nil)...) }

// Annotate writes a row with the columns of its verdict.
func (Format) Annotate(w *output.Writer, raw []byte, _ corpus.Slot, value []byte) error {
	added, err := verdictRow(value)
	if err != nil {
		return err
	}
	return w.WriteRecord(frameRow(raw, added)...)
}

// Answer writes a bad row with the columns of its verdict.
func (f Format) Answer(w *output.Writer, raw []byte, _ string, value []byte) error {
	if len(raw) == 0 {
		return errors.New("a row above --limit record is so even without its long values, and cannot be answered: allow longer ones, or leave --annotate out")
	}
	return f.Annotate(w, raw, corpus.Slot{}, value)
}
