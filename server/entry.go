package server

import (
	"encoding/binary"
	"errors"
)

// The kinds of entries in the journal; docs/format.md, "A server's journal".
const (
	seen      = 1 // a document was decided
	forgotten = 2 // the documents of an id were taken back
	cancelled = 3 // a batch was taken back
)

const entryHead = 32

// entry is a step of the index.
type entry struct {
	kind        byte
	exact       bool  // of a document: only the same text is a copy
	time        int64 // ns since 1970
	batch, id   string
	added, text []byte
}

func (e *entry) append(b []byte) []byte {
	le := binary.LittleEndian
	exact := byte(0)
	if e.exact {
		exact = 1
	}
	b = append(b, e.kind, exact, 0, 0)
	b = le.AppendUint32(b, uint32(len(e.batch)))
	b = le.AppendUint64(b, uint64(e.time))
	b = le.AppendUint32(b, uint32(len(e.id)))
	b = le.AppendUint32(b, uint32(len(e.added)))
	b = le.AppendUint64(b, uint64(len(e.text)))
	b = append(append(b, e.batch...), e.id...)
	return append(append(b, e.added...), e.text...)
}

var errEntry = errors.New("an entry of the journal is not as a server writes it")

// cutEntry reads the entry at the beginning of a group, whose bytes it then points to.
func cutEntry(b []byte) (e entry, rest []byte, err error) {
	le := binary.LittleEndian
	if len(b) < entryHead || b[0] < seen || b[0] > cancelled || b[1] > 1 || b[2]|b[3] != 0 {
		return e, nil, errEntry
	}
	e.kind, e.exact, e.time = b[0], b[1] == 1, int64(le.Uint64(b[8:]))
	lengths := [4]uint64{uint64(le.Uint32(b[4:])), uint64(le.Uint32(b[16:])), uint64(le.Uint32(b[20:])), le.Uint64(b[24:])}
	rest = b[entryHead:]
	var parts [4][]byte
	for i, n := range lengths {
		if n > uint64(len(rest)) {
			return e, nil, errEntry
		}
		parts[i], rest = rest[:n:n], rest[n:]
	}
	e.batch, e.id, e.added, e.text = string(parts[0]), string(parts[1]), parts[2], parts[3]
	return e, rest, nil
}
