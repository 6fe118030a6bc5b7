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

// payload is the content of a record without its HTTP header and chunks. Two records with equal
// payload digests look the same in a replay (WARC 1.1, section 6.7.2).
type payload struct {
	head []byte // HTTP header with its blank line, or empty
	body []byte // the rest, as stored
	cut  bool   // into chunks
}

// payloadOf returns the payload of a record. ok is false if it is uncertain, because the length is
// wrong, the HTTP header has no end, or chunks are incomplete.
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
	if !bytes.HasSuffix(p.head, []byte("\n\r\n")) && !bytes.HasSuffix(p.head, []byte("\n\n")) {
		return payload{}, false
	}
	switch coding := mediaType(a.fields.get("Transfer-Encoding")); coding {
	case "", "identity":
		return p, true
	case "chunked":
		if _, n := chunkSize(p.body); n == 0 { // the writer joined the chunks
			return p, true
		}
		p.cut = true
		return p, eachChunk(p.body, func([]byte) {})
	}
	return p, false
}

// sum returns the digest of the payload.
func (p *payload) sum(h hash.Hash) []byte {
	if p.cut {
		eachChunk(p.body, func(data []byte) { h.Write(data) })
	} else {
		h.Write(p.body)
	}
	return h.Sum(nil)
}

var algorithms = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha-1": sha1.New, "sha256": sha256.New, "sha-256": sha256.New, "sha512": sha512.New, "sha-512": sha512.New,
}

// states reports whether a WARC-Payload-Digest, such as sha1: and Base32, matches the payload.
// Those of wget and warcio include the chunks.
func (p *payload) states(digest []byte) bool {
	name, value, _ := bytes.Cut(digest, []byte(":"))
	algorithm := algorithms[mediaType(name)]
	if algorithm == nil {
		return false
	}
	stored := payload{body: p.body}
	return sameDigest(value, p.sum(algorithm())) || p.cut && sameDigest(value, stored.sum(algorithm()))
}

// sameDigest compares a digest in Base32 or hexadecimal digits with sum.
func sameDigest(text, sum []byte) bool {
	if len(text) == hex.EncodedLen(len(sum)) {
		return string(bytes.ToLower(text)) == hex.EncodeToString(sum)
	}
	text = bytes.ToUpper(bytes.TrimRight(text, "="))
	return string(text) == base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum)
}

// sha1Digest formats a SHA-1 as in most archives.
func sha1Digest(sum []byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sum) }

// maxWitness is the maximum number of bytes stored for a witness. A longer one, whose long URI is
// not its id, cannot be referred to.
const maxWitness = 640

// witness is the data that a revisit record has about the record it refers to.
type witness struct {
	digest [sha1.Size]byte // of the payload
	stated []byte          // its WARC-Payload-Digest, if correct but written differently
	date   []byte
	uri    []byte
}

// AppendWitness appends the data of a kept record for later revisit records, in the form described
// in docs/format.md, "Data of a document". id is the id of the document. If no revisit record can
// refer to it, nothing is appended.
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

// witnessOf parses a record. ok is false if the payload is uncertain, or date or URI is missing.
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

// hasControl reports whether a value could break a line.
func hasControl(value []byte) bool {
	return bytes.IndexFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0
}

var errWitness = errors.New("the data of a web record stored for revisit records is invalid: the index is damaged, or another program wrote it")

// parseWitness parses the output of AppendWitness for a document with this id.
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

// payloadDigest returns the WARC-Payload-Digest of the record.
func (w *witness) payloadDigest() string {
	if len(w.stated) > 0 {
		return string(w.stated)
	}
	return sha1Digest(w.digest[:])
}
