// Package text reads plain text in UTF-8. Each line is a document. Options make one of each paragraph,
// which ends with an empty line, or of each text before a mark of its end. The id of a document is its
// file and its number.
//
// Lines end with LF or CR LF; an empty line has nothing before that. Blank lines and empty
// paragraphs are no documents, but are counted. Kept documents are written unchanged, each followed
// by LF, or LF LF.
package text

import (
	"bytes"
	"errors"
	"iter"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// format is plain text whose records are found by a cutter.
type format struct {
	corpus.Lines
	noun   string
	name   string
	cutter corpus.Cutter
	end    string // after a kept text
}

// Formats maps values of --format to formats of plain text. Other files add theirs by init.
var Formats = map[string]corpus.Format{
	"lines":      format{noun: "line", name: "lines of text", cutter: corpus.LineCutter{}, end: "\n"},
	"paragraphs": format{noun: "paragraph", name: "paragraphs of text", cutter: paragraphs{}, end: "\n\n"},
}

func (f format) Name() string { return f.name }

func (format) Endings() []string { return []string{".txt", ".text", ".md"} }

func (f format) Noun() string { return f.noun }

func (f format) Cutter() corpus.Cutter { return f.cutter }

// Keep writes a text with its end.
func (f format) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(raw, []byte(f.end)) }

// NewParser returns a parser for one goroutine. Texts cannot be annotated.
func (f format) NewParser(annotate string) (corpus.Parser, error) {
	if annotate != "" {
		return nil, errors.New("--annotate adds a field to lines of JSON, and plain text has none: leave it out, and read the verdicts in --report")
	}
	return &parser{}, nil
}

type parser struct{ doc corpus.Document }

// Parse returns the documents of a block.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return b.Documents(&p.doc, func() error {
		if p.doc.Text = p.doc.Raw; !lexical.ValidUTF8(p.doc.Text) {
			return errors.New("it is not UTF-8")
		}
		return nil
	})
}

type paragraphs struct{ corpus.LineCutter }

// End searches from two bytes earlier: the end of a paragraph has at most three bytes.
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

// Strip trims line ends on both sides. A paragraph of white space is empty.
func (paragraphs) Strip(record []byte) (raw []byte, empty bool) {
	raw = bytes.Trim(record, "\r\n")
	return raw, len(bytes.TrimSpace(raw)) == 0
}
