package dedup_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/firstseen/firstseen/dedup"
)

// A doc is a document in the suite.
type doc struct {
	id     string
	data   string
	keys   []uint64
	counts bool // it only counts
}

// storeModel is the model that a store must match.
type storeModel struct {
	docs    []doc
	holders map[uint64][]uint32 // Counted for documents that only count
}

// batches adds documents in batches and compares the store with the model.
func batches(list ...[]doc) func(s dedup.Store) error {
	return func(s dedup.Store) error {
		w := &storeModel{}
		for _, docs := range list {
			if err := w.add(s, docs...); err != nil {
				return err
			}
			if len(w.docs) > 100 {
				continue // a full comparison takes time
			}
			if err := w.equal(s, 1<<20); err != nil {
				return err
			}
		}
		for _, n := range []int{1, 13, 51, 1 << 20} {
			if err := w.equal(s, n); err != nil {
				return err
			}
		}
		return nil
	}
}

func (w *storeModel) add(s dedup.Store, docs ...doc) error {
	var ids []string
	var data [][]byte
	var keys [][]uint64
	var marks []bool
	for _, d := range docs {
		ids, data, keys = append(ids, d.id), append(data, []byte(d.data)), append(keys, d.keys)
		marks = append(marks, d.counts)
	}
	want := uint32(len(w.docs)) + 1
	first, err := s.Add(ids, data, keys, nil, marks)
	if err != nil {
		return fmt.Errorf("an Add of %d documents: %w", len(docs), err)
	}
	if first != want {
		return fmt.Errorf("an Add of %d documents gives %d as the first number, want %d", len(docs), first, want)
	}
	for _, d := range docs {
		w.docs = append(w.docs, d)
		w.hold(&d)
	}
	return nil
}

// hold records the last document as a holder of its keys.
func (w *storeModel) hold(d *doc) {
	if w.holders == nil {
		w.holders = map[uint64][]uint32{}
	}
	num := uint32(len(w.docs))
	if d.counts {
		num = dedup.Counted
	}
	keys := slices.Clone(d.keys)
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		if l := w.holders[k]; len(l) < dedup.MaxHolders {
			w.holders[k] = append(l, num)
		}
	}
}

// equal compares all keys and documents in batches of n, and unknown ones.
func (w *storeModel) equal(s dedup.Asker, n int) error {
	var keys []uint64
	for k := range w.holders {
		keys = append(keys, k, ^k)
	}
	slices.Sort(keys) // so that batches are always the same
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for batch := range slices.Chunk(keys, n) {
		if err := w.lookup(s, batch...); err != nil {
			return err
		}
	}
	var nums []uint32
	for i, d := range w.docs {
		if !d.counts {
			nums = append(nums, uint32(i+1))
		}
	}
	for batch := range slices.Chunk(nums, n) {
		batch = append(slices.Clone(batch), batch[0])
		slices.Reverse(batch)
		if err := w.records(s, batch); err != nil {
			return err
		}
	}
	last := uint32(len(w.docs))
	for _, nums := range [][]uint32{{0}, {last + 1}, {math.MaxUint32}, {last, last + 1}, {0, last}} {
		if err := s.Records(nums, make([][]byte, len(nums)), make([][]byte, len(nums))); err == nil {
			return fmt.Errorf("reading %v returns no error, with %d documents", nums, last)
		}
	}
	return nil
}

// lookup looks up keys in one call. The slices passed to the store hold other values before.
func (w *storeModel) lookup(s dedup.Asker, keys ...uint64) error {
	const places = dedup.MaxHolders
	holders, n := slices.Repeat([]uint32{7777}, len(keys)*places), bytes.Repeat([]byte{99}, len(keys))
	if err := s.Lookup(keys, holders, n); err != nil {
		return fmt.Errorf("a Lookup of %d keys: %w", len(keys), err)
	}
	for i, k := range keys {
		if n[i] > places {
			return fmt.Errorf("a Lookup of %d keys: key %x has %d holders", len(keys), k, n[i])
		}
		if found := holders[i*places:][:n[i]]; !slices.Equal(found, w.holders[k]) {
			return fmt.Errorf("a Lookup of %d keys: key %x has the holders %v, want %v", len(keys), k, found, w.holders[k])
		}
	}
	return nil
}

func (w *storeModel) records(s dedup.Asker, nums []uint32) error {
	ids, data := make([][]byte, len(nums)), make([][]byte, len(nums))
	if err := s.Records(nums, ids, data); err != nil {
		return fmt.Errorf("reading %v: %w", nums, err)
	}
	for i, num := range nums {
		if d := &w.docs[num-1]; string(ids[i]) != d.id || string(data[i]) != d.data {
			return fmt.Errorf("reading %v: document %d is %q with %q, want %q with %q", nums, num, ids[i], data[i], d.id, d.data)
		}
	}
	return nil
}
