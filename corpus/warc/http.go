package warc

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/firstseen/firstseen/corpus"
)

// answer is the header of an answer of HTTP.
type answer struct {
	head   int // bytes, with those of interim answers before it; 0 without a header
	status int
	fields fields
}

// parseAnswer reads the header that content begins with. Interim answers, such as 100 Continue, come
// before the one that counts (RFC 9110, section 15.2).
func parseAnswer(content []byte) (a answer) {
	for bytes.HasPrefix(content, []byte("HTTP/")) {
		words := bytes.Fields(content[:lineEnd(content)])
		if len(words) < 2 || len(words[1]) != 3 || length(words[1]) < 0 {
			break
		}
		n := headEnd(content)
		if n < 0 {
			n = min(len(content), maxHead) // without a body
		}
		a = answer{head: a.head + n, status: int(length(words[1])), fields: fieldsOf(content[:n])}
		if content = content[n:]; a.status/100 != 1 || a.head >= maxHead {
			break
		}
	}
	return a
}

// wants reports whether a record is a document or a bad one, by its headers, and whether its body is
// compressed.
func (f Format) wants(r *record, content []byte) (wanted, packed bool) {
	switch {
	case !r.isDocument() || bytes.HasPrefix(r.uri, []byte("metadata://")):
		return false, false
	case !r.isHTTP():
		return f.takes(r.mime), false
	}
	a, mime := r.answer(content)
	if a.head == 0 { // none: a bad record
		return true, false
	}
	wanted = f.hasStatus(a.status) && len(mime) > 0 && f.takes(mime)
	return wanted, wanted && len(encodings(a.fields)) > 0
}

// answer returns the header of HTTP of a record with its content, and the type of its body.
func (r *record) answer(content []byte) (a answer, mime []byte) {
	a = parseAnswer(content)
	if mime = a.fields.get("Content-Type"); len(mime) == 0 {
		mime = r.fields.get("WARC-Identified-Payload-Type")
	}
	if len(mime) == 0 && corpus.LooksLikeHTML(content[a.head:]) {
		mime = []byte("text/html")
	}
	return a, mime
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

// maxHead is how many bytes a header may have, that of a record or of HTTP.
const maxHead = 64 << 10

// headEnd returns the index behind the blank line that ends a header, or -1.
func headEnd(data []byte) int {
	for at := 0; at < len(data); {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return -1
		}
		if i == 0 || i == 1 && data[at] == '\r' {
			return at + i + 1
		}
		at += i + 1
	}
	return -1
}

// fields are the lines of a header behind the first.
type fields []byte

// fieldsOf returns the lines of a header behind the first.
func fieldsOf(head []byte) fields {
	return fields(head[bytes.IndexByte(head, '\n')+1:])
}

// get returns the value of the first field of a name, with folded lines joined, or nil if there is
// none.
func (f fields) get(name string) []byte {
	for rest := []byte(f); len(rest) > 0; {
		line := rest[:lineEnd(rest)]
		rest = rest[len(line):]
		value, found := valueOf(line, name)
		if !found {
			continue
		}
		value, _ = unfolded(value, rest)
		return value
	}
	return nil
}

// unfolded puts the lines that go on with a value behind it, with a space between two that
// say something. The value may begin in the second line.
func unfolded(value, rest []byte) (_, behind []byte) {
	for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
		line := rest[:lineEnd(rest)]
		rest = rest[len(line):]
		more := bytes.TrimSpace(line)
		switch {
		case len(value) == 0:
			value = slices.Clip(more)
		case len(more) > 0:
			value = slices.Concat(value, []byte(" "), more)
		}
	}
	return value, rest
}

func lineEnd(data []byte) int {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1
	}
	return len(data)
}

// valueOf returns what stands behind the colon of a line that begins with the name.
func valueOf(line []byte, name string) (value []byte, found bool) {
	if len(line) <= len(name) || line[0]|0x20 != name[0]|0x20 {
		return nil, false
	}
	colon := bytes.IndexByte(line, ':')
	if colon < len(name) || !bytes.EqualFold(bytes.TrimRight(line[:colon], " \t"), []byte(name)) {
		return nil, false
	}
	value = bytes.TrimSpace(line[colon+1:])
	return value[:len(value):len(value)], true
}

// is compares a word of a header, in which case means nothing.
func is(value []byte, word string) bool {
	return len(value) == len(word) && bytes.EqualFold(value, []byte(word))
}

// mediaType is the type of a Content-Type without its parameters, in small letters.
func mediaType(value []byte) string {
	value, _, _ = bytes.Cut(value, []byte(";"))
	value, _, _ = bytes.Cut(value, []byte(",")) // two headers put together
	return string(bytes.ToLower(bytes.TrimSpace(value)))
}

// length reads a Content-Length. It returns -1 if the value is none.
func length(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 || value[0] == '+' {
		return -1
	}
	return n
}

// trimmed takes the brackets away that some writers put around a URI.
func trimmed(uri []byte) []byte {
	if n := len(uri); n >= 2 && uri[0] == '<' && uri[n-1] == '>' {
		uri = uri[1 : n-1]
	}
	return uri
}
