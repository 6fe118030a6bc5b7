package docmap

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
)

// never is when a live document was taken back.
const never = math.MaxUint32

// A grave is a range of documents that were taken back at one moment: when the table
// had so many documents.
type grave struct{ first, last, when uint32 }

// graves are the documents that were taken back.
type graves struct {
	bits  []uint64          // which they are, bit num%64 of word num/64
	old   []grave           // in the file; ascending
	fresh map[uint32]uint32 // not in the file yet: document → when
	dead  uint32            // how many they are
}

func (g *graves) has(num uint32) bool {
	word := int(num / 64)
	return word < len(g.bits) && g.bits[word]>>(num%64)&1 != 0
}

// gone is when a document was taken back.
func (g *graves) gone(num uint32) uint32 {
	if !g.has(num) {
		return never
	}
	if when, ok := g.fresh[num]; ok {
		return when
	}
	i := sort.Search(len(g.old), func(i int) bool { return g.old[i].last >= num })
	return g.old[i].when
}

// goneBefore says whether a document was taken back before another came.
func (g *graves) goneBefore(num, doc uint32) bool { return g.has(num) && g.gone(num) < doc }

func (g *graves) mark(num uint32) {
	word := int(num / 64)
	if word >= len(g.bits) {
		g.bits = append(g.bits, make([]uint64, word+1-len(g.bits))...)
	}
	g.bits[word] |= 1 << (num % 64)
	g.dead++
}

// bury takes a live document back.
func (g *graves) bury(num, when uint32) {
	g.mark(num)
	if g.fresh == nil {
		g.fresh = map[uint32]uint32{}
	}
	g.fresh[num] = when
}

// unbury undoes bury, where that is not in the file.
func (g *graves) unbury(num uint32) {
	if _, ok := g.fresh[num]; ok {
		delete(g.fresh, num)
		g.bits[num/64] &^= 1 << (num % 64)
		g.dead--
	}
}

// unsaved are the fresh ones as ranges, ascending.
func (g *graves) unsaved() []grave {
	nums := make([]uint32, 0, len(g.fresh))
	for num := range g.fresh {
		nums = append(nums, num)
	}
	slices.Sort(nums)
	var ranges []grave
	for _, num := range nums {
		when := g.fresh[num]
		if n := len(ranges) - 1; n >= 0 && ranges[n].last+1 == num && ranges[n].when == when {
			ranges[n].last = num
			continue
		}
		ranges = append(ranges, grave{num, num, when})
	}
	return ranges
}

// saved says that ranges, which unsaved gave, are in the file.
func (g *graves) saved(ranges []grave) {
	if len(ranges) == 0 {
		return
	}
	g.old = append(g.old, ranges...)
	slices.SortFunc(g.old, func(a, b grave) int { return int(int64(a.first) - int64(b.first)) })
	clear(g.fresh)
}

const (
	graveBytes = 16
	needsDead  = 1 << 1
)

var bucketDead = []byte("dead")

// writeGraves stores ranges.
func writeGraves(tx *bbolt.Tx, ranges []grave, next *header) error {
	if len(ranges) == 0 {
		return nil
	}
	next.needs |= needsDead
	bucket, err := tx.CreateBucketIfNotExists(bucketDead)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if err := bucket.Put(binKey(uint64(r.first)), r.encode()); err != nil {
			return err
		}
	}
	return nil
}

func (r *grave) encode() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(make([]byte, 0, graveBytes), r.last)
	b = le.AppendUint32(b, r.when)
	return le.AppendUint64(b, xxh3.HashSeed(b, seedGrave+uint64(r.first)))
}

// loadGraves reads what writeGraves has stored.
func (t *Table) loadGraves(tx *bbolt.Tx) error {
	bucket := tx.Bucket(bucketDead)
	if has := t.head.needs&needsDead != 0; bucket == nil || !has {
		if has {
			return damage("the list of documents that were taken back is missing")
		}
		return nil
	}
	g := &t.graves
	next := uint32(1)
	c := bucket.Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		r, err := decodeGrave(key, value)
		if err != nil {
			return err
		}
		if r.first < next || r.last < r.first || r.last > t.head.docs || r.when < r.last || r.when > t.head.docs {
			return damage("the documents %d to %d cannot have been taken back at %d of %d", r.first, r.last, r.when, t.head.docs)
		}
		for num := r.first; num <= r.last; num++ {
			g.mark(num)
		}
		g.old = append(g.old, r)
		next = r.last + 1
	}
	if len(g.old) == 0 {
		return damage("the list of documents that were taken back is empty")
	}
	return nil
}

func decodeGrave(key, value []byte) (grave, error) {
	if len(key) != 4 || len(value) != graveBytes {
		return grave{}, damage("a range of documents that were taken back has %d and %d bytes", len(key), len(value))
	}
	r := grave{binary.BigEndian.Uint32(key), binary.LittleEndian.Uint32(value), binary.LittleEndian.Uint32(value[4:])}
	if xxh3.HashSeed(value[:8], seedGrave+uint64(r.first)) != binary.LittleEndian.Uint64(value[8:]) {
		return grave{}, damage("wrong checksum of the documents taken back from %d on", r.first)
	}
	return r, nil
}
