package filterlog

import (
	"encoding/binary"
	"slices"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/journal"
)

// token identifies logs, and the filters they belong to.
type token [16]byte

// LogHeader is the header of a log of keys.
type LogHeader struct {
	mark                    // of the filter whose later keys are in the log
	bloomstore.Shape        // of that filter
	Before           token  // of the preceding generation and log; zero for none
	Scheme           string // of the keys
	Note             []byte // of the owner, not interpreted here
}

// A Group is the unit of appending to a log.
type Group struct {
	Documents uint64 // the owner's count
	Time      int64  // Unix seconds
	Keys      []uint64
}

const (
	tokenAt   = 32
	fixedSize = 88 // header before scheme and note
	sumSize   = 8
)

var logKind = journal.Kind{
	Magic:       "firstseen.keylog",
	Version:     1,
	HeaderLeast: fixedSize + sumSize,
	HeaderMost:  16 << 20,
	Seed: func(header []byte) uint64 {
		return binary.LittleEndian.Uint64(header[tokenAt:])
	},
	Whole: func(header []byte) bool {
		_, _, whole := texts(header)
		return whole
	},
	Fields: 16,
	Unit:   8,
	Most:   1 << 24,
	Remedy: "remove this file and the later journals: then the documents kept in that time will be kept again",
}

func (h *LogHeader) encode() []byte {
	le := binary.LittleEndian
	size := (fixedSize + len(h.Scheme) + len(h.Note) + sumSize + 7) &^ 7
	b := le.AppendUint64(logKind.NewHeader(size), h.Generation)
	b = append(append(b, h.Token[:]...), h.Before[:]...)
	b = le.AppendUint64(b, h.Shape.Bits)
	b = le.AppendUint32(b, uint32(h.Shape.Hashes))
	b = le.AppendUint32(b, uint32(len(h.Scheme)))
	b = le.AppendUint64(b, uint64(len(h.Note))) // with four zero bytes
	b = append(append(b, h.Scheme...), h.Note...)
	return journal.Seal(append(b, make([]byte, size-sumSize-len(b))...))
}

// texts returns the scheme and the note in a header. They are whole if only padding follows them.
func texts(b []byte) (scheme, note []byte, whole bool) {
	le := binary.LittleEndian
	end := fixedSize + uint64(le.Uint32(b[76:]))
	used := end + uint64(le.Uint32(b[80:]))
	if left := uint64(len(b)) - sumSize; used > left || used+7 < left || le.Uint32(b[84:]) != 0 {
		return nil, nil, false
	}
	return b[fixedSize:end], b[end:used:used], true
}

// A keyLog is a log open for appending. It is for one goroutine.
type keyLog struct {
	*journal.Log
	fields, keys []byte
}

// Append appends a group and syncs it to disk; see [journal.Log.Append].
func (l *keyLog) Append(g Group) error {
	le := binary.LittleEndian
	l.fields = le.AppendUint64(le.AppendUint64(l.fields[:0], g.Documents), uint64(g.Time))
	l.keys = slices.Grow(l.keys[:0], 8*len(g.Keys))
	for _, k := range g.Keys {
		l.keys = le.AppendUint64(l.keys, k)
	}
	return l.Log.Append(l.fields, l.keys)
}

// ReadLogHeader reads and checks the header of a log.
func ReadLogHeader(path string) (h LogHeader, err error) {
	b, _, _, err := logKind.Read(path, nil)
	if err != nil {
		return h, err
	}
	le := binary.LittleEndian
	scheme, note, _ := texts(b)
	return LogHeader{
		mark: mark{le.Uint64(b[24:]), token(b[tokenAt:])}, Before: token(b[48:]),
		Shape: bloomstore.Shape{Bits: le.Uint64(b[64:]), Hashes: int(le.Uint32(b[72:]))}, Scheme: string(scheme), Note: note,
	}, nil
}

// ReadLog passes the groups of a log to each, as [journal.Kind.Read] does. It reuses their keys.
func ReadLog(path string, each func(Group) error) (size, torn int64, err error) {
	le := binary.LittleEndian
	var keys []uint64
	_, size, torn, err = logKind.Read(path, func(fields, body []byte) error {
		keys = slices.Grow(keys[:0], len(body)/8)
		for ; len(body) > 0; body = body[8:] {
			keys = append(keys, le.Uint64(body))
		}
		return each(Group{Documents: le.Uint64(fields), Time: int64(le.Uint64(fields[8:])), Keys: keys})
	})
	return size, torn, err
}
