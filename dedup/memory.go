package dedup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/docmap"
)

// Memory is a [Table] in Go maps, for programs that have no files and for tests.
// It takes about 100 bytes a key. The zero value is empty and ready to use.
type Memory struct {
	docs    []docmap.Doc
	holders map[uint64][]uint32
}

// Add implements [Table].
func (m *Memory) Add(d docmap.Doc, keys []uint64) (uint32, error) {
	if m.holders == nil {
		m.holders = map[uint64][]uint32{}
	}
	d.ID = strings.Clone(d.ID)
	m.docs = append(m.docs, d)
	num := uint32(len(m.docs))
	for _, k := range keys {
		held := m.holders[k]
		if len(held) < docmap.MaxHolders && !slices.Contains(held, num) {
			m.holders[k] = append(held, num)
		}
	}
	return num, nil
}

// Lookup implements [Table].
func (m *Memory) Lookup(keys []uint64, found *docmap.Postings) error {
	found.Reset(len(keys))
	for i, k := range keys {
		for _, num := range m.holders[k] {
			found.Append(i, num)
		}
	}
	return nil
}

// Doc implements [Table].
func (m *Memory) Doc(num uint32) (docmap.Doc, error) {
	if num < 1 || int(num) > len(m.docs) {
		return docmap.Doc{}, fmt.Errorf("no document %d among %d", num, len(m.docs))
	}
	return m.docs[num-1], nil
}
