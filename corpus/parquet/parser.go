package parquet

import (
	"encoding/binary"
	"iter"
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
	doc    corpus.Document
}

// Parse returns the documents of a block; its Opened holds the columns of its rows.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return func(yield func(*corpus.Document) bool) {
		b.Rewind()
		r, ok := b.Opened.(*rows)
		if !ok {
			return
		}
		for _, span := range b.Spans {
			p.parse(b, r, span)
			if !yield(&p.doc) {
				return
			}
		}
	}
}

func (p *parser) parse(b *corpus.Block, r *rows, span corpus.Span) {
	raw := b.Data[span.Start:span.End:span.End]
	p.doc = corpus.Document{Raw: raw, At: span.At}
	text, reason := p.fill(b, r, raw, span)
	if reason != "" {
		p.doc.ID, p.doc.Text = nil, nil
		p.doc.Bad = b.Bad(span.At, text, reason)
	}
}

// fill fills the document, and returns its text; reason is why it is none.
func (p *parser) fill(b *corpus.Block, r *rows, raw []byte, span corpus.Span) (text []byte, reason string) {
	if span.Bad != "" {
		return nil, span.Bad
	}
	first := r.columns[0].leaf
	e, rest, err := first.cutEntry(raw[len(r.print):], true)
	switch {
	case err != nil:
		return nil, err.Error()
	case e.value == nil:
		return nil, "the text is null"
	case !corpus.ValidUTF8(e.value):
		return e.value, "the text is not UTF-8"
	}
	p.doc.Text, p.doc.ID = e.value, nil
	if id := r.id(); id != nil {
		from := e
		if id != first {
			if from, _, err = id.cutEntry(rest, true); err != nil {
				return nil, err.Error()
			}
		}
		if reason := p.id(b, id, from.value); reason != "" {
			return e.value, reason
		}
	}
	if len(p.doc.ID) == 0 {
		p.doc.ID = b.Name(span.At)
	}
	return e.value, ""
}

// id is the column of the id; nil for none.
func (r *rows) id() *leaf {
	if !r.hasID {
		return nil
	}
	return r.columns[r.idAt].leaf
}

func (p *parser) id(b *corpus.Block, l *leaf, value []byte) (reason string) {
	switch {
	case value == nil:
		return ""
	case l.typ == typeBytes && len(value) > maxID:
		return "the id is longer than 64 KiB"
	case l.typ == typeBytes && !utf8.Valid(value):
		return "the id is not UTF-8"
	case l.typ == typeBytes:
		p.doc.ID = value
		return ""
	}
	var v int64
	if l.typ == typeInt32 {
		v = int64(int32(binary.LittleEndian.Uint32(value)))
		if l.unsigned() {
			v &= 1<<32 - 1
		}
	} else {
		v = int64(binary.LittleEndian.Uint64(value))
	}
	if l.unsigned() {
		p.number = strconv.AppendUint(p.number[:0], uint64(v), 10)
	} else {
		p.number = strconv.AppendInt(p.number[:0], v, 10)
	}
	p.doc.ID = b.Keep(p.number)
	return ""
}
