package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// paragraphs is the format made by following "Add a format" in docs/extend.md. An empty line ends a
// document. A document may begin with a line "# ID". An annotation is its last line.
type paragraphs struct{ corpus.Lines }

func (paragraphs) Name() string          { return "paragraphs" }
func (paragraphs) Endings() []string     { return []string{".txt"} }
func (paragraphs) Noun() string          { return "paragraph" }
func (paragraphs) Cutter() corpus.Cutter { return emptyLines{} }

// 1. Find the records.

type emptyLines struct{ corpus.LineCutter }

var emptyLine = []byte("\n\n")

func (emptyLines) End(data []byte, from int) int {
	begin := max(0, from-1) // the end may straddle bytes seen and unseen
	if i := bytes.Index(data[begin:], emptyLine); i >= 0 {
		return begin + i + len(emptyLine)
	}
	return -1
}

func (emptyLines) Strip(record []byte) (raw []byte, empty bool) {
	raw = bytes.TrimRight(record, "\n")
	return raw, len(raw) == 0
}

// 2. Read the document.

func (paragraphs) NewParser(annotate string) (corpus.Parser, error) {
	return &paragraphParser{annotate: annotate}, nil
}

type paragraphParser struct {
	annotate string
	doc      corpus.Document
}

func (p *paragraphParser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	d := &p.doc
	b.All = p.annotate != ""
	return b.Documents(d, func() error {
		if d.Text = d.Raw; !utf8.Valid(d.Raw) {
			return errors.New("it is not UTF-8")
		}
		if title, text, found := bytes.Cut(d.Raw, []byte("\n")); found && bytes.HasPrefix(title, []byte("# ")) {
			// A tab in the text stands for a full stop, so that there is something to decode.
			d.ID, d.Text = title[2:], b.Hold(append(b.Room(), bytes.ReplaceAll(text, []byte("\t"), []byte("."))...))
		}
		if p.annotate != "" {
			d.Slot = corpus.Slot{At: len(d.Raw), Lead: fmt.Appendf(nil, "\n%% %s ", p.annotate)}
		}
		return nil
	})
}

// 3. Write a record again.

func (paragraphs) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(raw, emptyLine) }

func (paragraphs) Annotate(w *output.Writer, raw []byte, at corpus.Slot, value []byte) error {
	return w.WriteRecord(raw[:at.At], at.Lead, value, raw[at.At:], emptyLine)
}

func (paragraphs) Answer(w *output.Writer, _ []byte, field string, value []byte) error {
	return w.WriteRecord(fmt.Appendf(nil, "%% %s ", field), value, emptyLine)
}
