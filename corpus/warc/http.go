package warc

import (
	"bytes"
	"slices"

	"github.com/firstseen/firstseen/corpus"
)

// verdict says whether a record is a document.
type verdict uint8

const (
	no     verdict = iota
	yes            // or a bad record
	packed         // yes, and it is compressed
)

// answer is the header of an answer of HTTP.
type answer struct {
	head   int // bytes, with those of interim answers before it; 0 without a header
	status int
	fields fields
}

// parseAnswer reads the header that content begins with. It has ended if no more of the
// content is needed. Interim answers, such as 100 Continue, come before the one that
// counts (RFC 9110, section 15.2).
func parseAnswer(content []byte) (a answer, ended bool) {
	a, ended = parseOneAnswer(content)
	for ended && a.status/100 == 1 && a.head < maxHead {
		final, all := parseOneAnswer(content[a.head:])
		if ended = all || len(content) >= maxHead; final.head == 0 {
			return a, ended
		}
		final.head += a.head
		a = final
	}
	return a, ended
}

func parseOneAnswer(content []byte) (a answer, ended bool) {
	if !bytes.HasPrefix(content, []byte("HTTP/")) {
		return answer{}, len(content) >= len("HTTP/")
	}
	head := headEnd(content)
	if ended = head >= 0 || len(content) >= maxHead; head < 0 {
		head = min(len(content), maxHead) // without a body
	}
	line := content[:lineEnd(content)]
	words := bytes.Fields(line)
	if len(words) < 2 || len(words[1]) != 3 {
		return answer{}, ended
	}
	for _, c := range words[1] {
		if c < '0' || c > '9' {
			return answer{}, ended
		}
		a.status = 10*a.status + int(c-'0')
	}
	a.head, a.fields = head, fieldsOf(content[:head])
	return a, ended
}

// wants reports whether a record is a document, by its headers. content is its content, or the
// beginning of that; need is the number of bytes that decide.
func (f Format) wants(r *record, content []byte, all bool) (v verdict, need int) {
	switch {
	case r.kind == "" || bytes.HasPrefix(r.uri, []byte("metadata://")):
		return no, 0
	case !r.isHTTP():
		if f.takes(r.mime) {
			return yes, 0
		}
		return no, 0
	}
	a, ended := parseAnswer(content)
	switch {
	case !ended && !all:
		return no, min(max(2*len(content), 1<<10), maxHead)
	case a.head == 0: // none: a bad record
		return yes, 0
	case !f.hasStatus(a.status):
		return no, 0
	}
	mime := a.fields.get("Content-Type")
	if len(bytes.TrimSpace(mime)) == 0 {
		mime = r.fields.get("WARC-Identified-Payload-Type")
	}
	if len(mime) == 0 {
		if body := content[a.head:]; len(body) < sniffed && !all {
			return no, a.head + sniffed
		} else if !corpus.LooksLikeHTML(body) {
			return no, 0
		}
		mime = []byte("text/html")
	}
	switch {
	case !f.takes(mime):
		return no, 0
	case len(encodings(a.fields)) > 0:
		return packed, 0
	}
	return yes, 0
}

// takes reports whether a media type is one of those that are wanted.
func (f Format) takes(contentType []byte) bool {
	types := f.Types
	if len(types) == 0 {
		types = DefaultTypes
	}
	return slices.Contains(types, mediaType(contentType)) || slices.Contains(types, "any")
}

// hasStatus reports whether a status is one of those that are wanted.
func (f Format) hasStatus(status int) bool {
	if len(f.Status) == 0 {
		return status == 200
	}
	return slices.ContainsFunc(f.Status, func(r StatusRange) bool { return r.From <= status && status <= r.To })
}

// sniffed is the number of bytes of a body that decide whether it is HTML, if no header does.
const sniffed = 256
