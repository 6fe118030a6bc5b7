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
	b = append(b, recordVersion, byte(r.Verdict))
	b = binary.AppendVarint(b, r.Time)
	b = append(b, 0) // length of what later versions add
	return append(b, r.Sketch...)
}

const recordVersion = 1

// ParseRecord reads what Append has written, all of b, which Sketch then is a part of.
func ParseRecord(b []byte) (Record, error) {
	var r Record
	if len(b) < 2 || b[0] != recordVersion {
		return r, errRecord
	}
	r.Verdict, b = Verdict(b[1]), b[2:]
	n := 0
	if r.Time, n = binary.Varint(b); n <= 0 {
		return r, errRecord
	}
	b = b[n:]
	added, n := binary.Uvarint(b)
	if n <= 0 || added > uint64(len(b)-n) {
		return r, errRecord
	}
	r.Sketch = b[n+int(added):]
	return r, nil
}
