package dedup_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/firstseen/firstseen/dedup"
)

// sortedSlices is the store of docs/extend.md, "Add a store": entries sorted by key, and documents.
type sortedSlices struct {
	entries []entry
	ids     []string
	data    [][]byte
	counted []bool
	closed  bool
}

type entry struct {
	key uint64
	doc uint32
}

var errClosed = errors.New("the slices are closed")

func (s *sortedSlices) Add(ids []string, data [][]byte, keys [][]uint64, _ []uint32, marks []bool) (uint32, error) {
	if s.closed {
		return 0, errClosed
	}
	first := uint32(len(s.ids)) + 1
	for i := range ids {
		s.ids = append(s.ids, ids[i])
		s.data = append(s.data, slices.Clone(data[i]))
		s.counted = append(s.counted, len(marks) > 0 && marks[i])
		for _, k := range keys[i] {
			s.entries = append(s.entries, entry{k, uint32(len(s.ids))})
		}
	}
	slices.SortFunc(s.entries, func(a, b entry) int {
		if a.key != b.key {
			if a.key < b.key {
				return -1
			}
			return 1
		}
		return int(a.doc) - int(b.doc)
	})
	s.entries = slices.Compact(s.entries)
	return first, nil
}

func (s *sortedSlices) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	if s.closed {
		return errClosed
	}
	for i, k := range keys {
		at, _ := slices.BinarySearchFunc(s.entries, k, func(e entry, k uint64) int {
			if e.key < k {
				return -1
			}
			return 1
		})
		n[i] = 0
		for ; at < len(s.entries) && s.entries[at].key == k && n[i] < dedup.MaxHolders; at++ {
			doc := s.entries[at].doc
			if s.counted[doc-1] {
				doc = dedup.Counted
			}
			holders[i*dedup.MaxHolders+int(n[i])] = doc
			n[i]++
		}
	}
	return nil
}

func (s *sortedSlices) Records(nums []uint32, ids, data [][]byte) error {
	if s.closed {
		return errClosed
	}
	for i, num := range nums {
		if num < 1 || int(num) > len(s.ids) {
			return fmt.Errorf("there is no document %d", num)
		}
		ids[i], data[i] = []byte(s.ids[num-1]), s.data[num-1]
	}
	return nil
}

func (s *sortedSlices) Close() error { s.closed = true; return nil }
func (s *sortedSlices) Closed() bool { return s.closed }

func TestSortedSlices(t *testing.T) {
	testStore(t, func(*testing.T) dedup.Store { return &sortedSlices{} })
}

// TestDeduperOverSortedSlices checks that a Deduper works with the store, and not once closed.
func TestDeduperOverSortedSlices(t *testing.T) {
	s := &sortedSlices{}
	d, err := dedup.New(dedup.Config{Table: s})
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("Whoever writes a store by following the page, has one that names the earlier document.")
	if r, err := d.See("first", text); err != nil || !r.Kept {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err := d.See("second", text); err != nil || r.Kept || r.Of.ID != "first" {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.See("third", text); err == nil {
		t.Error("a document was judged by a closed store")
	}
}
