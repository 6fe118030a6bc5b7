package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"hash"
)

// A payload is the content of a record without the header of HTTP and without chunks. Two records
// with equal digests of it look the same when they are replayed (WARC 1.1, section 6.7.2).
type payload struct {
	head []byte // the header of HTTP, with its blank line; empty if there is none
	body []byte // what follows, as it is stored
	cut  bool   // into chunks
}

// payloadOf finds the payload of a record. ok is false if it is uncertain: the length is wrong,
// the header of HTTP has no end, or chunks are incomplete.
func payloadOf(r *record, raw []byte) (p payload, ok bool) {
	content := raw[r.head:]
	if r.length != int64(len(content)) || r.kind != "response" && r.kind != "resource" {
		return p, false
	}
	p.body = content
	if !r.isHTTP() {
		return p, true
	}
	a := parseAnswer(content)
	p.head, p.body = content[:a.head], content[a.head:]
	if !bytes.HasSuffix(p.head, []byte("\n\r\n")) && !bytes.HasSuffix(p.head, []byte("\n\n")) { // it has no end
		return payload{}, false
	}
	switch coding := mediaType(a.fields.get("Transfer-Encoding")); coding {
	case "", "identity":
		return p, true
	case "chunked":
		if _, n := chunkSize(p.body); n == 0 { // the writer has put the chunks together
			return p, true
		}
		p.cut = true
		return p, eachChunk(p.body, func([]byte) {})
	}
	return p, false
}

// sum is the digest of the payload.
func (p *payload) sum(h hash.Hash) []byte {
	if p.cut {
		eachChunk(p.body, func(data []byte) { h.Write(data) })
	} else {
		h.Write(p.body)
	}
	return h.Sum(nil)
}

// algorithms of digests.
var algorithms = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha-1": sha1.New, "sha256": sha256.New, "sha-256": sha256.New, "sha512": sha512.New, "sha-512": sha512.New,
}

// states reports whether a WARC-Payload-Digest, such as sha1: and Base32, is that of the
// payload. Of a body in chunks, wget and warcio write the digest with these.
func (p *payload) states(digest []byte) bool {
	name, value, _ := bytes.Cut(digest, []byte(":"))
	algorithm := algorithms[mediaType(name)]
	if algorithm == nil {
		return false
	}
	stored := payload{body: p.body}
	return sameDigest(value, p.sum(algorithm())) || p.cut && sameDigest(value, stored.sum(algorithm()))
}

// sameDigest compares a digest as it is written, in Base32 or in hexadecimal digits.
func sameDigest(text, sum []byte) bool {
	if len(text) == hex.EncodedLen(len(sum)) {
		return string(bytes.ToLower(text)) == hex.EncodeToString(sum)
	}
	text = bytes.ToUpper(bytes.TrimRight(text, "="))
	return string(text) == base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum)
}

// sha1Digest writes a SHA-1 as most archives do.
func sha1Digest(sum []byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sum) }

// maxWitness is how many bytes are stored of a witness at most. What would take more, for
// its URI is no id and that long, cannot be referred to.
const maxWitness = 640

// A witness is the data of a revisit record about the record it refers to.
type witness struct {
	digest [sha1.Size]byte // of the payload
	stated []byte          // its own WARC-Payload-Digest, if correct and another text
	date   []byte
	uri    []byte
}

// AppendWitness appends the data of a kept record to which revisit records may refer: docs/format.md,
// "Data of a document", has the form. id is the id of the document. If none can refer to it, nothing
// is appended.
func (f Format) AppendWitness(dst, raw, id []byte) []byte {
	w, ok := witnessOf(raw)
	if !ok {
		return dst
	}
	if bytes.Equal(w.uri, id) {
		w.uri = nil
	}
	if sha1.Size+1+len(w.stated)+1+len(w.date)+len(w.uri) > maxWitness {
		return dst
	}
	dst = append(dst, w.digest[:]...)
	dst = append(append(dst, byte(len(w.stated))), w.stated...)
	dst = append(append(dst, byte(len(w.date))), w.date...)
	return append(dst, w.uri...)
}

// witnessOf reads a record. ok is false if its payload is uncertain, or if it has no date or no URI.
func witnessOf(raw []byte) (w witness, ok bool) {
	if !isWARC(raw) {
		return w, false
	}
	head := headEnd(raw)
	if head < 0 {
		return w, false
	}
	r := parseHead(raw[:head])
	p, ok := payloadOf(&r, raw)
	if !ok || len(r.uri) == 0 || r.time().IsZero() || len(r.date) > 64 || hasControl(r.uri) {
		return w, false
	}
	copy(w.digest[:], p.sum(sha1.New()))
	w.date, w.uri = r.date, r.uri
	if stated := r.fields.get("WARC-Payload-Digest"); len(stated) <= 160 && string(stated) != sha1Digest(w.digest[:]) && !hasControl(stated) && p.states(stated) {
		w.stated = stated
	}
	return w, true
}

// hasControl reports whether a value would not be one line.
func hasControl(value []byte) bool {
	return bytes.IndexFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0
}

var errWitness = errors.New("what is stored of a web record, for revisit records, is not what was stored: the index is damaged, or another program's")

// parseWitness reads what AppendWitness has written of a document with that id.
func parseWitness(b []byte, id string) (w witness, err error) {
	if len(b) < sha1.Size {
		return w, errWitness
	}
	b = b[copy(w.digest[:], b):]
	for _, field := range []*[]byte{&w.stated, &w.date} {
		if len(b) == 0 || int(b[0]) > len(b)-1 {
			return w, errWitness
		}
		*field, b = b[1:][:b[0]], b[1+int(b[0]):]
	}
	if w.uri = b; len(b) == 0 {
		w.uri = []byte(id)
	}
	return w, nil
}

// payloadDigest is the WARC-Payload-Digest by which the record is known.
func (w *witness) payloadDigest() string {
	if len(w.stated) > 0 {
		return string(w.stated)
	}
	return sha1Digest(w.digest[:])
}
