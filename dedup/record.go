package dedup

import (
	"encoding/binary"
	"errors"
)

// A Record is the data a [Store] keeps of a document beside its id and its keys: see
// docs/format.md, "Data of a document".
type Record struct {
	Verdict Verdict // by which it was kept
	Time    int64   // of arrival, Unix seconds
	Added   []byte  // fields, as AppendField writes them
	Sketch  []byte  // the method's data for judging by
}

var errRecord = errors.New("the data of a document is not what was stored: the store is damaged, or another program's")

// Append appends the data to b.
func (r *Record) Append(b []byte) []byte {
	b = append(b, recordVersion, byte(r.Verdict))
	b = binary.AppendVarint(b, r.Time)
	b = binary.AppendUvarint(b, uint64(len(r.Added)))
	b = append(b, r.Added...)
	return append(b, r.Sketch...)
}

const recordVersion = 1

// ParseRecord reads what Append has written, all of b, which Added and Sketch then are parts of.
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
	r.Added, r.Sketch = b[n:][:added:added], b[n+int(added):]
	return r, nil
}

// A Tag identifies a field of [Record.Added]: see docs/format.md, "Data of a document".
type Tag byte

// AppendField appends a field to those of a document, which stand in the order of their
// tags, each at most once.
func AppendField(added []byte, tag Tag, value []byte) []byte {
	added = append(added, byte(tag))
	added = binary.AppendUvarint(added, uint64(len(value)))
	return append(added, value...)
}

// Field finds a field in Added. It passes over the others, including unknown ones. ok is false if
// there is none.
func (r *Record) Field(tag Tag) (value []byte, ok bool, err error) {
	for b := r.Added; len(b) > 0; {
		at := Tag(b[0])
		length, n := binary.Uvarint(b[1:])
		if n <= 0 || length > uint64(len(b)-1-n) {
			return nil, false, errRecord
		}
		value, b = b[1+n:][:length:length], b[1+n+int(length):]
		if at == tag {
			return value, true, nil
		}
	}
	return nil, false, nil
}
