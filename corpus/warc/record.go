package warc

import (
	"bytes"
	"slices"
	"time"
)

// record is the header of a record.
type record struct {
	head   int    // bytes of the header
	length int64  // of the content, or -1 if unknown
	fields fields // none in an ARC
	arc    bool
	kind   string // type of a WARC record, one of kinds, or ""
	uri    []byte
	mime   []byte // Content-Type of the content
	date   []byte
}

// kinds are the relevant record types, starting with those of documents.
var kinds = []string{"response", "resource", "conversion", "revisit", "metadata"}

func (r *record) isDocument() bool { return slices.Contains(kinds[:3], r.kind) }

// parseHead parses a complete header.
func parseHead(head []byte) record {
	if isARC(head) {
		return parseARC(head)
	}
	f := fieldsOf(head)
	r := record{head: len(head), fields: f, length: length(f.get("Content-Length"))}
	kind := f.get("WARC-Type")
	for _, k := range kinds {
		if is(kind, k) {
			r.kind = k
		}
	}
	if r.isDocument() {
		r.uri, r.mime, r.date = trimmed(f.get("WARC-Target-URI")), f.get("Content-Type"), f.get("WARC-Date")
	}
	return r
}

// parseARC parses the first line of an ARC record,
//
//	URL IP-address Archive-date Content-type Archive-length
//
// The URL may contain spaces, and version 2 adds fields before the last.
func parseARC(line []byte) record {
	r := record{head: len(line), length: -1, arc: true}
	words := bytes.Fields(line)
	at := arcDate(words)
	if at < 0 {
		return r
	}
	r.length = length(words[len(words)-1])
	r.date, r.mime = words[at], words[at+1]
	r.uri = bytes.TrimSpace(line[:bytes.LastIndex(line[:bytes.LastIndex(line, words[at])], words[at-1])])
	if scheme, _, _ := bytes.Cut(r.uri, []byte(":")); is(scheme, "http") || is(scheme, "https") {
		r.kind = "response"
	}
	return r
}

// arcDate returns the index of the date in the words of an ARC line, or -1. It is the last date
// with enough words before and after it.
func arcDate(words [][]byte) int {
	for i := len(words) - 3; i >= 2; i-- {
		if isDate(words[i]) && len(words)-i <= 8 {
			return i
		}
	}
	return -1
}

// isDate reports whether a word looks like a date in an ARC: 8 to 18 digits, usually 14.
func isDate(word []byte) bool {
	return len(word) >= 8 && len(word) <= 18 && len(bytes.TrimLeft(word, "0123456789")) == 0
}

// isHTTP reports whether the content of the record is an HTTP response.
func (r *record) isHTTP() bool {
	return r.kind == "response" && (r.arc || mediaType(r.mime) == "application/http" || len(r.mime) == 0)
}

// isPart reports whether the header says that only the beginning of the content was stored, or that
// it goes on in continuation records (WARC 1.1, sections 5.13 and 5.17).
func (r *record) isPart() bool {
	return len(r.fields.get("WARC-Truncated")) > 0 || length(r.fields.get("WARC-Segment-Number")) > 0
}

// time returns the record's date, or the zero time.
func (r *record) time() time.Time {
	date := string(r.date[:min(len(r.date), 40)])
	if r.arc {
		date = date[:min(len(date), 14)]
	}
	for _, layout := range []string{time.RFC3339Nano, "20060102150405", "2006-01-02", "20060102"} {
		if t, err := time.Parse(layout, date); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// maxLine bounds the first line of an ARC record.
const maxLine = 8 << 10

// isARC reports whether data begins with the first line of an ARC record.
func isARC(data []byte) bool {
	if len(data) < 5 || bytes.HasPrefix(data, []byte("WARC/")) || !isLetter(data[0]) {
		return false
	}
	line := data[:min(len(data), maxLine)]
	if bytes.IndexByte(line[:min(len(line), 16)], ':') <= 0 {
		return false
	}
	i := bytes.IndexByte(line, '\n')
	return i > 0 && bytes.IndexByte(line[:i], 0) < 0 && arcDate(bytes.Fields(line[:i])) > 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isWARC reports whether data begins with the first line of a WARC record.
func isWARC(data []byte) bool {
	const name = "WARC/"
	if len(data) < len(name)+4 || string(data[:len(name)]) != name {
		return false
	}
	version := data[len(name):]
	head := version[:min(len(version), 8)]
	n := len(head) - len(bytes.TrimLeft(head, "0123456789."))
	return n >= 3 && version[0] != '.' && n < len(version) && (version[n] == '\r' || version[n] == '\n' || version[n] == ' ')
}

func starts(data []byte) bool { return isWARC(data) || isARC(data) }

// next returns the start of the next record in [from, to), or -1. arc chooses ARC, whose records
// begin a line. A few bytes or one line identify a record, so the time is linear in the distance.
func next(data []byte, from, to int, arc bool) int {
	if arc {
		return nextARC(data, from, to)
	}
	const name = "WARC/"
	for at := from; at < to; at++ {
		i := bytes.Index(data[at:min(to+len(name)-1, len(data))], []byte(name))
		if i < 0 {
			return -1
		}
		if at += i; isWARC(data[at:]) && hasField(data[at:]) {
			return at
		}
	}
	return -1
}

func nextARC(data []byte, from, to int) int {
	for at := from; at < to; {
		if (at == 0 || data[at-1] == '\n') && isARC(data[at:]) {
			return at
		}
		i := bytes.IndexByte(data[at:to], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	return -1
}

// hasField reports whether the second line of data could be the first field of a record header.
func hasField(data []byte) bool {
	const version, field = 64, 64 // bytes
	end := bytes.IndexByte(data[:min(len(data), version)], '\n')
	line, _, _ := bytes.Cut(data[end+1:min(len(data), end+1+field)], []byte("\n"))
	for _, name := range []string{"WARC-", "Content-"} {
		if len(line) > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) {
			return end >= 0 && bytes.IndexByte(line, ':') > 0
		}
	}
	return false
}

// holdsArchive reports whether the content of a record is a web archive.
func (r *record) holdsArchive(content []byte) bool {
	if r.isHTTP() {
		content = content[parseAnswer(content).head:]
	}
	content = content[:min(len(content), maxLine)]
	return starts(content[blank(content):])
}
