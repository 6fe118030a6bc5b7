package dedup

import (
	"encoding/binary"
	"errors"
)

// A Record is what a [Store] keeps of a document beside its id and its keys: the
// data of docs/format.md, "Data of a document".
type Record struct {
	Verdict Verdict // by which it was kept
	Time    int64   // Unix seconds
	Sketch  []byte  // what the method keeps of it, to be judged by
}

var errRecord = errors.New("the data of a document is not what was stored: the store is damaged, or another program's")

// Append appends the data to b.
func (r *Record) Append(b []byte) []byte {
	b = append(b, byte(r.Verdict))
	b = binary.AppendVarint(b, r.Time)
	return append(b, r.Sketch...)
}

// ParseRecord reads what Append has written, all of b, which Sketch then is a part of.
func ParseRecord(b []byte) (Record, error) {
	var r Record
	if len(b) == 0 {
		return r, errRecord
	}
	r.Verdict, b = Verdict(b[0]), b[1:]
	n := 0
	if r.Time, n = binary.Varint(b); n <= 0 {
		return r, errRecord
	}
	r.Sketch = b[n:]
	return r, nil
}
