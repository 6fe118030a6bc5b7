package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
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
	a, _ := parseAnswer(content)
	if a.head == 0 || !endsHeader(content[:a.head]) {
		return p, false
	}
	p.head, p.body = content[:a.head], content[a.head:]
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

// endsHeader reports whether a header ends with its blank line.
func endsHeader(head []byte) bool {
	return bytes.HasSuffix(head, []byte("\n\r\n")) || bytes.HasSuffix(head, []byte("\n\n"))
}

// eachChunk calls f with the content of each chunk of a body. Unlike dechunked it wants a complete
// body, and reports whether this is one (RFC 9112, section 7.1).
func eachChunk(body []byte, f func(data []byte)) bool {
	for {
		size, n := chunkSize(body)
		if n == 0 {
			return false
		}
		body = body[n:]
		if size == 0 {
			end := headEnd(body) // of the trailers
			return end == len(body)
		}
		if size >= len(body) {
			return false
		}
		f(body[:size])
		end := lineEnd(body[size:])
		if line := body[size : size+end]; string(line) != "\r\n" && string(line) != "\n" {
			return false
		}
		body = body[size+end:]
	}
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

// sumStored is the digest of the body with its chunks. Of a body in chunks, wget and
// warcio write that.
func (p *payload) sumStored(h hash.Hash) []byte {
	h.Write(p.body)
	return h.Sum(nil)
}

// algorithms of digests.
var algorithms = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha-1": sha1.New, "sha256": sha256.New, "sha-256": sha256.New, "sha512": sha512.New, "sha-512": sha512.New,
}

// states reports whether a WARC-Payload-Digest, such as sha1: and Base32, is that of the
// payload, or of the body with its chunks.
func (p *payload) states(digest []byte) bool {
	name, value, _ := bytes.Cut(digest, []byte(":"))
	algorithm := algorithms[mediaType(name)]
	if algorithm == nil {
		return false
	}
	return sameDigest(value, p.sum(algorithm())) || p.cut && sameDigest(value, p.sumStored(algorithm()))
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
