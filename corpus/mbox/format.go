// Package mbox reads files of mails. Each mail is a document: its subject, and the text of its parts
// without what it quotes from the mails before. The id is the Message-ID, the time the Date.
//
// A mail begins with a line "From ADDRESS DATE" after an empty line, and a line of its text that
// begins like that is written with > before it. Kept mails are written unchanged.
package mbox

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"regexp"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is the format of files of mails.
type Format struct {
	corpus.Lines

	ID   string             // header field with the id; "" means Message-ID
	Text func() corpus.Text // called once per parser; makes the text of a part by its media type
}

var _ corpus.Format = Format{}

func (Format) Name() string { return "mails (mbox)" }

func (Format) Endings() []string { return []string{".mbox", ".mbx"} }

func (Format) Noun() string { return "mail" }

// firstLine is the line before a mail: it has a time. At most [corpus.LookAhead] bytes are looked at.
var firstLine = regexp.MustCompile(`^From [^\r\n]{0,100}\d:\d\d[^\r\n]{0,40}\r?\n`)

var fileHead = regexp.MustCompile(firstLine.String() + `>?[!-9;-~]+[: ]`)

// Recognize reports whether the first lines are those of a mail.
func (Format) Recognize(head []byte) bool { return fileHead.Match(head) }

func (Format) Cutter() corpus.Cutter { return cutter{} }

type cutter struct{ corpus.LineCutter }

// End finds the next mail. It searches from earlier, since its first line may have been incomplete.
func (cutter) End(data []byte, from int) int {
	for at := max(0, from-corpus.LookAhead); ; {
		i := bytes.Index(data[at:], []byte("\nFrom "))
		if i < 0 {
			return -1
		}
		at += i + 1
		before := bytes.TrimSuffix(data[:at-1], []byte{'\r'})
		if bytes.HasSuffix(before, newline) && firstLine.Match(data[at:min(at+corpus.LookAhead, len(data))]) {
			return at
		}
	}
}

var newline = []byte{'\n'}

// Strip keeps the empty line after a mail: its line end may be another than those of the mail.
func (cutter) Strip(record []byte) (raw []byte, empty bool) {
	return record, len(bytes.TrimSpace(record)) == 0
}

// Keep writes a mail. The last one of an input may lack the empty line.
func (Format) Keep(w *output.Writer, raw []byte) error {
	if bytes.HasSuffix(raw, []byte("\n\n")) || bytes.HasSuffix(raw, []byte("\n\r\n")) {
		return w.WriteRecord(raw)
	}
	return w.WriteRecord(raw, []byte("\n\n"))
}

// NewParser returns a parser for one goroutine. Mails cannot be annotated.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	if annotate != "" {
		return nil, errors.New("--annotate adds a field to lines of JSON, and mails have none: leave it out, and read the verdicts in --report")
	}
	return &parser{id: cmp.Or(f.ID, "Message-ID"), texts: corpus.NewTexts(f.Text)}, nil
}

// Parse returns the documents of a block.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	p.block = b
	return b.Documents(&p.doc, p.read)
}
