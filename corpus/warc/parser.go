package warc

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
)

// mostEncodings is the maximum number of encodings of a body. Servers use one, rarely two.
const mostEncodings = 8

// parser turns blocks of records into documents. It must be used by one goroutine only.
type parser struct {
	format Format
	texts  *corpus.Texts
	plain  *corpus.Texts // for WET
	unpack unpacker
	chunks []byte // the joined chunks of a body
	doc    corpus.Document
}

// Parse returns the documents of a block in the order of its records.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	return b.Documents(&p.doc, func() error { return p.parse(b) })
}

var errNoAnswer = errors.New("the HTTP header cannot be read")

func (p *parser) parse(b *corpus.Block) error {
	raw := p.doc.Raw
	head := lineEnd(raw)
	if isWARC(raw) {
		head = headEnd(raw)
	}
	r := parseHead(raw[:head])
	p.doc.Time, p.unpack.cut = r.time(), r.isPart()
	p.setID(&r)
	body, contentType := raw[head:], r.mime
	if r.isHTTP() {
		var a answer
		if a, contentType = r.answer(body); a.head == 0 {
			return errNoAnswer
		}
		body = body[a.head:]
		var err error
		if body, err = p.decode(b, a.fields, body); err != nil {
			return err
		}
	}
	p.doc.Part = p.unpack.cut
	texts := p.texts
	if r.kind == "conversion" && mediaType(contentType) == "text/plain" && utf8.Valid(body) {
		texts = p.plain // as in WET, even with control characters
	}
	return texts.Make(b, &p.doc, body, string(contentType))
}

func (p *parser) setID(r *record) {
	id := r.uri
	if name := p.format.IDField; name != "" && !r.arc {
		id = trimmed(r.fields.get(name))
	}
	if p.doc.ID = id; !utf8.Valid(id) {
		p.doc.ID = bytes.ToValidUTF8(id, []byte("\ufffd"))
	}
}

// decode undoes the encodings that HTTP applied to a body.
func (p *parser) decode(b *corpus.Block, f fields, body []byte) (_ []byte, err error) {
	chunked := bytes.Contains(bytes.ToLower(f.list("Transfer-Encoding")), []byte("chunked"))
	if _, n := chunkSize(body); chunked && n > 0 {
		dst := p.chunks[:0]
		if len(body) > smallBody {
			b.Take(len(body))
			dst = b.Memory(len(body))
		}
		eachChunk(body, func(data []byte) { dst = append(dst, data...) })
		if len(body) <= smallBody {
			p.chunks = dst
		}
		body = dst
	}
	list := encodings(f)
	slices.Reverse(list) // undo the last one first
	if len(list) > mostEncodings {
		return nil, fmt.Errorf("the body has %d nested encodings: more than %d are not decoded", len(list), mostEncodings)
	}
	stored, began := len(body), b.Inflated
	for i, encoding := range list {
		if i > 0 && len(body) <= smallBody { // the next decoding reuses this memory
			body = bytes.Clone(body)
		}
		left := max(0, p.format.inflatable(stored)-(b.Inflated-began))
		body, err = p.unpack.unpack(b, encoding, body, int(min(left, int64(p.format.maxBody()))))
		switch {
		case errors.Is(err, errTooLong) && left < int64(p.format.maxBody()):
			return nil, fmt.Errorf("the body of %d bytes expands to more than %d: it may be malicious; if it is not, allow it with --limit ratio=0",
				stored, p.format.inflatable(stored))
		case err != nil:
			return nil, err
		}
	}
	return body, nil
}
