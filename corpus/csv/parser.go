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
	doc  corpus.Document
	time []byte // buffer
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
	var found [3][]byte
	wanted := [3]int{h.text, h.id, h.time}
	count := fields(p.doc.Raw, h.delimiter, func(n int, raw []byte) {
		for i, column := range wanted {
			if n == column {
				found[i] = raw
			}
		}
	})
	text, id, time := found[0], found[1], found[2]
	if count != h.columns {
		return fmt.Errorf("the row has %d fields, and the first row has %d", count, h.columns)
	}
	p.doc.Text = said(b, text)
	if h.delimiter == '\t' && bytes.IndexByte(text, '\\') >= 0 && text[0] != quote {
		p.doc.Text = unescaped(b, text)
	}
	if h.time >= 0 {
		p.time = content(p.time[:0], time)
		p.doc.Time = lexical.ParseTime(p.time)
	}
	switch {
	case h.id == h.text:
		p.doc.ID = p.doc.Text
	case h.id >= 0:
		p.doc.ID = said(b, id)
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

// unescaped returns the text of a field between tabs. If every backslash begins \t, \n, \r or \\,
// it decodes them. Otherwise the field is literal.
func unescaped(b *corpus.Block, raw []byte) []byte {
	text, rest := b.Room(), raw
	for {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return b.Hold(append(text, rest...))
		}
		if i+1 == len(rest) {
			return raw
		}
		escape := strings.IndexByte(`\tnr`, rest[i+1])
		if escape < 0 {
			return raw
		}
		text = append(append(text, rest[:i]...), "\\\t\n\r"[escape])
		rest = rest[i+2:]
	}
}
