// Package plain reads plain text in UTF-8. Each line is a document or, if so chosen, each paragraph,
// which ends with an empty line. A document's id is its file and its number.
//
// Lines end with LF or CR LF; an empty line is one of nothing else. White lines and empty paragraphs
// are no documents, but are counted. Kept documents are written as they came, with LF, or LF LF,
// behind them.
package plain

import (
	"bytes"
	"errors"
	"iter"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is lines, or paragraphs, of plain text.
type Format struct {
	Paragraphs bool
}

var (
	_ corpus.Format = Format{}
	_ corpus.Cutter = Format{}
)

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

// Terminator is a line end, or two.
func (f Format) Terminator() []byte {
	if f.Paragraphs {
		return []byte("\n\n")
	}
	return []byte("\n")
}

// byteOrderMark is the byte order mark of UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// Begin passes over a byte order mark, and refuses UTF-16.
func (Format) Begin(head []byte) (passed int, reject string) {
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		return len(byteOrderMark), ""
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return 0, "the file is UTF-16, not UTF-8: say so with --encoding utf-16le or utf-16be"
	}
	return 0, ""
}

// Cut counts whole records.
func (f Format) Cut(data []byte, most int) (end, records int) {
	for records < most {
		next := f.end(data, end)
		if next < 0 {
			break
		}
		end, records = next, records+1
	}
	return end, records
}

// End finds an end behind the first bytes. The end of a paragraph has three bytes at most; two may
// be among these.
func (f Format) End(data []byte, from int) int {
	if f.Paragraphs {
		from = max(0, from-2)
	}
	return f.end(data, from)
}

// end is behind the first end that begins at a place or behind it, or -1.
func (f Format) end(data []byte, from int) int {
	for {
		i := bytes.IndexByte(data[from:], '\n')
		if i < 0 {
			return -1
		}
		from += i + 1
		switch rest := data[from:]; {
		case !f.Paragraphs:
			return from
		case bytes.HasPrefix(rest, []byte("\n")):
			return from + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return from + 2
		}
	}
}

// Strip takes line ends away, for a paragraph those before it too. A white record is empty.
func (f Format) Strip(record []byte) (raw []byte, empty bool) {
	if f.Paragraphs {
		raw = bytes.Trim(record, "\r\n")
	} else {
		raw = bytes.TrimSuffix(bytes.TrimSuffix(record, []byte("\n")), []byte("\r"))
	}
	return raw, len(bytes.TrimSpace(raw)) == 0
}

// NewParser returns a parser for one goroutine. Texts cannot be annotated.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	if annotate != "" {
		return nil, errors.New("--annotate adds a field to lines of JSON, and plain text has none: leave it out, and read the verdicts in --report")
	}
	return &parser{format: f}, nil
}

type parser struct {
	format Format
	doc    corpus.Document
}

// Parse returns the documents of a block.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return func(yield func(*corpus.Document) bool) {
		b.Rewind()
		at := b.First
		for rest := b.Data; len(rest) > 0; at = at.Next() {
			end, whole := p.format.Cut(rest, 1)
			if whole == 0 {
				end = len(rest)
			}
			raw, empty := b.Strip(p.format, rest[:end])
			rest = rest[end:]
			if empty {
				continue
			}
			if p.fill(b, raw, at); !yield(&p.doc) {
				return
			}
		}
	}
}

func (p *parser) fill(b *corpus.Block, raw []byte, at corpus.Place) {
	p.doc = corpus.Document{Raw: raw, At: at}
	reason := b.Reject
	if reason == "" && !corpus.ValidUTF8(raw) {
		reason = "it is not UTF-8"
	}
	if reason != "" {
		p.doc.Bad = b.Bad(at, raw, reason)
		return
	}
	p.doc.ID, p.doc.Text = b.Name(at), raw
}

// Keep writes a record with its end.
func (f Format) Keep(w *output.Writer, raw []byte) error {
	return w.WriteRecord(raw, f.Terminator())
}

var errAnnotate = errors.New("plain text cannot be annotated")

// Annotate fails.
func (Format) Annotate(*output.Writer, []byte, corpus.Slot, []byte) error { return errAnnotate }

// Answer fails.
func (Format) Answer(*output.Writer, string, []byte) error { return errAnnotate }
