package warc

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"

	"github.com/firstseen/firstseen/corpus/output"
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

// Revisit sets the replacement for a removed record.
type Revisit struct {
	Write bool // a revisit record if the payload is the witness's, otherwise a metadata record
	Keep  bool // with a metadata record, also the record itself
}

// Removed is a removed record.
type Removed struct {
	Raw     []byte
	Own     []byte // its own data from AppendWitness
	Of      string // id of the witness, or ""
	Witness []byte // data of the witness from AppendWitness, or nil
	Verdict string // as in reports
	Score   string // as in reports
}

// Instead writes the replacement for a removed record, which depends only on r. For the payload of
// the witness, this is a revisit record (revisit is true), and a replay shows the witness's bytes.
// Otherwise it is a metadata record. Nothing is written for the same capture as the witness.
func (f Format) Instead(w *output.Writer, r Removed) (revisit bool, err error) {
	if !isWARC(r.Raw) {
		return false, errNoWARC
	}
	var own, of witness
	same := r.Own != nil && r.Witness != nil
	if same {
		if own, err = parseWitness(r.Own, r.Of); err != nil { // its URI is not used
			return false, err
		}
		if of, err = parseWitness(r.Witness, r.Of); err != nil {
			return false, err
		}
		same = own.digest == of.digest
	}
	head := parseHead(r.Raw[:headEnd(r.Raw)])
	switch {
	case same && bytes.Equal(head.uri, of.uri) && bytes.Equal(head.date, of.date):
		return false, nil
	case same:
		return true, w.WriteAlone(revisitOf(&head, r.Raw, &of), f.terminator())
	case f.Revisit.Keep:
		if err := f.Keep(w, r.Raw); err != nil {
			return false, err
		}
	}
	return false, w.WriteAlone(metadataOf(&head, r.Raw, &r, f.Revisit.Keep), f.terminator())
}

var errNoWARC = errors.New("--format warc:revisit writes records of web archives, and the input is not one: leave it out")

// ownFields are the header fields that a revisit record does not copy.
var ownFields = []string{
	"WARC-Type", "WARC-Record-ID", "WARC-Profile", "WARC-Refers-To", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date",
	"WARC-Payload-Digest", "WARC-Block-Digest", "WARC-Truncated", "Content-Type", "Content-Length",
}

// revisitOf returns the revisit record for a record with the payload of another (WARC 1.1, section
// 6.7.2). It has the fields of the record, except those of the payload, and its HTTP header.
func revisitOf(r *record, raw []byte, of *witness) []byte {
	p, _ := payloadOf(r, raw)
	version := versionOf(raw)
	b := fmt.Appendf(nil, "WARC/%s\r\nWARC-Type: revisit\r\nWARC-Record-ID: %s\r\n", version, derivedID("revisit", raw[:r.head]))
	b = appendFields(b, r.fields, ownFields)
	b = fmt.Appendf(b, "WARC-Profile: http://netpreserve.org/warc/%s/revisit/identical-payload-digest\r\n", version)
	b = fmt.Appendf(b, "WARC-Refers-To-Target-URI: %s\r\nWARC-Refers-To-Date: %s\r\n", of.uri, of.date)
	b = fmt.Appendf(b, "WARC-Payload-Digest: %s\r\nWARC-Truncated: length\r\n", cmp.Or(string(of.stated), sha1Digest(of.digest[:])))
	return appendBlock(b, r.mime, p.head)
}

// metadataOf returns a metadata record with the reason for a removal.
func metadataOf(r *record, raw []byte, removed *Removed, kept bool) []byte {
	block := fmt.Appendf(nil, "%sverdict: %s\r\n", ourMetadata, removed.Verdict)
	if removed.Of != "" {
		block = fmt.Appendf(block, "of: %s\r\n", oneLine(removed.Of))
	}
	block = fmt.Appendf(block, "score: %s\r\n%s%t\r\n", removed.Score, keptField, kept)
	b := fmt.Appendf(nil, "WARC/%s\r\nWARC-Type: metadata\r\nWARC-Record-ID: %s\r\n", versionOf(raw), derivedID("metadata", raw[:r.head]))
	for _, name := range []string{"WARC-Target-URI", "WARC-Date", "WARC-Warcinfo-ID"} {
		if value := r.fields.get(name); value != nil {
			b = fmt.Appendf(b, "%s: %s\r\n", name, value)
		}
	}
	if id := r.fields.get("WARC-Record-ID"); id != nil {
		b = fmt.Appendf(b, "WARC-Refers-To: %s\r\n", id)
		if kept {
			b = fmt.Appendf(b, "WARC-Concurrent-To: %s\r\n", id)
		}
	}
	return appendBlock(b, []byte("application/warc-fields"), block)
}

// First line of our metadata records, and the field that shows whether a record was kept.
const (
	ourMetadata = "software: firstseen\r\n"
	keptField   = "kept: "
)

// copies reports whether a record other than a document is written unchanged: revisits, and our
// metadata about absent records. Metadata about a present record is written anew.
func (f Format) copies(r *record, content []byte) bool {
	switch {
	case !f.Revisit.Write || f.ARC:
		return false
	case r.kind == "revisit":
		return true
	}
	return r.kind == "metadata" && bytes.HasPrefix(content, []byte(ourMetadata)) && bytes.HasSuffix(content, []byte(keptField+"false\r\n"))
}

// appendBlock appends the end of a header and the block after it.
func appendBlock(b, contentType, block []byte) []byte {
	sum := sha1.Sum(block)
	b = fmt.Appendf(b, "WARC-Block-Digest: %s\r\n", sha1Digest(sum[:]))
	if len(contentType) > 0 {
		b = fmt.Appendf(b, "Content-Type: %s\r\n", contentType)
	}
	b = fmt.Appendf(b, "Content-Length: %d\r\n\r\n", len(block))
	return append(b, block...)
}

// appendFields appends the fields of a header, except some, each on one line.
func appendFields(dst []byte, f fields, but []string) []byte {
	for rest := []byte(f); len(rest) > 0; {
		line := rest[:lineEnd(rest)]
		rest = rest[len(line):]
		name, value, found := bytes.Cut(line, []byte(":"))
		name = bytes.TrimRight(name, " \t")
		if !found || len(name) == 0 || name[0] == ' ' || name[0] == '\t' {
			continue // folded, or not a field
		}
		if slices.ContainsFunc(but, func(b string) bool { return is(name, b) }) {
			continue
		}
		value, rest = unfolded(bytes.TrimSpace(value), rest)
		dst = fmt.Appendf(dst, "%s: %s\r\n", name, value)
	}
	return dst
}

// versionOf returns the version of a record if it is known, or 1.1.
func versionOf(raw []byte) string {
	for _, version := range []string{"0.17", "0.18", "1.0", "1.1"} {
		if bytes.HasPrefix(raw[len("WARC/"):], []byte(version)) {
			return version
		}
	}
	return "1.1"
}

// derivedID returns the id of a record about another: a UUID from the header of the other, by SHA-1
// (version 5 of RFC 9562, section 5.5, in the name space of URLs). It is always the same.
func derivedID(kind string, head []byte) string {
	h := sha1.New()
	h.Write([]byte("\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"))
	fmt.Fprintf(h, "https://github.com/firstseen/firstseen#%s\n", kind)
	h.Write(head)
	id := h.Sum(nil)
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// oneLine escapes control characters, as in URIs.
func oneLine(text string) string {
	var b []byte
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == 0x7f {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}
