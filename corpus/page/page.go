// Package page reads files of one document each: HTML, plain text or subtitles. The file name is the
// id.
package page

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// Format is the format of files with one document each.
type Format struct {
	corpus.Framed

	HTML      bool               // otherwise plain text
	Subtitles bool               // SubRip or WebVTT: the words are the text; not HTML
	Text      func() corpus.Text // called once per parser; nil takes a page unchanged
}

var _ corpus.Format = Format{}

func (f Format) Name() string {
	switch {
	case f.HTML:
		return "HTML"
	case f.Subtitles:
		return "subtitles"
	}
	return "plain text"
}

func (f Format) Endings() []string {
	switch {
	case f.HTML:
		return []string{".html", ".htm", ".xhtml"}
	case f.Subtitles:
		return []string{".srt", ".vtt"}
	}
	return []string{".txt", ".text", ".md"}
}

func (Format) Noun() string { return "file" }

// Recognize reports whether the first tag is that of an HTML page, and not of other XML, or whether
// the first lines are those of subtitles.
func (f Format) Recognize(head []byte) bool {
	if !f.HTML {
		return f.Subtitles && subtitleHead.Match(head)
	}
	xml := []byte("<?xml")
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(lexical.ByteOrderMark)), " \t\r\n")
	if len(head) < len(xml) || !bytes.EqualFold(head[:len(xml)], xml) {
		return lexical.LooksLikeHTML(head)
	}
	root := lexical.XMLRoot(head)
	return root == "" || strings.EqualFold(root, "html")
}

// Frames returns frames that take an input as one record.
func (Format) Frames(maxRecord int) corpus.Frames { return frames{most: maxRecord} }

type frames struct {
	corpus.FrameDefaults
	most int
}

func (f frames) Frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	switch {
	case len(data) > f.most:
		return corpus.Frame{
			Take: len(data), Pass: 1 << 62, Record: true,
			Bad: fmt.Sprintf("the file is longer than the limit of %d bytes", f.most),
		}
	case end == corpus.GoesOn:
		return corpus.Frame{Need: min(2*len(data), f.most) + 1}
	}
	return corpus.Frame{Take: len(data), Pass: len(data), Record: true}
}

// NewParser returns a parser for one goroutine. Files cannot be annotated.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	if annotate != "" {
		return nil, errors.New("--annotate adds a field to lines of JSON, and each input is one document: leave it out, and read the verdicts in --report")
	}
	if f.Subtitles {
		f.Text = withoutTimes(f.Text)
	}
	p := &parser{contentType: "text/plain", texts: corpus.NewTexts(f.Text)}
	if f.HTML {
		p.contentType = "text/html"
	}
	return p, nil
}

type parser struct {
	contentType string
	texts       *corpus.Texts
	doc         corpus.Document
}

// Parse returns the document of a block.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return b.Documents(&p.doc, func() error {
		p.doc.ID = []byte(b.File)
		return p.texts.Make(b, &p.doc, p.doc.Raw, p.contentType)
	})
}

// Keep writes the file unchanged. Each file needs a separate output, since nothing ends a file.
func (Format) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(raw) }
