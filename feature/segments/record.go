package segments

import (
	"encoding/binary"
	"errors"

	"github.com/firstseen/firstseen/feature/method"
)

// A Record is the method's part of the data stored with a document: see docs/format.md, "Data of a
// document".
type Record struct {
	Features int    // segments chosen
	CutWidth uint32 // width of the last chosen segment if there were more; else 0
	CutOrder uint64 // its Order, its place among segments of that width; else 0
	Whole    uint64 // whole-text fingerprint
}

var errRecord = errors.New("what is stored of a document's segments is not what was written: the store is damaged, or another program's")

// recordOf returns the part of a sketch stored beside its keys.
func recordOf(s *method.Sketch) Record {
	r := Record{Features: len(s.Features), Whole: s.Whole}
	if s.Truncated {
		last := s.Features[len(s.Features)-1]
		r.CutWidth, r.CutOrder = last.Width, last.Order
	}
	return r
}

// Append appends the record to b.
func (r *Record) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(r.Features))
	if r.CutWidth == 0 && r.CutOrder == 0 {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(b, uint64(r.CutWidth)+1)
		b = binary.LittleEndian.AppendUint64(b, r.CutOrder)
	}
	return binary.LittleEndian.AppendUint64(b, r.Whole)
}

// ParseRecord reads what Append has written at the beginning of b, and returns the
// rest.
func ParseRecord(b []byte) (r Record, rest []byte, err error) {
	features, n := binary.Uvarint(b)
	if n <= 0 || features > 1<<31 {
		return r, b, errRecord
	}
	r.Features, b = int(features), b[n:]
	width, n := binary.Uvarint(b)
	if b = b[max(n, 0):]; n <= 0 || width > 1<<32 || width > 0 && len(b) < 8 {
		return r, b, errRecord
	}
	if width > 0 {
		r.CutWidth, r.CutOrder, b = uint32(width-1), binary.LittleEndian.Uint64(b), b[8:]
	}
	if len(b) < 8 {
		return r, b, errRecord
	}
	r.Whole = binary.LittleEndian.Uint64(b)
	return r, b[8:], nil
}
