package warc

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/corpus/output"
)

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
	b = fmt.Appendf(b, "WARC-Payload-Digest: %s\r\nWARC-Truncated: length\r\n", of.payloadDigest())
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
