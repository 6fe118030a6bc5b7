package csv

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

type parser struct {
	doc   corpus.Document
	time  []byte   // buffer
	found [][]byte // the wanted fields of the row
}

// Parse returns the documents of a block.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return b.Documents(&p.doc, func() error { return p.read(b) })
}

func (p *parser) read(b *corpus.Block) error {
	f, ok := b.Frames.(*frames)
	if !ok || f.head == nil {
		return errors.New("the first row is missing")
	}
	h := f.head
	if !lexical.ValidUTF8(p.doc.Raw) {
		return errors.New("the row is not valid UTF-8")
	}
	p.found = append(p.found[:0], make([][]byte, len(h.wanted))...)
	count := fields(p.doc.Raw, h.delimiter, func(n int, raw []byte) {
		for i, column := range h.wanted {
			if n == column {
				p.found[i] = raw
			}
		}
	})
	if count != h.columns {
		return fmt.Errorf("the row has %d fields, and the first row has %d", count, h.columns)
	}
	switch texts := p.found[firstText:]; {
	case len(texts) > 1:
		b.Join(&p.doc, h.names, func(dst []byte, i int) []byte { return appendText(dst, texts[i], h.delimiter) })
	case hasEscapes(texts[0], h.delimiter):
		p.doc.Text = b.Hold(appendText(b.Room(), texts[0], h.delimiter))
	default:
		p.doc.Text = said(b, texts[0])
	}
	if h.wanted[1] >= 0 {
		p.time = content(p.time[:0], p.found[1])
		p.doc.Time = lexical.ParseTime(p.time)
	}
	switch {
	case h.wanted[0] == h.wanted[firstText] && len(h.names) == 1:
		p.doc.ID = p.doc.Text
	case h.wanted[0] >= 0:
		p.doc.ID = said(b, p.found[0])
	}
	p.doc.Slot = corpus.Slot{At: lineEnd(p.doc.Raw), Lead: h.lead}
	return nil
}

// said returns the text of a field: part of the row, unless it has doubled quotes.
func said(b *corpus.Block, raw []byte) []byte {
	if len(raw) < 2 || raw[0] != quote {
		return raw
	}
	inside := raw[1 : len(raw)-1 : len(raw)-1]
	if bytes.IndexByte(inside, quote) < 0 {
		return inside
	}
	return b.Hold(content(b.Room(), raw))
}

// hasEscapes reports whether a field between tabs may be escaped.
func hasEscapes(raw []byte, delimiter byte) bool {
	return delimiter == '\t' && bytes.IndexByte(raw, '\\') >= 0 && raw[0] != quote
}

// appendText appends the text of a field to dst. If every backslash of a field between tabs begins
// \t, \n, \r or \\, it decodes them. Otherwise the field is literal.
func appendText(dst, raw []byte, delimiter byte) []byte {
	if !hasEscapes(raw, delimiter) {
		return content(dst, raw)
	}
	text, rest := dst, raw
	for {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return append(text, rest...)
		}
		if i+1 == len(rest) {
			return append(dst, raw...)
		}
		escape := strings.IndexByte(`\tnr`, rest[i+1])
		if escape < 0 {
			return append(dst, raw...)
		}
		text = append(append(text, rest[:i]...), "\\\t\n\r"[escape])
		rest = rest[i+2:]
	}
}
