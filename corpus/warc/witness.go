package warc

import (
	"bytes"
	"crypto/sha1"
	"errors"
)

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
