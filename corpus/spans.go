package corpus

import (
	"bytes"
	"iter"
)

// Documents goes over the records found by [Frames], for its parser. read completes *doc, which has
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

// CutDocuments goes over the records found by a [Cutter], for its parser. read completes *doc, which
// has Raw and At, or returns why it is no document. Empty records are handed out only if all is set.
func (b *Block) CutDocuments(c Cutter, doc *Document, all bool, read func() error) iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		b.Rewind()
		at := b.First
		for rest := b.Data; len(rest) > 0; at = at.Next() {
			end, whole := c.Cut(rest, 1)
			if whole == 0 {
				end = len(rest)
			}
			raw, empty := b.Strip(c, rest[:end])
			rest = rest[end:]
			if empty && !all {
				continue
			}
			if *doc = (Document{Raw: raw, At: at, Empty: empty}); !empty {
				b.readCut(doc, read)
			}
			if !yield(doc) {
				return
			}
		}
	}
}

func (b *Block) readCut(doc *Document, read func() error) {
	reason := b.Reject
	if reason == "" && !ValidUTF8(doc.Raw) {
		reason = "it is not UTF-8"
	}
	if reason == "" {
		doc.ID = b.Name(doc.At)
		if err := read(); err != nil {
			reason = err.Error()
		}
	}
	if reason != "" {
		doc.ID, doc.Text = nil, nil
		doc.Bad = b.Bad(doc.At, doc.Raw, reason)
	}
}

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
