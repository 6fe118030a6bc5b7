package dedup_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firstseen/firstseen/dedup"
)

func TestMemoryIsAStore(t *testing.T) {
	testStore(t, func(*testing.T) dedup.Store { return &dedup.Memory{} })
}

// A bad store breaks one rule.
type bad struct {
	dedup.Memory
	lookup  func(m *dedup.Memory, keys []uint64, holders []uint32, n []uint8) error
	records func(m *dedup.Memory, nums []uint32, ids, data [][]byte) error
	add     func(m *dedup.Memory, ids []string, data [][]byte, keys [][]uint64, marks []bool) (uint32, error)
}

func (b *bad) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	if b.lookup == nil {
		return b.Memory.Lookup(keys, holders, n)
	}
	return b.lookup(&b.Memory, keys, holders, n)
}

func (b *bad) Records(nums []uint32, ids, data [][]byte) error {
	if b.records == nil {
		return b.Memory.Records(nums, ids, data)
	}
	return b.records(&b.Memory, nums, ids, data)
}

func (b *bad) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (uint32, error) {
	if b.add == nil {
		return b.Memory.Add(ids, data, keys, times, marks)
	}
	return b.add(&b.Memory, ids, data, keys, marks)
}

var errBad = errors.New("it does not work")

// badStores each break one rule.
var badStores = map[string]func() dedup.Store{
	"numbers from 0": func() dedup.Store {
		return &bad{add: func(m *dedup.Memory, ids []string, data [][]byte, keys [][]uint64, marks []bool) (uint32, error) {
			first, err := m.Add(ids, data, keys, nil, marks)
			return first - 1, err
		}}
	},
	"the number of the last": func() dedup.Store {
		return &bad{add: func(m *dedup.Memory, ids []string, data [][]byte, keys [][]uint64, marks []bool) (uint32, error) {
			first, err := m.Add(ids, data, keys, nil, marks)
			return first + uint32(max(len(ids), 1)) - 1, err
		}}
	},
	"fails to add": func() dedup.Store {
		return &bad{add: func(*dedup.Memory, []string, [][]byte, [][]uint64, []bool) (uint32, error) { return 0, errBad }}
	},
	"fails to add nothing": func() dedup.Store {
		return &bad{add: func(m *dedup.Memory, ids []string, data [][]byte, keys [][]uint64, marks []bool) (uint32, error) {
			if len(ids) == 0 {
				return 0, errBad
			}
			return m.Add(ids, data, keys, nil, marks)
		}}
	},
	"names what only counts": func() dedup.Store {
		return &bad{add: func(m *dedup.Memory, ids []string, data [][]byte, keys [][]uint64, _ []bool) (uint32, error) {
			return m.Add(ids, data, keys, nil, nil)
		}}
	},
	"fails to look up": func() dedup.Store {
		return &bad{lookup: func(*dedup.Memory, []uint64, []uint32, []uint8) error { return errBad }}
	},
	"fails to read": func() dedup.Store {
		return &bad{records: func(*dedup.Memory, []uint32, [][]byte, [][]byte) error { return errBad }}
	},
	"holders in another order": func() dedup.Store {
		return &bad{lookup: func(m *dedup.Memory, keys []uint64, holders []uint32, n []uint8) error {
			err := m.Lookup(keys, holders, n)
			for i := range keys {
				if n[i] > 1 {
					h := holders[i*dedup.MaxHolders:]
					h[0], h[1] = h[1], h[0]
				}
			}
			return err
		}}
	},
	"one holder too few": func() dedup.Store {
		return &bad{lookup: func(m *dedup.Memory, keys []uint64, holders []uint32, n []uint8) error {
			err := m.Lookup(keys, holders, n)
			for i := range keys {
				n[i] = min(n[i], dedup.MaxHolders-1)
			}
			return err
		}}
	},
	"nine holders": func() dedup.Store {
		return &bad{lookup: func(m *dedup.Memory, keys []uint64, holders []uint32, n []uint8) error {
			err := m.Lookup(keys, holders, n)
			for i := range keys {
				if n[i] == dedup.MaxHolders {
					n[i]++
				}
			}
			return err
		}}
	},
	"counts added to what was there": func() dedup.Store {
		return &bad{lookup: func(m *dedup.Memory, keys []uint64, holders []uint32, n []uint8) error {
			before := append([]uint8{}, n...)
			err := m.Lookup(keys, holders, n)
			for i := range keys {
				n[i] += before[i]
			}
			return err
		}}
	},
	"a filter: keys with equal low halves": func() dedup.Store {
		half := func(keys []uint64) []uint64 {
			out := make([]uint64, len(keys))
			for i, k := range keys {
				out[i] = k & (1<<32 - 1)
			}
			return out
		}
		return &bad{
			lookup: func(m *dedup.Memory, keys []uint64, holders []uint32, n []uint8) error {
				return m.Lookup(half(keys), holders, n)
			},
			add: func(m *dedup.Memory, ids []string, data [][]byte, keys [][]uint64, marks []bool) (uint32, error) {
				var halves [][]uint64
				for _, k := range keys {
					halves = append(halves, half(k))
				}
				return m.Add(ids, data, halves, nil, marks)
			},
		}
	},
	"unknown numbers are empty documents": func() dedup.Store {
		return &bad{records: func(m *dedup.Memory, nums []uint32, ids, data [][]byte) error {
			_ = m.Records(nums, ids, data)
			return nil
		}}
	},
	"keeps the caller's keys and data": func() dedup.Store { return &keeper{} },
	"one buffer for all answers": func() dedup.Store {
		buf := make([]byte, 1<<20)
		return &bad{records: func(m *dedup.Memory, nums []uint32, ids, data [][]byte) error {
			err := m.Records(nums, ids, data)
			for i := range nums {
				if err == nil {
					data[i] = buf[:copy(buf, data[i])]
				}
			}
			return err
		}}
	},
	"an Add spoils what Records gave": func() dedup.Store {
		var given [][]byte
		return &bad{
			records: func(m *dedup.Memory, nums []uint32, ids, data [][]byte) error {
				err := m.Records(nums, ids, data)
				for i := range nums {
					data[i] = append([]byte{}, data[i]...)
				}
				given = data
				return err
			},
			add: func(m *dedup.Memory, ids []string, data [][]byte, keys [][]uint64, marks []bool) (uint32, error) {
				for _, b := range given {
					clear(b)
				}
				return m.Add(ids, data, keys, nil, marks)
			},
		}
	},
	"only 1000 keys at a time": func() dedup.Store {
		return &bad{lookup: func(m *dedup.Memory, keys []uint64, holders []uint32, n []uint8) error {
			return m.Lookup(keys[:min(len(keys), 1000)], holders, n)
		}}
	},
	"an id names one document": func() dedup.Store {
		seen := map[string][]byte{}
		return &bad{add: func(m *dedup.Memory, ids []string, data [][]byte, keys [][]uint64, marks []bool) (uint32, error) {
			for i, id := range ids {
				if first, ok := seen[id]; ok {
					data[i] = first
				}
				seen[id] = data[i]
			}
			return m.Add(ids, data, keys, nil, marks)
		}}
	},
	"born closed":           func() dedup.Store { return &closable{closed: true} },
	"answers after Close":   func() dedup.Store { return &closable{} },
	"says not it is closed": func() dedup.Store { return &closable{liar: true} },
	"closes once":           func() dedup.Store { return &closable{once: true} },
	"Close without Closed":  func() dedup.Store { return &halfClosable{} },
}

// A keeper keeps the slices passed to Add until it is queried.
type keeper struct {
	bad
	ids   [][]string
	data  [][][]byte
	lists [][][]uint64
	marks [][]bool
	known int
}

func (k *keeper) Add(ids []string, data [][]byte, keys [][]uint64, _ []uint32, marks []bool) (uint32, error) {
	k.ids, k.data, k.lists, k.marks = append(k.ids, ids), append(k.data, data), append(k.lists, keys), append(k.marks, marks)
	k.known += len(ids)
	return uint32(k.known - len(ids) + 1), nil
}

func (k *keeper) settle() {
	for i := range k.ids {
		_, _ = k.Memory.Add(k.ids[i], k.data[i], k.lists[i], nil, k.marks[i])
	}
	k.ids, k.data, k.lists, k.marks = nil, nil, nil, nil
}

func (k *keeper) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	k.settle()
	return k.Memory.Lookup(keys, holders, n)
}

func (k *keeper) Records(nums []uint32, ids, data [][]byte) error {
	k.settle()
	return k.Memory.Records(nums, ids, data)
}

// A closable store answers even when closed.
type closable struct {
	dedup.Memory
	closed, liar, once bool
}

func (c *closable) Closed() bool { return c.closed && !c.liar }

func (c *closable) Close() error {
	if c.once && c.closed {
		return errBad
	}
	c.closed = true
	return nil
}

type halfClosable struct{ dedup.Memory }

func (*halfClosable) Close() error { return nil }

// TestBadStoresAreFound checks that every broken rule is found, without a panic.
func TestBadStoresAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, open := range badStores {
		t.Run(name, func(t *testing.T) {
			var found []error
			for _, c := range checks {
				if err := c.check(open()); err != nil {
					found = append(found, fmt.Errorf("%s: %w", c.name, err))
				}
			}
			if len(found) == 0 {
				t.Fatal("no check finds it")
			}
			t.Log(found[0])
		})
	}
}
