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
	ID    []byte     // the document's id, or [Block.Name] where it has none
	Text  []byte     // decoded, valid UTF-8
	Exact bool       // what it has in common with others says nothing, as of lists of links: only the same text is a copy
	Time  time.Time  // when the document was made, for windows of time; zero where the format does not tell
	Attrs []Attr     // what else the record says that was asked for, in the order of asking
	Raw   []byte     // the record as it came, without what ends it
	At    Place      // where it stands
	Slot  Slot       // where an annotation belongs, if the parser was asked for it
	Empty bool       // a record that holds nothing, such as a white line; only where every record is answered
	Other bool       // no document, but a record that is written as it came
	Bad   *BadRecord // not nil: the record is no document; ID and Text are empty
}

// Attr is a named field of a document beside id, text and time.
type Attr struct {
	Name  string
	Value []byte // as the format writes it
}

// Slot is where an annotation belongs in a record: before Raw[At], with Lead
// before it.
type Slot struct {
	At   int
	Lead []byte
}

// Place is where a record stands in its input. It is made by who reads the input,
// who can go on from it; all others keep it, compare it and give it back. The
// zero Place is the beginning of an input.
//
// As JSON it is the number of the record, or [part, number] where the input has
// parts.
type Place struct {
	Part   int64 // of the input, such as a row group or the offset of a compressed member; 0 where it is one
	Record int64 // number of the record in its part, from 1
}

// Next is the place behind a record. Where its part has no more records, that is
// the first of the next part.
func (p Place) Next() Place { return Place{p.Part, p.Record + 1} }

// compare returns -1 where p stands before o, 0 where it is o, and 1 behind it.
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
