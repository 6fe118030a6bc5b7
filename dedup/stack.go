package dedup

import (
	"errors"
	"math"
	"slices"

	"github.com/firstseen/firstseen/bloomstore"
)

// A stack is a [SharedStore] of several stores: read-only earlier ones, and one to which documents
// are added. It answers like a single store with all their documents, those of the earlier stores
// first. Numbers are those of that store, and Lookup names the first MaxHolders holders.
//
// If a document of an earlier store repeats one of another, both are kept, as in a single store
// that was asked to keep it. The earlier stores must not change while the stack is in use. No other
// user may query the stores meanwhile.
type stack struct {
	stores  []SharedStore // documents are added to the last
	layers                // of the owner
	readers []*layers
}

// newStack returns a stack of stores that adds to the last. It does not close them.
func newStack(earlier []SharedStore, last SharedStore) *stack {
	s := &stack{stores: append(slices.Clone(earlier), last)}
	s.layers = layers{stack: s, reader: owner}
	return s
}

var errTooMany = errors.New("no more than 4294967295 documents can have numbers, including those of the earlier stores")

// before returns the number of documents in the earlier stores, which come first.
func (s *stack) before() (n uint32) {
	for _, store := range s.stores[:len(s.stores)-1] {
		n += store.Documents()
	}
	return n
}

// Documents implements [SharedStore].
func (s *stack) Documents() uint32 {
	all := uint64(s.before()) + uint64(s.last().Documents())
	return uint32(min(all, math.MaxUint32)) // CanDecideAll is then false, and Add fails
}

func (s *stack) last() SharedStore { return s.stores[len(s.stores)-1] }

// Live implements [SharedStore].
func (s *stack) Live(num uint32) bool {
	for _, store := range s.stores {
		if count := store.Documents(); num > count {
			num -= count
			continue
		}
		return num > 0 && store.Live(num)
	}
	return false
}

// Closed reports whether any of the stores is closed.
func (s *stack) Closed() bool {
	return slices.ContainsFunc(s.stores, func(store SharedStore) bool {
		c, ok := store.(closer)
		return ok && c.Closed()
	})
}

// Add implements [Store].
func (s *stack) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (uint32, error) {
	before := s.before()
	if uint64(before)+uint64(s.last().Documents())+uint64(len(ids)) > math.MaxUint32 {
		return 0, errTooMany
	}
	first, err := s.last().Add(ids, data, keys, times, marks)
	return before + first, err
}

// Share implements [SharedStore].
func (s *stack) Share(n int, run func(tasks int, f func(task int))) error {
	for len(s.readers) < n {
		s.readers = append(s.readers, &layers{stack: s, reader: len(s.readers)})
	}
	for _, store := range s.stores {
		if err := store.Share(n, run); err != nil {
			return err
		}
	}
	return nil
}

// Asker implements [SharedStore].
func (s *stack) Asker(reader int) Asker { return s.readers[reader] }

// layers is the state of one goroutine that queries a stack. It is reusable.
type layers struct {
	stack  *stack
	reader int // of the stores, or owner

	keys    []uint64
	of      []int // for each of keys, its index in the query
	holders []uint32
	n       []uint8
	read    records
	at      []int // for each of read, its index in the query
}

const owner = -1

func (l *layers) ask(store SharedStore) Asker {
	if l.reader == owner {
		return store
	}
	return store.Asker(l.reader)
}

// Lookup implements [Asker]. It queries each store in turn for the keys with too few holders.
func (l *layers) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	stores := l.stack.stores
	if err := l.ask(stores[0]).Lookup(keys, holders, n); err != nil {
		return err
	}
	before := stores[0].Documents()
	for _, store := range stores[1:] {
		l.keys, l.of = l.keys[:0], l.of[:0]
		for i, key := range keys {
			if n[i] &^= ClosedKey; n[i] < MaxHolders { // closing matters only in the last store
				l.keys, l.of = append(l.keys, key), append(l.of, i)
			}
		}
		l.n = slices.Grow(l.n[:0], len(l.keys))[:len(l.keys)]
		l.holders = slices.Grow(l.holders[:0], len(l.keys)*MaxHolders)[:len(l.keys)*MaxHolders]
		if err := l.ask(store).Lookup(l.keys, l.holders, l.n); err != nil {
			return err
		}
		for j, i := range l.of {
			more := l.holders[j*MaxHolders:][:l.n[j]&^ClosedKey]
			n[i] = behind(holders[i*MaxHolders:][:MaxHolders], n[i], more, before) | l.n[j]&ClosedKey
		}
		before += store.Documents()
	}
	return nil
}

// behind appends the holders from a later store to n earlier ones and returns the total. A key
// common in the later store is common, even if some of its holders there were taken back.
func behind(holders []uint32, n uint8, more []uint32, before uint32) uint8 {
	live := withoutDead(more)
	for _, num := range live {
		if n < MaxHolders {
			if num != Counted {
				num += before
			}
			holders[n] = num
			n++
		}
	}
	if len(live) == len(more) || n == MaxHolders {
		return n
	}
	dead := MaxHolders - int(n)
	copy(holders[dead:], holders[:n])
	clear(holders[:dead])
	return MaxHolders
}

// Records implements [Asker]. It queries each store once, for its own documents: its results are
// valid until its next query.
func (l *layers) Records(nums []uint32, ids, data [][]byte) error {
	stores, left, before := l.stack.stores, len(nums), uint32(0)
	for at, store := range stores {
		count := store.Documents()
		l.read.nums, l.at = l.read.nums[:0], l.at[:0]
		for i, num := range nums {
			if num > before && (num-before <= count || at+1 == len(stores)) {
				l.read.nums, l.at = append(l.read.nums, num-before), append(l.at, i)
			}
		}
		n := len(l.at)
		left, before = left-n, before+count
		if n == 0 {
			continue // not queried, so its earlier results stay valid
		}
		l.read.ids = slices.Grow(l.read.ids[:0], n)[:n]
		l.read.data = slices.Grow(l.read.data[:0], n)[:n]
		if err := l.ask(store).Records(l.read.nums, l.read.ids, l.read.data); err != nil {
			return err
		}
		for j, i := range l.at {
			ids[i], data[i] = l.read.ids[j], l.read.data[j]
		}
	}
	if left > 0 {
		return errors.New("there is no document 0")
	}
	return nil
}

// testEarlier adds the results of earlier filters to seen.
func testEarlier(filters []*bloomstore.Filter, keys []uint64, seen []bool) {
	for _, f := range filters {
		var more [64]bool
		for from := 0; from < len(keys); from += len(more) {
			to := min(from+len(more), len(keys))
			f.TestLazily(keys[from:to], more[:])
			for i, s := range more[:to-from] {
				seen[from+i] = seen[from+i] || s
			}
		}
	}
}
