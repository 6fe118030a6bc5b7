package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/firstseen/firstseen/dedup"
)

// world is the model that a store must equal.
type world struct {
	docs    []doc
	holders map[uint64][]uint32
}

// add adds documents to the store, in one call, and to the model.
func (w *world) add(s dedup.Store, docs []doc) error {
	if err := add(s, uint32(len(w.docs))+1, docs...); err != nil {
		return err
	}
	for _, d := range docs {
		w.docs = append(w.docs, d)
		num := uint32(len(w.docs))
		for _, k := range d.keys {
			if l := w.holders[k]; len(l) < dedup.MaxHolders && !slices.Contains(l, num) {
				w.holders[k] = append(l, num)
			}
		}
	}
	return nil
}

// randomDocs draws documents: most keys uniform, as hashes are, some common.
func randomDocs(r *rand.Rand, n int) []doc {
	docs := make([]doc, n)
	for i := range docs {
		docs[i] = doc{id: fmt.Sprint("doc ", i), data: fmt.Sprint(r.Uint64())}
		for range r.IntN(60) {
			k := r.Uint64()
			if r.IntN(5) == 0 {
				k = k % 50 * 0x9e3779b97f4a7c15
			}
			docs[i].keys = append(docs[i].keys, k)
		}
	}
	return docs
}

// equal asks for all there is, in batches of n keys or documents.
func (w *world) equal(s dedup.Store, n int) error {
	var keys []uint64
	for k := range w.holders {
		keys = append(keys, k, ^k)
	}
	slices.Sort(keys) // so that the same keys are asked together each time
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for batch := range slices.Chunk(keys, n) {
		holders := make([][]uint32, len(batch))
		for i, k := range batch {
			holders[i] = w.holders[k]
		}
		if err := want(s, batch, holders); err != nil {
			return err
		}
	}
	at := uint32(0)
	for batch := range slices.Chunk(w.docs, n) {
		nums := make([]uint32, len(batch))
		for i := range nums {
			at++
			nums[i] = at
		}
		if err := wantRecords(s, nums, batch); err != nil {
			return err
		}
	}
	return nil
}

// batchesEqualSingles: how documents come and how they are asked for makes no
// difference.
func batchesEqualSingles(s dedup.Store) error {
	r := rand.New(rand.NewPCG(2, 0))
	w := &world{holders: map[uint64][]uint32{}}
	docs := randomDocs(r, 120)
	for len(docs) > 0 {
		n := min(len(docs), 1+r.IntN(4)*r.IntN(6))
		if err := w.add(s, docs[:n]); err != nil {
			return err
		}
		docs = docs[n:]
	}
	return cmp.Or(w.equal(s, 1), w.equal(s, 13), w.equal(s, 1<<20))
}

// largeLookup asks for as many keys at once as a batch of documents has.
func largeLookup(s dedup.Store) error {
	const n = 5000
	d := doc{id: "large"}
	keys, holders := make([]uint64, 2*n), make([][]uint32, 2*n)
	for i := range keys {
		keys[i] = uint64(i+1) * 0x9e3779b97f4a7c15
		if i%2 == 0 {
			d.keys = append(d.keys, keys[i])
			holders[i] = []uint32{1}
		}
	}
	return cmp.Or(add(s, 1, d), want(s, keys, holders))
}

func manyDocuments(s dedup.Store) error {
	r := rand.New(rand.NewPCG(3, 0))
	w := &world{holders: map[uint64][]uint32{}}
	for batch := range slices.Chunk(randomDocs(r, 2000), 50) {
		if err := w.add(s, batch); err != nil {
			return err
		}
	}
	return w.equal(s, 51)
}
