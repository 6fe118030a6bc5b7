package corpus

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// Document is one record of an input: a document, or the reason why it is none. [Parser] states
// how long its slices are valid.
type Document struct {
	ID     []byte    // id in the record, or [Block.Name] if it has none
	Text   []byte    // decoded, valid UTF-8
	Exact  bool      // only an identical text is a copy; for lists of links, which all look alike
	Part   bool      // the record has only the beginning of the document
	Fields []Field   // whose texts Text joins, if they may be several
	Time   time.Time // creation time, for time windows; zero if unknown
	Raw    []byte    // the record as read, without its end
	At     Place
	Slot   Slot       // for the annotation, if the parser was created with one
	Empty  bool       // no content, as in a blank line; set only if every record is answered
	Other  bool       // no document, but a record to copy to the output
	Bad    *BadRecord // if not nil, the record is no document; ID and Text are empty
}

// Field is a field of a record, and its bytes in [Document.Text].
type Field struct {
	Name       string
	Start, End int
}

// Slot is the place for an annotation in a record: before Raw[At], preceded by Lead.
type Slot struct {
	At   int
	Lead []byte
}

// Place is the place of a record in its input. The reader of the input creates it and can resume
// from it. Other code only stores, compares and returns it. The zero Place is the start of an
// input.
//
// In JSON it is the number of the record or, in an input with parts, [part, number].
type Place struct {
	Part   int64 // such as a row group, or the offset of a compressed member; 0 without parts
	Record int64 // number of the record in its part, from 1
}

// Next returns the place after a record. At the end of a part it stands for the next part's start.
func (p Place) Next() Place { return Place{p.Part, p.Record + 1} }

// Compare returns -1 if p is before o, 0 if they are equal, and 1 if p is after o.
func (p Place) Compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Part, o.Part), cmp.Compare(p.Record, o.Record))
}

// appendTo appends the place as messages and ids show it: "17", or "3:17" in part 3.
func (p Place) appendTo(dst []byte) []byte {
	if p.Part != 0 {
		dst = append(strconv.AppendInt(dst, p.Part, 10), ':')
	}
	return strconv.AppendInt(dst, p.Record, 10)
}

func (p Place) String() string { return string(p.appendTo(nil)) }

// MarshalJSON returns the place as JSON.
func (p Place) MarshalJSON() ([]byte, error) { return p.appendJSON(nil), nil }

func (p Place) appendJSON(dst []byte) []byte {
	if p.Part == 0 {
		return strconv.AppendInt(dst, p.Record, 10)
	}
	return fmt.Appendf(dst, "[%d,%d]", p.Part, p.Record)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (p *Place) UnmarshalJSON(data []byte) error {
	*p = Place{}
	if len(data) > 0 && data[0] == '[' {
		var both [2]int64
		err := json.Unmarshal(data, &both)
		p.Part, p.Record = both[0], both[1]
		return err
	}
	return json.Unmarshal(data, &p.Record)
}

// BadRecord is a record without a valid document.
type BadRecord struct {
	File   string
	At     Place
	Reason string // in plain words, on one line
	Raw    []byte // the record, or only its head if it exceeds the length limit
}

// Error returns file, place and reason, for runs that end at a bad record.
func (b *BadRecord) Error() string {
	return fmt.Sprintf("%s:%v: %s", b.File, b.At, b.Reason)
}

// maxRejectRaw bounds the bytes of a bad record in a rejects file: enough to recognise the record.
const maxRejectRaw = 1024

// AppendJSON appends the record to dst as one JSON object, a line of a rejects file without its
// end. The fields are file, line (the place), reason, and raw, the first 1024 bytes of the record.
// U+FFFD replaces every byte of raw outside UTF-8.
func (b *BadRecord) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"file":`...)
	dst = appendString(dst, []byte(b.File))
	dst = append(dst, `,"line":`...)
	dst = b.At.appendJSON(dst)
	dst = append(dst, `,"reason":`...)
	dst = appendString(dst, []byte(b.Reason))
	dst = append(dst, `,"raw":`...)
	dst = appendString(dst, clip(b.Raw, maxRejectRaw))
	return append(dst, '}')
}

// clip cuts b to at most n bytes, never inside a character.
func clip(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for i := n; i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			return b[:i]
		}
	}
	return b[:n]
}

// appendString appends s as a JSON string. U+FFFD replaces bytes that are not UTF-8. U+2028 and
// U+2029 are escaped for readers that parse JSON as JavaScript.
func appendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029:
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
		i += size
	}
	return append(dst, '"')
}
