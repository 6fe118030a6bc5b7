// Package parquet reads and writes Apache Parquet files
// (github.com/apache/parquet-format, version 2.11). Each row is a document.
//
// A file is read at random, column by column, page by page, and its rows are put
// together again. A record is a row; its place is the row group and its number in that.
// Only the columns of text and id are read unless rows are to be written again.
//
// A file written has the schema and the metadata of the file read, byte for byte. Each frame of a
// [output.Writer] is a row group, with its description behind it, so that a later run can continue
// the file; see [enclosure].
//
// Nothing in a file is believed before it is checked. Memory is that of a page and a dictionary for
// each column read, see [Memory]. Work is bounded by the size of the file and of its decompressed
// content, see [corpus.Limits].
//
// Columns whose values repeat are written with a dictionary, and all with statistics.
//
// Reader and writer are our own, because of five cases in github.com/parquet-go/parquet-go (0.32).
// A file of 130 bytes, with one row and no codec, ends the process for lack of memory: see
// TestUnderstated. Its headers claim little, so no check of them finds it. A damaged block of LZ4
// makes it double its memory without end. Pages of gzip, brotli and zstd grow beyond the size in
// their header. The writer orders decimals in fixed bytes without their sign, so polars passes over
// rows with negative ones. It gives a column of nulls a type that ends pyarrow.
package parquet

import (
	"bytes"
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
