package dedup

import (
	"fmt"
	"slices"
)

// Memory is a [Store] in Go maps, for tests and programs without files. It is for one goroutine at a
// time, like any store. It takes about 100 bytes a key. The zero value is an empty store.
type Memory struct {
	docs    []stored
	holders map[uint64][]uint32
}

type stored struct {
	id, data []byte
	counted  bool
}

// Add implements [Store].
func (m *Memory) Add(ids []string, data [][]byte, keys [][]uint64, _ []uint32, marks []bool) (uint32, error) {
	if m.holders == nil {
		m.holders = map[uint64][]uint32{}
	}
	first := uint32(len(m.docs)) + 1
	for i, id := range ids {
		m.docs = append(m.docs, stored{[]byte(id), slices.Clone(data[i]), len(marks) > 0 && marks[i]})
		num := uint32(len(m.docs))
		for _, k := range keys[i] {
			held := m.holders[k]
			if len(held) < MaxHolders && !slices.Contains(held, num) {
				m.holders[k] = append(held, num)
			}
		}
	}
	return first, nil
}

// Lookup implements [Store].
func (m *Memory) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	for i, k := range keys {
		n[i] = uint8(len(m.holders[k]))
		for at, num := range m.holders[k] {
			if m.docs[num-1].counted {
				num = Counted
			}
			holders[i*MaxHolders+at] = num
		}
	}
	return nil
}

// Share implements [SharedStore]. Maps need no preparation for concurrent reads.
func (m *Memory) Share(int, func(int, func(int))) error { return nil }

// Asker implements [SharedStore].
func (m *Memory) Asker(int) Asker { return m }

// Live implements [SharedStore].
func (m *Memory) Live(num uint32) bool {
	return num > 0 && int(num) <= len(m.docs) && !m.docs[num-1].counted
}

// Documents implements [SharedStore].
func (m *Memory) Documents() uint32 { return uint32(len(m.docs)) }

// Records implements [Store].
func (m *Memory) Records(nums []uint32, ids, data [][]byte) error {
	for i, num := range nums {
		if num < 1 || int(num) > len(m.docs) {
			return fmt.Errorf("no document %d among %d", num, len(m.docs))
		}
		ids[i], data[i] = m.docs[num-1].id, m.docs[num-1].data
	}
	return nil
}
