package warc

import (
	"bytes"
	"slices"
	"strconv"
)

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
	if i := bytes.IndexByte(value, ';'); i >= 0 {
		value = value[:i]
	}
	if i := bytes.IndexByte(value, ','); i >= 0 { // two headers put together
		value = value[:i]
	}
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
