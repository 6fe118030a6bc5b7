package filterlog

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/base/journal"
)

// token identifies logs, and the filters they belong to.
type token [16]byte

func (t token) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, t[:]), nil }

func (t *token) UnmarshalText(b []byte) error {
	if len(b) != 2*len(t) {
		return fmt.Errorf("a token of %d digits, want %d", len(b), 2*len(t))
	}
	_, err := hex.Decode(t[:], b)
	return err
}

// LogHeader describes a log of keys. docs/format.md has its fields.
type LogHeader struct {
	mark                               // of the filter whose later keys are in the log
	bloomstore.Shape                   // of that filter
	Before           token             // of the preceding generation and log; zero for none
	Scheme           string            // of the keys
	State            map[string][]byte // the owner's values for the run
}

// A Group is the unit of appending to a log.
type Group struct {
	Documents uint64 // the owner's count
	Time      int64  // Unix seconds
	Keys      []uint64
}

var logKind = journal.Kind{
	Magic:  "firstseen.keylog",
	Remedy: "remove this file and the later journals: then the documents kept in that time will be kept again",
}

const groupHead = 16 // Documents and Time

// append appends the encoded group to b.
func (g *Group) append(b []byte) []byte {
	le := binary.LittleEndian
	b = slices.Grow(b, groupHead+8*len(g.Keys))
	b = le.AppendUint64(le.AppendUint64(b, g.Documents), uint64(g.Time))
	for _, k := range g.Keys {
		b = le.AppendUint64(b, k)
	}
	return b
}

// parse reuses the keys of g.
func (g *Group) parse(b []byte) error {
	if len(b) < groupHead || len(b)%8 != 0 {
		return fmt.Errorf("%w: a group of %d bytes is impossible", journal.ErrDamaged, len(b))
	}
	le := binary.LittleEndian
	g.Documents, g.Time = le.Uint64(b), int64(le.Uint64(b[8:]))
	g.Keys = g.Keys[:0]
	for b = b[groupHead:]; len(b) > 0; b = b[8:] {
		g.Keys = append(g.Keys, le.Uint64(b))
	}
	return nil
}

// ReadLogHeader reads and checks the header of a log.
func ReadLogHeader(path string) (h LogHeader, err error) {
	_, _, err = logKind.Read(path, &h, nil)
	return h, err
}

// ReadLog passes the groups of a log to each, as [journal.Kind.Read] does. It reuses their keys.
func ReadLog(path string, each func(Group) error) (size, torn int64, err error) {
	var g Group
	return logKind.Read(path, nil, func(body []byte) error {
		if err := g.parse(body); err != nil {
			return err
		}
		return each(g)
	})
}
