package mbox

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/base/charset"
)

const (
	maxHeader = 128 << 10 // bytes of the header of a mail
	maxText   = 1 << 20   // bytes of the decoded parts of a mail that are read
	maxDepth  = 8         // of mails and parts within parts
)

var errHeader = errors.New("the header of the mail cannot be read: a line has no colon, or it is longer than 128 KiB")

// parser makes documents of mails. It reuses its buffers.
type parser struct {
	id      string // header field
	texts   *corpus.Texts
	block   *corpus.Block
	doc     corpus.Document
	text    []byte // of the mail
	decoded []byte // of a part
	left    int64  // bytes of parts that may be read
	passes  bool   // the mail passes another one on, which is not quoted
}

// read completes the document of a mail.
func (p *parser) read() error {
	raw := p.doc.Raw
	if bytes.HasPrefix(raw, []byte("From ")) {
		_, raw, _ = bytes.Cut(raw, newline)
	}
	m, err := open(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if id := strings.Trim(m.Header.Get(p.id), "<> \t"); id != "" {
		p.doc.ID = p.block.Keep([]byte(strings.ToValidUTF8(id, "\uFFFD")))
	}
	if at, err := m.Header.Date(); err == nil {
		p.doc.Time = at.UTC()
	}
	subject := decodedWords(m.Header.Get("Subject"))
	p.text, p.left, p.passes = append(p.text[:0], subject...), maxText, passedOn.MatchString(subject)
	if subject != "" {
		p.text = append(p.text, '\n')
	}
	p.part(m.Header.Get, "text/plain", m.Body, 0)
	p.doc.Text = p.block.Keep(bytes.TrimSuffix(p.text, newline))
	return nil
}

// open reads the header of a mail.
func open(r io.Reader) (*mail.Message, error) {
	limited := &io.LimitedReader{R: r, N: maxHeader}
	m, err := mail.ReadMessage(limited)
	if err != nil || len(m.Header) == 0 || limited.N <= 0 {
		return nil, errHeader
	}
	limited.N = math.MaxInt64
	return m, nil
}

// part appends the text of a mail or a part, of the usual type unless it has one. It returns how well
// its type suits as an alternative.
func (p *parser) part(header func(string) string, usual string, body io.Reader, depth int) (suits int) {
	kind, parameters, _ := mime.ParseMediaType(cmp.Or(header("Content-Type"), usual))
	disposition, _, _ := mime.ParseMediaType(header("Content-Disposition"))
	switch strings.ToLower(strings.TrimSpace(header("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	boundary := parameters["boundary"]
	switch isText := kind == "" || strings.HasPrefix(kind, "text"); {
	case depth > maxDepth, disposition == "attachment" && isText:
		p.doc.Part = p.doc.Part || depth > maxDepth
	case strings.HasPrefix(kind, "multipart/") && boundary != "":
		p.parts(multipart.NewReader(body, boundary), kind, depth+1)
	case kind == "message/rfc822" || kind == "message/global":
		if m, err := open(body); err == nil {
			p.part(m.Header.Get, "text/plain", m.Body, depth+1)
		}
	case isText || strings.HasPrefix(kind, "multipart/"):
		p.leaf(kind, parameters, body)
	}
	if kind == "text/plain" {
		return 2
	}
	return 1
}

// parts appends the texts of all parts. Of alternatives it appends one: plain text, or the first that
// has any.
func (p *parser) parts(r *multipart.Reader, kind string, depth int) {
	start, best, usual := len(p.text), 0, "text/plain"
	if kind == "multipart/digest" {
		usual = "message/rfc822"
	}
	for {
		part, err := r.NextRawPart()
		if err != nil {
			p.doc.Part = p.doc.Part || err != io.EOF
			return
		}
		at := len(p.text)
		suits := p.part(part.Header.Get, usual, part, depth)
		switch found := p.text[at:]; {
		case kind != "multipart/alternative":
		case len(found) > 0 && suits > best:
			p.text, best = append(p.text[:start], found...), suits
		default:
			p.text = p.text[:at]
		}
	}
}

// leaf appends the text of a part without parts. What cannot be decoded is left out, to its end.
func (p *parser) leaf(kind string, parameters map[string]string, body io.Reader) {
	data, err := io.ReadAll(io.LimitReader(body, p.left+1))
	p.doc.Part = p.doc.Part || err != nil || int64(len(data)) > p.left
	data = data[:min(int64(len(data)), p.left)]
	p.left -= int64(len(data))
	if kind == "text/html" {
		data = withoutQuotes(data)
	}
	if p.decoded, _, err = p.texts.Append(p.block, p.decoded[:0], data, kind+"; charset="+parameters["charset"]); err != nil {
		p.doc.Part = true
		return
	}
	flowed := strings.EqualFold(parameters["format"], "flowed")
	p.text = appendOwn(p.text, p.decoded, p.passes, flowed, flowed && strings.EqualFold(parameters["delsp"], "yes"))
}

var words = mime.WordDecoder{CharsetReader: func(name string, r io.Reader) (io.Reader, error) {
	encoded, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	text, _, err := charset.Decode(nil, encoded, "text/plain; charset="+name)
	return bytes.NewReader(text), err
}}

// decodedWords returns the text of a header field: encoded words, or bytes in an encoding that is not named.
func decodedWords(field string) string {
	if text, err := words.DecodeHeader(field); err == nil {
		field = text
	}
	if text, _, err := charset.Decode(nil, []byte(field), ""); err == nil {
		field = string(text)
	}
	return strings.Join(slices.Collect(strings.FieldsSeq(strings.ToValidUTF8(field, "\uFFFD"))), " ")
}
