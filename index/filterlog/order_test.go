package filterlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/journal"
)

// TestGroupsInTheirOrder checks that a missing group is damage. A repeated one does not count.
func TestGroupsInTheirOrder(t *testing.T) {
	data, ends := writeLog(t, testHeader, testGroups())
	without := slices.Concat(data[:ends[2]], data[ends[3]:])
	if _, groups, _, err := readLog(t, without); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("without its third group: %d groups, %v", len(groups), err)
	}
	again := slices.Concat(data, data[ends[2]:ends[3]])
	if _, groups, torn, err := readLog(t, again); err != nil || !equalGroups(groups, testGroups()) || torn != ends[3]-ends[2] {
		t.Errorf("with its third group again: %d groups, %d torn, %v", len(groups), torn, err)
	}
}

// TestLaterGroupAnywhere finds a later group after a damaged one, even across pieces of the search.
func TestLaterGroupAnywhere(t *testing.T) {
	const piece = 1 << 20
	for _, start := range []int{piece - 48, piece - 40, piece - 32, piece - 8, piece, piece + 8} {
		first := Group{Keys: make([]uint64, (start-40)/8)}
		data, ends := writeLog(t, testHeader, []Group{first, {Keys: []uint64{1}}})
		for _, shift := range []int64{0, 8} { // the group's start, or after its first number
			bad := bytes.Clone(data)
			bad[ends[0]+shift] ^= 1
			if _, _, torn, err := readLog(t, bad); !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("a later group after %d bytes: %d torn, %v", start, torn, err)
			}
		}
	}
}

// TestLaterVersionIsRefused refuses a later version by its number, whatever follows.
func TestLaterVersionIsRefused(t *testing.T) {
	data, ends := writeLog(t, testHeader, testGroups())
	le := binary.LittleEndian
	for _, v := range []uint32{0, logKind.Version + 1, 1 << 31} {
		le.PutUint32(data[16:], v)
		sum := ends[0] - sumSize
		le.PutUint64(data[sum:], xxh3.Hash(data[:sum]))
		if _, groups, _, err := readLog(t, data); !errors.Is(err, journal.ErrVersion) {
			t.Errorf("version %d: %d groups, %v", v, len(groups), err)
		}
	}
}
