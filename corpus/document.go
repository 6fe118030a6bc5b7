package corpus

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Document is one record of an input: a document, or the reason why it is none.
// A parser fills it; how long its slices are valid says [Parser].
type Document struct {
	ID    []byte     // the document's id, or [Block.Name] without one
	Text  []byte     // decoded, valid UTF-8
	Exact bool       // only the same text is a copy, as for lists of links, which resemble each other
	Time  time.Time  // creation of the document, for windows of time; zero if unknown
	Attrs []Attr     // what else the record says that was asked for, in the order of asking
	Raw   []byte     // the record as it came, without what ends it
	At    Place      // its place
	Slot  Slot       // the place for an annotation, if the parser was asked for it
	Empty bool       // a record without content, such as a blank line; only if every record is answered
	Other bool       // no document, but a record to write as it came
	Bad   *BadRecord // not nil: the record is no document; ID and Text are empty
}

// Attr is a named field of a document beside id, text and time.
type Attr struct {
	Name  string
	Value []byte // as the format writes it
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

// compare returns -1 if p stands before o, 0 if it is o, and 1 if it stands behind o.
func (p Place) compare(o Place) int {
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
