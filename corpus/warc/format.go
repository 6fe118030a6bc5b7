// Package warc reads web archives: WARC version 0.17 to 1.1 (ISO 28500), including the WET of
// Common Crawl, and ARC version 1.
//
// Documents are records of the types response, resource and conversion with a wanted status and
// media type. Other records are skipped: requests, metadata, revisits without content, and the
// resources in which wget logs its own run. In an ARC, so are records of protocols other than HTTP.
//
// Real files break the rules, so the reader is lenient:
//
//   - A Content-Length is believed if another record follows, or if the input or its compressed
//     member ends there. Otherwise the record ends at the next header, inside it or after it. A
//     record longer than the limit ends early at a whole header inside it, unless it contains an
//     archive.
//   - Header lines may be folded and end in LF, URIs may have angle brackets and spaces, and blank
//     lines may be missing.
//   - A body without chunks or compression is used unchanged, even if its header announces them.
//   - Bytes outside any record are one bad record up to the next header. So is a damaged member.
//
// Kept records are written byte for byte. [Format.Instead] replaces a removed record by a revisit
// record if its payload equals an earlier one's. [Format.AppendWitness] creates the data to store
// for that. Digests in headers are not trusted.
package warc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is WARC or ARC. Its zero value accepts status 200, [DefaultTypes], and texts in UTF-8.
type Format struct {
	corpus.Framed

	IDField string             // header field of the id; "" means WARC-Target-URI; unused in an ARC
	Status  []StatusRange      // HTTP statuses of documents; none means 200
	Types   []string           // media types in lower case, or "any"; none means DefaultTypes
	Text    func() corpus.Text // called once per parser; nil takes a body unchanged
	MaxBody int                // bytes of a decompressed body; 0 means corpus.DefaultMaxRecord
	Ratio   int                // maximum expansion of a body; see compress.Bounds.MaxRatio
	ARC     bool               // the inputs are ARCs, which cannot be written
	Revisit Revisit            // replacement for removed records; the zero value writes none
}

// DefaultTypes are the default media types of documents.
var DefaultTypes = []string{"text/html", "application/xhtml+xml", "text/plain"}

// StatusRange is an inclusive range of HTTP statuses.
type StatusRange struct{ From, To int }

// ParseStatus parses statuses: "200,203", "2xx" or "any".
func ParseStatus(text string) (list []StatusRange, err error) {
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "any" {
			return []StatusRange{{0, 999}}, nil
		}
		low, high := strings.ReplaceAll(word, "x", "0"), strings.ReplaceAll(word, "x", "9")
		from, err := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || len(word) != 3 {
			return nil, fmt.Errorf("status %q: want statuses such as 200,203 or 2xx, or any", word)
		}
		list = append(list, StatusRange{from, to})
	}
	return list, nil
}

// ParseTypes parses media types: "text/html,text/plain" or "any".
func ParseTypes(text string) (list []string, err error) {
	for word := range strings.SplitSeq(strings.ToLower(text), ",") {
		word = strings.TrimSpace(word)
		if word != "any" && !strings.Contains(word, "/") {
			return nil, errors.New("want media types such as text/html,text/plain, or any")
		}
		list = append(list, word)
	}
	return list, nil
}

var _ corpus.Format = Format{}

// Name is "WARC" or "ARC".
func (f Format) Name() string {
	if f.ARC {
		return "ARC"
	}
	return "WARC"
}

// Endings are those of web archives.
func (f Format) Endings() []string {
	if f.ARC {
		return []string{".arc"}
	}
	return []string{".warc", ".wet", ".wat", ".wacz"}
}

func (f Format) terminator() []byte {
	if f.ARC {
		return []byte("\n")
	}
	return []byte("\r\n\r\n")
}

// Recognize recognizes a web archive by its first record.
func (f Format) Recognize(head []byte) bool {
	head = head[blank(head):]
	return f.ARC && isARC(head) || !f.ARC && isWARC(head)
}

// Frames returns a finder for the records of one input.
func (f Format) Frames(maxRecord int) corpus.Frames { return &frames{format: f, max: maxRecord} }

func (f Format) maxBody() int { return cmp.Or(max(f.MaxBody, 0), corpus.DefaultMaxRecord) }

// leastInflated bytes are allowed for any body: less than a thousand times the shortest record.
const leastInflated = 128 << 10

// inflatable returns how many bytes a body may be decompressed to, with all its encodings.
func (f Format) inflatable(body int) int64 {
	ratio := int64(f.Ratio)
	switch {
	case ratio < 0:
		return math.MaxInt64
	case ratio == 0:
		ratio = compress.DefaultMaxRatio
	}
	return max(leastInflated, int64(body)*min(ratio, math.MaxInt64/int64(max(body, 1))))
}

// NewParser returns a parser for one goroutine. Records cannot be annotated.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	if annotate != "" {
		return nil, errors.New("--annotate adds a field to lines of JSON, and the inputs are web archives: leave it out, and read the verdicts in --report")
	}
	return &parser{format: f, texts: corpus.NewTexts(f.Text), plain: corpus.NewTexts(nil)}, nil
}

// Keep writes a record unchanged. Compressed output has it in a separate member or frame, to be
// found by its offset. For an ARC it returns ErrARC.
func (f Format) Keep(w *output.Writer, raw []byte) error {
	if f.ARC {
		return ErrARC
	}
	return w.WriteAlone(raw, f.terminator())
}

// ErrARC is returned when an ARC would be written. Readers require a first record about the ARC
// itself, which only its creator can write.
var ErrARC = errors.New("ARC files can be read but not written: convert them to WARC first, as warcio recompress IN.arc.gz OUT.warc.gz does, or leave out --out and read the removed records in --report")

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
