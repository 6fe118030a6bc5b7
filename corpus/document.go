package corpus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// Document is one record of an input: a document, or the reason why it is none.
// A parser fills it; how long its slices are valid says [Parser].
type Document struct {
	ID    []byte     // the document's id, or [Block.Name] without one
	Text  []byte     // decoded, valid UTF-8
	Exact bool       // only the same text is a copy, as for lists of links, which resemble each other
	Time  time.Time  // creation of the document, for windows of time; zero if unknown
	Raw   []byte     // the record as it came, without what ends it
	At    Place      // its place
	Slot  Slot       // the place for an annotation, if the parser was asked for it
	Empty bool       // a record without content, such as a blank line; only if every record is answered
	Other bool       // no document, but a record to write as it came
	Bad   *BadRecord // not nil: the record is no document; ID and Text are empty
}

// Slot is the place for an annotation in a record: before Raw[At], behind Lead.
type Slot struct {
	At   int
	Lead []byte
}

// Place is the place of a record in its input. The reader of the input makes it, and can continue
// from it; others keep it, compare it and give it back. The zero Place is the beginning of an input.
//
// In JSON it is the number of the record or, in an input with parts, [part, number].
type Place struct {
	Part   int64 // of the input, such as a row group or the offset of a compressed member; 0 without parts
	Record int64 // number of the record in its part, from 1
}

// Next returns the place behind a record. At the end of a part, it is the first place of the next
// part.
func (p Place) Next() Place { return Place{p.Part, p.Record + 1} }

// Compare returns -1 if p stands before o, 0 if it is o, and 1 if it stands behind o.
func (p Place) Compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Part, o.Part), cmp.Compare(p.Record, o.Record))
}

// appendTo appends the place as messages and ids have it: "17", or "3:17" in the
// part 3.
func (p Place) appendTo(dst []byte) []byte {
	if p.Part != 0 {
		dst = append(strconv.AppendInt(dst, p.Part, 10), ':')
	}
	return strconv.AppendInt(dst, p.Record, 10)
}

func (p Place) String() string { return string(p.appendTo(nil)) }

// MarshalJSON writes the place as JSON.
func (p Place) MarshalJSON() ([]byte, error) { return p.appendJSON(nil), nil }

func (p Place) appendJSON(dst []byte) []byte {
	if p.Part == 0 {
		return strconv.AppendInt(dst, p.Record, 10)
	}
	return fmt.Appendf(dst, "[%d,%d]", p.Part, p.Record)
}

// UnmarshalJSON reads what MarshalJSON has written.
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
	Reason string // in plain words, one line
	Raw    []byte // the record; of one beyond the length limit only the head
}

// Error returns file, place and reason, so that a bad record can end a run if the user allows none.
func (b *BadRecord) Error() string {
	return fmt.Sprintf("%s:%v: %s", b.File, b.At, b.Reason)
}

// maxRejectRaw bounds the bytes of a bad record that are written to a rejects
// file: enough to recognise it, and the file stays small.
const maxRejectRaw = 1024

// AppendJSON appends the record as one JSON object to dst: file, line (its
// place), reason, and raw, its first 1024 bytes with U+FFFD for every byte outside UTF-8. It is a line
// of a rejects file, without its end.
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

// clip cuts b to at most n bytes, not inside a character.
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

// appendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD; U+2028 and U+2029 are escaped for readers that take JSON for
// JavaScript.
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

// Columns that annotated rows get, of formats that have columns.
const (
	VerdictColumn = "firstseen_verdict"
	OfColumn      = "firstseen_of"
	ScoreColumn   = "firstseen_score"
)

// Verdict is an annotation in columns.
type Verdict struct {
	Verdict string   `json:"verdict"`
	Of      *string  `json:"of"`    // nil without an earlier document
	Score   *float64 `json:"score"` // likewise
}

// ReadVerdict reads the value of an annotation.
func ReadVerdict(value []byte) (v Verdict, err error) {
	if err := json.Unmarshal(value, &v); err != nil {
		return v, fmt.Errorf("reading a verdict: %w", err)
	}
	return v, nil
}

// longestTime is the longest text that can be a time, in bytes.
const longestTime = 64

// ParseTime returns the time in a text, zero without one: RFC 3339 in letters of either case, or Unix
// seconds in digits alone. A blank may stand for the T, and a time without zone is UTC, as Python and
// pandas write times. Fractions of a second are dropped.
func ParseTime(text []byte) time.Time {
	if len(text) > longestTime {
		return time.Time{}
	}
	if seconds, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return UnixTime(float64(seconds))
	}
	form := bytes.ToUpper(text)
	if at := len(time.DateOnly); len(form) > at && form[at] == ' ' {
		form[at] = 'T'
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, string(form)); err == nil {
			return t.UTC().Truncate(time.Second)
		}
	}
	return time.Time{}
}

// mostSeconds is the end of the year 9999, as RFC 3339 has it.
const mostSeconds = 253402300799

// UnixTime converts seconds since 1970, without fractions. It is zero outside the years of RFC 3339.
func UnixTime(seconds float64) time.Time {
	if seconds = math.Floor(seconds); !(math.Abs(seconds) <= mostSeconds) {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}
