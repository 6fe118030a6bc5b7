package jsonl

import (
	"iter"
	"strings"

	"github.com/firstseen/firstseen/corpus"
)

// NewSpanParser is NewParser for objects separated by other means than line ends: it goes over the
// spans of blocks.
func (f Format) NewSpanParser(annotate string) (corpus.Parser, error) {
	p, err := newParser(f.Fields, annotate)
	return spanParser{p}, err
}

type spanParser struct{ *parser }

// Parse returns the documents of a block.
func (p spanParser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return func(yield func(*corpus.Document) bool) {
		b.Rewind()
		p.block = b
		for _, span := range b.Spans {
			p.doc = corpus.Document{Raw: b.Data[span.Start:span.End:span.End], At: span.At}
			if span.Bad != "" {
				p.bad(span.Bad)
			} else {
				p.parse()
			}
			if p.doc.Bad != nil {
				p.doc.Bad.Reason = strings.ReplaceAll(p.doc.Bad.Reason, "the line", "the record")
			}
			if !yield(&p.doc) {
				return
			}
		}
	}
}
