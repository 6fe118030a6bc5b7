package sorted

import (
	"iter"
	"slices"
)

// Entries are pairs of a key and a document, in two slices of equal length.
type Entries struct {
	Keys []uint64
	Docs []uint32
}

// Reset removes all and keeps the memory.
func (e *Entries) Reset() { e.cut(0) }

// Add appends an entry.
func (e *Entries) Add(key uint64, doc uint32) {
	e.Keys = append(e.Keys, key)
	e.Docs = append(e.Docs, doc)
}

// Groups iterates over the keys, in order, and the documents of each. The documents
// before those at hand may be written over.
func (e *Entries) Groups() iter.Seq2[uint64, []uint32] {
	return func(yield func(uint64, []uint32) bool) {
		for i := 0; i < len(e.Keys); {
			j, key := i+1, e.Keys[i]
			for j < len(e.Keys) && e.Keys[j] == key {
				j++
			}
			if !yield(key, e.Docs[i:j:j]) {
				return
			}
			i = j
		}
	}
}

// extend makes room for n more and returns it.
func (e *Entries) extend(n int) ([]uint64, []uint32) {
	at := len(e.Keys)
	e.Keys, e.Docs = slices.Grow(e.Keys, n)[:at+n], slices.Grow(e.Docs, n)[:at+n]
	return e.Keys[at:], e.Docs[at:]
}

func (e *Entries) cut(n int) { e.Keys, e.Docs = e.Keys[:n], e.Docs[:n] }

// keep drops entries from position at on whose keys are outside from..to.
func (e *Entries) keep(at int, from, to uint64) {
	n := at
	for i := at; i < len(e.Keys); i++ {
		if e.Keys[i] >= from && e.Keys[i] <= to {
			e.Keys[n], e.Docs[n] = e.Keys[i], e.Docs[i]
			n++
		}
	}
	e.cut(n)
}
