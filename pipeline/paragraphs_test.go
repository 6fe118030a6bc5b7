package pipeline

import (
	"bytes"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// paragraphs is the format made by following "Add a format" in docs/extend.md:
// plain text, in which an empty line ends a document. A document may begin with a
// line "# ID". An annotation is a line at its end.
type paragraphs struct{}

var (
	_ corpus.Format = paragraphs{}
	_ corpus.Cutter = paragraphs{}
)

func (paragraphs) Name() string      { return "paragraphs" }
func (paragraphs) Endings() []string { return []string{".txt"} }
func (paragraphs) Noun() string      { return "paragraph" }

// 1. Where records end.

var emptyLine = []byte("\n\n")

func (paragraphs) Begin([]byte) (passed int, reject string) { return 0, "" }

func (paragraphs) Cut(data []byte, most int) (end, records int) {
	for records < most {
		i := bytes.Index(data[end:], emptyLine)
		if i < 0 {
			break
		}
		end, records = end+i+len(emptyLine), records+1
	}
	return end, records
}

func (paragraphs) End(data []byte, from int) int {
	begin := max(0, from-len(emptyLine)+1) // the end may be in what was seen and what was not
	if i := bytes.Index(data[begin:], emptyLine); i >= 0 {
		return begin + i + len(emptyLine)
	}
	return -1
}

func (paragraphs) Terminator() []byte { return emptyLine }

func (paragraphs) Strip(record []byte) (raw []byte, empty bool) {
	raw = bytes.TrimRight(record, "\n")
	return raw, len(raw) == 0
}

// 2. What a record says.

func (paragraphs) NewParser(annotate string) (corpus.Parser, error) {
	return &paragraphParser{annotate: annotate}, nil
}

type paragraphParser struct {
	annotate string
	doc      corpus.Document
}

func (p *paragraphParser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return func(yield func(*corpus.Document) bool) {
		b.Rewind()
		at := b.First
		for rest := b.Data; len(rest) > 0; at = at.Next() {
			end, whole := paragraphs{}.Cut(rest, 1)
			if whole == 0 {
				end = len(rest)
			}
			raw, empty := b.Strip(paragraphs{}, rest[:end])
			rest = rest[end:]
			if empty && p.annotate == "" {
				continue
			}
			p.doc = corpus.Document{Raw: raw, At: at, Empty: empty}
			if !empty {
				p.parse(b)
			}
			if !yield(&p.doc) {
				return
			}
		}
	}
}

func (p *paragraphParser) parse(b *corpus.Block) {
	d := &p.doc
	reason := b.Reject
	if reason == "" && !utf8.Valid(d.Raw) {
		reason = "it is not UTF-8"
	}
	if reason != "" {
		d.Bad = &corpus.BadRecord{File: b.File, At: d.At, Reason: reason, Raw: d.Raw}
		return
	}
	d.ID, d.Text = b.Name(d.At), d.Raw
	if title, text, found := bytes.Cut(d.Raw, []byte("\n")); found && bytes.HasPrefix(title, []byte("# ")) {
		// A tab in the text stands for a full stop, to have something to decode.
		d.ID, d.Text = title[2:], b.Hold(append(b.Room(), bytes.ReplaceAll(text, []byte("\t"), []byte("."))...))
	}
	if p.annotate != "" {
		d.Slot = corpus.Slot{At: len(d.Raw), Lead: fmt.Appendf(nil, "\n%% %s ", p.annotate)}
	}
}

// 3. How it is written again.

func (paragraphs) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(raw, emptyLine) }

func (paragraphs) Annotate(w *output.Writer, raw []byte, at corpus.Slot, value []byte) error {
	return w.WriteRecord(raw[:at.At], at.Lead, value, raw[at.At:], emptyLine)
}

func (paragraphs) Answer(w *output.Writer, field string, value []byte) error {
	return w.WriteRecord(fmt.Appendf(nil, "%% %s ", field), value, emptyLine)
}
