package corpus

import (
	"bytes"
	"errors"

	"github.com/firstseen/firstseen/internal/base/lexical"
)

// Text returns the text of a body, in any encoding, and the value of [Document.Exact]. The text may
// be part of the body, or be written to a slice from room. room returns an empty slice with
// capacity for n bytes, valid until room is called twice more. Only one goroutine uses a Text.
type Text func(room func(n int) []byte, body []byte, contentType string) (text []byte, exact bool, err error)

// Plain returns the text of a body in UTF-8.
func Plain(_ func(int) []byte, body []byte, _ string) ([]byte, bool, error) {
	body = bytes.TrimPrefix(body, []byte(lexical.ByteOrderMark))
	if !lexical.ValidUTF8(body) {
		return nil, false, errors.New("it is not UTF-8")
	}
	return body, false, nil
}

// Texts makes the texts of documents, for a parser whose records contain other forms, in its
// goroutine.
type Texts struct {
	text Text
	bufs [2][]byte // for short texts, reused
	turn int
}

// NewTexts returns a Texts that calls text, or [Plain] if text is nil.
func NewTexts(text func() Text) *Texts {
	if text == nil {
		return &Texts{text: Plain}
	}
	return &Texts{text: text()}
}

// longText is the length in bytes above which a text gets separate memory. Each parser keeps
// buffers for shorter texts, and every worker may have a parser.
const longText = 128 << 10

// Make sets the text of a document from a body. The text stays valid as long as the block's bytes.
func (t *Texts) Make(b *Block, doc *Document, body []byte, contentType string) error {
	text, exact, err := t.text(func(n int) []byte { return t.room(b, n) }, body, contentType)
	if err != nil || len(text) == 0 {
		return err
	}
	if doc.Text, doc.Exact = text, exact; len(text) <= longText {
		doc.Text = b.Keep(text)
	}
	return nil // longer texts are already in the memory of the block, or in the body
}

// Append appends the text of a body to dst. The body may be in the memory after dst.
func (t *Texts) Append(b *Block, dst, body []byte, contentType string) (_ []byte, exact bool, err error) {
	text, exact, err := t.text(func(n int) []byte { return t.room(b, n) }, body, contentType)
	return append(dst, text...), exact, err
}

func (t *Texts) room(b *Block, n int) []byte {
	if n > longText {
		b.Take(n / 2) // an upper bound: only touched pages use memory
		return b.Memory(n)
	}
	buf := &t.bufs[t.turn]
	t.turn = 1 - t.turn
	if cap(*buf) < n {
		*buf = make([]byte, 0, n+n/4)
	}
	return (*buf)[:0]
}
