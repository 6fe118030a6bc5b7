package warc

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/firstseen/firstseen/internal/base/lexical"
)

// answer is the header of an HTTP response.
type answer struct {
	head   int // length with preceding interim responses; 0 without a header
	status int
	fields fields
}

// parseAnswer parses the header at the start of content. Interim responses, such as 100 Continue,
// precede the final one (RFC 9110, section 15.2).
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

// wants reports, by its headers, whether a record is a document or a bad record, and whether its
// body is compressed.
func (f Format) wants(r *record, content []byte) (wanted, packed bool) {
	switch {
	case !r.isDocument() || bytes.HasPrefix(r.uri, []byte("metadata://")):
		return false, false
	case !r.isHTTP():
		return f.takes(r.mime), false
	}
	a, mime := r.answer(content)
	if a.head == 0 { // missing: a bad record
		return true, false
	}
	wanted = f.hasStatus(a.status) && len(mime) > 0 && f.takes(mime)
	return wanted, wanted && len(encodings(a.fields)) > 0
}

// answer returns the HTTP header of a record with this content, and the media type of its body.
func (r *record) answer(content []byte) (a answer, mime []byte) {
	a = parseAnswer(content)
	if mime = a.fields.get("Content-Type"); len(mime) == 0 {
		mime = r.fields.get("WARC-Identified-Payload-Type")
	}
	if len(mime) == 0 && lexical.LooksLikeHTML(content[a.head:]) {
		mime = []byte("text/html")
	}
	return a, mime
}

func (f Format) takes(contentType []byte) bool {
	types := f.Types
	if len(types) == 0 {
		types = DefaultTypes
	}
	return slices.Contains(types, mediaType(contentType)) || slices.Contains(types, "any")
}

func (f Format) hasStatus(status int) bool {
	if len(f.Status) == 0 {
		return status == 200
	}
	return slices.ContainsFunc(f.Status, func(r StatusRange) bool { return r.From <= status && status <= r.To })
}

// maxHead is the maximum length in bytes of the header of a record or of HTTP.
const maxHead = 64 << 10

// headEnd returns the index after the blank line that ends a header, or -1.
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

// fields are the lines of a header after the first.
type fields []byte

func fieldsOf(head []byte) fields {
	return fields(head[bytes.IndexByte(head, '\n')+1:])
}

// get returns the value of the first field of a name, with folded lines joined, or nil.
func (f fields) get(name string) []byte {
	value, _ := f.cut(name)
	return value
}

// list returns the values of all fields of a name, joined by commas (RFC 9110, section 5.3).
func (f fields) list(name string) []byte {
	value, rest := f.cut(name)
	for len(rest) > 0 {
		var more []byte
		if more, rest = rest.cut(name); more != nil {
			value = append(append(value, ','), more...) // a copy: the first has no room
		}
	}
	return value
}

// cut returns the value of the first field of a name, or nil, and the lines after it.
func (f fields) cut(name string) (value []byte, rest fields) {
	for rest = f; len(rest) > 0; {
		line := rest[:lineEnd(rest)]
		rest = rest[len(line):]
		if value, found := valueOf(line, name); found {
			return unfolded(value, rest)
		}
	}
	return nil, nil
}

// unfolded appends the continuation lines of a value, separated by spaces, and returns the lines
// after them. The value may begin on the second line.
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

// valueOf returns the text after the colon of a line that begins with the name.
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

// is compares a word of a header, ignoring case.
func is(value []byte, word string) bool {
	return len(value) == len(word) && bytes.EqualFold(value, []byte(word))
}

// mediaType returns a Content-Type in lower case, without its parameters.
func mediaType(value []byte) string {
	value, _, _ = bytes.Cut(value, []byte(";"))
	value, _, _ = bytes.Cut(value, []byte(",")) // two joined headers
	return string(bytes.ToLower(bytes.TrimSpace(value)))
}

// length parses a Content-Length. It returns -1 if value is none.
func length(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 || value[0] == '+' {
		return -1
	}
	return n
}

// trimmed removes the angle brackets that some writers put around a URI.
func trimmed(uri []byte) []byte {
	if n := len(uri); n >= 2 && uri[0] == '<' && uri[n-1] == '>' {
		uri = uri[1 : n-1]
	}
	return uri
}
