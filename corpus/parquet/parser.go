package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
)

// maxID is the longest id, in bytes, as with lines of JSON.
const maxID = 64 << 10

// NewParser returns a parser for one goroutine.
func (f Format) NewParser(string) (corpus.Parser, error) { return &parser{format: f}, nil }

type parser struct {
	format Format
	number []byte
	text   []byte // of the row
	doc    corpus.Document
}

// Parse returns the documents of a block; its Opened holds the columns of its rows. Of a bad one the
// text is shown.
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

// fill fills the document, or returns why it is none.
func (p *parser) fill(b *corpus.Block, r *rows) error {
	first := r.columns[0].leaf
	e, rest, err := first.cutEntry(p.doc.Raw[len(r.print):], true)
	switch p.text = e.value; {
	case err != nil:
		return err
	case e.value == nil:
		return errors.New("the text is null")
	case !corpus.ValidUTF8(e.value):
		return errors.New("the text is not UTF-8")
	}
	p.doc.Text = e.value
	if r.id != nil {
		if r.id != first {
			if e, _, err = r.id.cutEntry(rest, true); err != nil {
				return err
			}
		}
		if err := p.setID(b, r.id, e.value); err != nil {
			return err
		}
	}
	if len(p.doc.ID) == 0 {
		p.doc.ID = b.Name(p.doc.At)
	}
	return nil
}

func (p *parser) setID(b *corpus.Block, l *leaf, value []byte) error {
	switch {
	case value == nil:
	case l.typ == typeBytes && len(value) > maxID:
		return errors.New("the id is longer than 64 KiB")
	case l.typ == typeBytes && !utf8.Valid(value):
		return errors.New("the id is not UTF-8")
	case l.typ == typeBytes:
		p.doc.ID = value
	case l.unsigned():
		p.number = strconv.AppendUint(p.number[:0], unsigned(value), 10)
		p.doc.ID = b.Keep(p.number)
	default:
		p.number = strconv.AppendInt(p.number[:0], signed(value), 10)
		p.doc.ID = b.Keep(p.number)
	}
	return nil
}

// Cut appends a row to dst without some ranges of its text, which is given too; the ranges are in
// bytes, ascending and disjoint. With mark, they stay between >>> and <<<.
func (Format) Cut(dst, raw, text []byte, ranges [][2]int, mark bool) ([]byte, error) {
	// The text is the first column, behind the schema and perhaps its definition level.
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
