// Package text reads plain text in UTF-8. Each line is a document or, if so chosen, each paragraph,
// which ends with an empty line. A document's id is its file and its number.
//
// Lines end with LF or CR LF; an empty line is one of nothing else. White lines and empty paragraphs
// are no documents, but are counted. Kept documents are written as they came, with LF, or LF LF,
// behind them.
package text

import (
	"bytes"
	"errors"
	"iter"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is lines, or paragraphs, of plain text.
type Format struct {
	corpus.Lines
	Paragraphs bool
}

// Formats are the formats of plain text, by their words for --format. A format in a file of its own
// adds itself.
var Formats = map[string]corpus.Format{"lines": Format{}, "paragraphs": Format{Paragraphs: true}}

// Name is "lines of text" or "paragraphs of text".
func (f Format) Name() string { return f.Noun() + "s of text" }

// Endings returns the endings of texts.
func (Format) Endings() []string { return []string{".txt", ".text", ".md"} }

// Noun is "line" or "paragraph".
func (f Format) Noun() string {
	if f.Paragraphs {
		return "paragraph"
	}
	return "line"
}

// Cutter finds lines or paragraphs.
func (f Format) Cutter() corpus.Cutter {
	if f.Paragraphs {
		return paragraphs{}
	}
	return corpus.LineCutter{}
}

// paragraphs finds the ends of paragraphs.
type paragraphs struct{ corpus.LineCutter }

// Cut counts whole paragraphs.
func (p paragraphs) Cut(data []byte, most int) (end, records int) {
	return corpus.CutByEnds(p, data, most)
}

// End finds an end behind the first bytes. The end of a paragraph has three bytes at most; two may
// be among these.
func (paragraphs) End(data []byte, from int) int {
	from = max(0, from-2)
	for {
		i := bytes.IndexByte(data[from:], '\n')
		if i < 0 {
			return -1
		}
		from += i + 1
		switch rest := data[from:]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			return from + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return from + 2
		}
	}
}

// Strip takes line ends away at both ends. A white paragraph is empty.
func (paragraphs) Strip(record []byte) (raw []byte, empty bool) {
	raw = bytes.Trim(record, "\r\n")
	return raw, len(bytes.TrimSpace(raw)) == 0
}

// NewParser returns a parser for one goroutine. Texts cannot be annotated.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	return newParser(f.Cutter(), annotate)
}

func newParser(c corpus.Cutter, annotate string) (corpus.Parser, error) {
	if annotate != "" {
		return nil, errors.New("--annotate adds a field to lines of JSON, and plain text has none: leave it out, and read the verdicts in --report")
	}
	return &parser{cutter: c}, nil
}

type parser struct {
	cutter corpus.Cutter
	doc    corpus.Document
}

// Parse returns the documents of a block.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return b.CutDocuments(p.cutter, &p.doc, false, func() error {
		p.doc.Text = p.doc.Raw
		return nil
	})
}

// Keep writes a record with its end.
func (f Format) Keep(w *output.Writer, raw []byte) error {
	if f.Paragraphs {
		return w.WriteRecord(raw, []byte("\n\n"))
	}
	return f.Lines.Keep(w, raw)
}
