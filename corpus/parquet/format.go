// Package parquet reads and writes Apache Parquet files (github.com/apache/parquet-format, version
// 2.11). Each row is a document.
//
// A file is read at random, column by column and page by page, and its rows are reassembled. A
// record is a row; its place is the row group and the number in that. Only the columns of text and
// id are read, unless rows are written again.
//
// A written file has the schema and the metadata of the file read, byte for byte. Each frame of an
// [output.Writer] is a row group with its description, so a later run can continue the file; see
// [enclosure].
//
// All data of a file is checked before use. Memory is that of a page and a dictionary for each
// column read, see [Memory]. The size and decompressed size of the file bound the work, see
// [corpus.Limits].
//
// Columns with repeated values are written with a dictionary, and all columns with statistics.
//
// Reader and writer are our own, because of five cases in github.com/parquet-go/parquet-go (0.32).
// A file of 130 bytes, with one row and no codec, runs out of memory and ends the process: see
// TestUnderstated. Its headers claim little, so checking them is no help. A damaged block of LZ4
// makes it double its memory without end. Pages of gzip, brotli and zstd exceed the size in their
// header. The writer orders decimals in fixed bytes without their sign, so polars skips rows with
// negative ones. It gives a column of nulls a type that crashes pyarrow.
package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// Format is Apache Parquet. Its zero value reads the columns "text" and, if present, "id".
type Format struct {
	corpus.Random
	Text string // dotted path of the text column; "" means "text"
	ID   string // of the id column; "" means "id", if present
	Rows bool   // rows are written again, so all columns are read
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

// Keep writes a row unchanged.
func (Format) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(frameRow(raw, nil)...) }

// Annotate writes a row with the columns of its verdict.
func (Format) Annotate(w *output.Writer, raw []byte, _ corpus.Slot, value []byte) error {
	v, err := lexical.ReadVerdict(value)
	if err != nil {
		return err
	}
	added := appendFields(nil, reflect.ValueOf(annotation{&v.Verdict, v.Of, v.Score}))
	return w.WriteRecord(frameRow(raw, added)...)
}

// Answer writes a bad row with the columns of its verdict.
func (f Format) Answer(w *output.Writer, raw []byte, _ string, value []byte) error {
	if len(raw) == 0 {
		return errors.New("a row exceeds --limit record even without its long values, and cannot be annotated: allow longer ones, or leave out --annotate")
	}
	return f.Annotate(w, raw, corpus.Slot{}, value)
}

// NewParser returns a parser for one goroutine.
func (Format) NewParser(string) (corpus.Parser, error) { return &parser{}, nil }

type parser struct {
	text []byte // of the row
	doc  corpus.Document
}

// Parse returns the documents of a block, with the columns in Opened. A bad one shows its text.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return func(yield func(*corpus.Document) bool) {
		r, ok := b.Opened.(*rows)
		if !ok {
			return
		}
		for doc := range b.Documents(&p.doc, func() error { return p.fill(b, r) }) {
			if doc.Bad != nil {
				doc.Bad.Raw = p.text
			}
			if p.text = nil; !yield(doc) {
				return
			}
		}
	}
}

func (p *parser) fill(b *corpus.Block, r *rows) (err error) {
	in, found := &byteReader{data: p.doc.Raw[len(r.print):]}, false
	id, isText := []byte(nil), false
	text := func(i int) []byte {
		l := r.columns[i].leaf
		e := l.readEntry(in, true)
		if l == r.id {
			id, isText = e.value, true
		}
		switch {
		case in.err != nil:
			err = errRow
		case e.value == nil || l.isNull():
			return nil
		case !lexical.ValidUTF8(e.value):
			err = errors.New("the text is not UTF-8")
		}
		found, p.text = true, e.value
		return e.value
	}
	if len(r.names) == 1 {
		p.doc.Text = text(0)
	} else {
		b.Join(&p.doc, r.names, func(dst []byte, i int) []byte { return append(dst, text(i)...) })
	}
	switch {
	case err != nil:
		return err
	case !found:
		return errors.New("the text is null")
	case r.id == nil:
		return nil
	}
	if !isText {
		id = r.id.readEntry(in, true).value
	}
	if in.err != nil {
		return errRow
	}
	return p.setID(b, r.id, id)
}

func (p *parser) setID(b *corpus.Block, l *leaf, value []byte) error {
	var digits [20]byte
	switch {
	case value == nil:
	case l.typ == typeBytes && len(value) > corpus.MaxID:
		return errors.New("the id is longer than 64 KiB")
	case l.typ == typeBytes && !utf8.Valid(value):
		return errors.New("the id is not UTF-8")
	case l.typ == typeBytes:
		p.doc.ID = value
	case l.unsigned():
		p.doc.ID = b.Keep(strconv.AppendUint(digits[:0], unsigned(value), 10))
	default:
		p.doc.ID = b.Keep(strconv.AppendInt(digits[:0], signed(value), 10))
	}
	return nil
}

// Cut appends a row to dst, without some ranges of its text. The ranges are in bytes, ascending and
// disjoint. If mark is set, they are kept between >>> and <<<.
func (Format) Cut(dst, raw, text []byte, ranges [][2]int, mark bool) ([]byte, error) {
	// The text is the first column, after the schema and perhaps its definition level.
	const printBytes = 8
	for at := printBytes; at <= printBytes+1 && at < len(raw); at++ {
		n, size := binary.Uvarint(raw[at:])
		rest := raw[min(at+max(size, 0), len(raw)):]
		if size <= 0 || n != uint64(len(text)) || !bytes.HasPrefix(rest, text) {
			continue
		}
		var cut []byte
		from := 0
		for _, r := range ranges {
			cut = append(cut, text[from:r[0]]...)
			if mark {
				cut = slices.Concat(cut, []byte(">>>"), text[r[0]:r[1]], []byte("<<<"))
			}
			from = r[1]
		}
		cut = append(cut, text[from:]...)
		dst = append(dst, raw[:at]...)
		dst = binary.AppendUvarint(dst, uint64(len(cut)))
		return slices.Concat(dst, cut, rest[len(text):]), nil
	}
	return dst, errors.New("the text of a row is not a plain column")
}
