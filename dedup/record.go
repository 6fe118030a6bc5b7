package dedup

import (
	"encoding/binary"
	"errors"
)

// A Record is what a [Store] keeps of a document beside its id and its keys: the
// data of docs/format.md, "Data of a document".
type Record struct {
	Verdict  Verdict // by which it was kept
	Features int     // segments chosen
	CutWidth uint32  // width of the last chosen segment where more were there; else 0
	CutKey   uint64  // its place among segments of that width: feature.Feature.Order; else 0
	Whole    uint64  // whole-text fingerprint
	Time     int64   // Unix seconds
}

var errRecord = errors.New("the data of a document is not what was stored: the store is damaged, or another program's")

// Append appends the data to b.
func (r *Record) Append(b []byte) []byte {
	b = append(b, byte(r.Verdict))
	b = binary.AppendUvarint(b, uint64(r.Features))
	if r.CutWidth == 0 && r.CutKey == 0 {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(b, uint64(r.CutWidth)+1)
		b = binary.LittleEndian.AppendUint64(b, r.CutKey)
	}
	b = binary.LittleEndian.AppendUint64(b, r.Whole)
	return binary.AppendVarint(b, r.Time)
}

// ParseRecord reads what Append has written, all of b.
func ParseRecord(b []byte) (Record, error) {
	var r Record
	if len(b) == 0 {
		return r, errRecord
	}
	r.Verdict, b = Verdict(b[0]), b[1:]
	features, n := binary.Uvarint(b)
	if n <= 0 || features > 1<<31 {
		return r, errRecord
	}
	r.Features, b = int(features), b[n:]
	width, n := binary.Uvarint(b)
	if b = b[max(n, 0):]; n <= 0 || width > 1<<32 || width > 0 && len(b) < 8 {
		return r, errRecord
	}
	if width > 0 {
		r.CutWidth, r.CutKey, b = uint32(width-1), binary.LittleEndian.Uint64(b), b[8:]
	}
	if len(b) < 8 {
		return r, errRecord
	}
	r.Whole, b = binary.LittleEndian.Uint64(b), b[8:]
	if r.Time, n = binary.Varint(b); n <= 0 || n != len(b) {
		return r, errRecord
	}
	return r, nil
}
