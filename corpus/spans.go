package corpus

import (
	"bytes"
	"errors"
	"iter"

	"github.com/firstseen/firstseen/corpus/output"
)

// Documents goes over the records found by a [Framer], for its parser. read completes *doc, which has
// Raw and At, or returns why it is no document.
func (b *Block) Documents(doc *Document, read func() error) iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		b.Rewind()
		for _, span := range b.Spans {
			*doc = Document{Raw: b.Data[span.Start:span.End:span.End], At: span.At, Other: span.Other}
			reason := span.Bad
			if reason == "" && !span.Other {
				if err := read(); err != nil {
					reason = err.Error()
				}
			}
			if reason != "" {
				doc.ID, doc.Text = nil, nil
				doc.Bad = b.Bad(span.At, doc.Raw, reason)
			}
			if !yield(doc) {
				return
			}
		}
	}
}

var errNoFields = errors.New("only lines of JSON can be annotated")

// Unannotated has the methods of a format whose records take no field.
type Unannotated struct{}

// Annotate fails.
func (Unannotated) Annotate(*output.Writer, []byte, Slot, []byte) error { return errNoFields }

// Answer fails.
func (Unannotated) Answer(*output.Writer, string, []byte) error { return errNoFields }

// LooksLikeHTML reports whether a body without a type begins like a page.
func LooksLikeHTML(body []byte) bool {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body", "<title", "<!--"} {
		if len(body) >= len(tag) && bytes.EqualFold(body[:len(tag)], []byte(tag)) {
			return true
		}
	}
	return false
}
