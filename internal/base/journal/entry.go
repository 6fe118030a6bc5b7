package journal

import (
	"encoding/binary"
	"fmt"
)

// Served is the journal of a server: the answers since the last checkpoint of its index. Its groups
// hold entries.
var Served = Kind{
	Magic:  "firstseen.served",
	Remedy: "remove this file and run firstseen index abandon: then the documents answered since the last checkpoint are kept again",
}

// The kinds of entries; docs/format.md, "A server's journal" and "A log".
const (
	Seen      = 1 // a document was decided
	Forgotten = 2 // the documents of an id were taken back
	Cancelled = 3 // a batch was taken back
	Settings  = 4 // of a log: its rules from here on
	Sketched  = 5 // of a log: a document to decide by its features
)

// lastKind bounds the kinds that later versions may define.
const lastKind = 31

const entryHead = 32

// Entry is a step to apply to an index.
type Entry struct {
	Kind        byte
	Exact       bool   // of a document: only the same text is a copy
	Time        int64  // of arrival, ns since 1970
	Batch, ID   string // the batch to cancel is in ID
	Added, Text []byte // settings and features are in Text
}

// Append appends the encoded entry to b.
func (e *Entry) Append(b []byte) []byte {
	le := binary.LittleEndian
	exact := byte(0)
	if e.Exact {
		exact = 1
	}
	b = append(b, e.Kind, exact, 0, 0)
	b = le.AppendUint32(b, uint32(len(e.Batch)))
	b = le.AppendUint64(b, uint64(e.Time))
	b = le.AppendUint32(b, uint32(len(e.ID)))
	b = le.AppendUint32(b, uint32(len(e.Added)))
	b = le.AppendUint64(b, uint64(len(e.Text)))
	b = append(append(b, e.Batch...), e.ID...)
	return append(append(b, e.Added...), e.Text...)
}

var errEntry = damage("an entry is malformed")

// CutEntry reads the entry at the beginning of b. Added and Text share its bytes. It returns
// ErrVersion, and the rest, for an entry that only a later version can have written.
func CutEntry(b []byte) (e Entry, rest []byte, err error) {
	le := binary.LittleEndian
	if len(b) < entryHead || b[0] == 0 || b[0] > lastKind {
		return e, nil, errEntry
	}
	lengths := [4]uint64{uint64(le.Uint32(b[4:])), uint64(le.Uint32(b[16:])), uint64(le.Uint32(b[20:])), le.Uint64(b[24:])}
	rest = b[entryHead:]
	var parts [4][]byte
	for i, n := range lengths {
		if n > uint64(len(rest)) {
			return e, nil, errEntry
		}
		parts[i], rest = rest[:n:n], rest[n:]
	}
	if b[0] > Sketched || b[1] > 1 || b[2]|b[3] != 0 {
		return e, rest, fmt.Errorf("%w: an entry of kind %d", ErrVersion, b[0])
	}
	e.Kind, e.Exact, e.Time = b[0], b[1] == 1, int64(le.Uint64(b[8:]))
	e.Batch, e.ID, e.Added, e.Text = string(parts[0]), string(parts[1]), parts[2], parts[3]
	return e, rest, nil
}
