package docmap

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"sort"

	"go.etcd.io/bbolt"
)

// never is the moment of taking back a live document.
const never = math.MaxUint32

// A tombstone is a range of documents taken back at one moment: when the table had that many
// documents.
type tombstone struct{ first, last, when uint32 }

// tombstones holds the documents that were taken back, and others that are not named.
type tombstones struct {
	which   numbers
	old     []tombstone       // in the file; ascending
	fresh   map[uint32]uint32 // not in the file yet: document → when
	dead    uint32            // their number
	win     window            // outside of which documents are dead too
	counted countOnly         // documents that only count
}

// has reports whether a document is not named: it is dead or only counts.
func (g *tombstones) has(num uint32) bool { return g.gone(num) || g.counted.which.has(num) }

// gone reports whether a document is dead: taken back, or older than the window.
func (g *tombstones) gone(num uint32) bool { return g.forgotten(num) || g.win.expired(num) }

// any reports whether documents may be dead.
func (g *tombstones) any() bool { return g.dead > 0 || g.win.length > 0 }

// unnamed reports whether there may be documents that are not named.
func (g *tombstones) unnamed() bool { return g.any() || g.counted.n > 0 }

// forgotten reports whether a document was taken back by Forget.
func (g *tombstones) forgotten(num uint32) bool { return g.which.has(num) }

// when returns the moment at which Forget took a document back.
func (g *tombstones) when(num uint32) uint32 {
	if !g.forgotten(num) {
		return never
	}
	if when, ok := g.fresh[num]; ok {
		return when
	}
	i := sort.Search(len(g.old), func(i int) bool { return g.old[i].last >= num })
	return g.old[i].when
}

// goneBefore reports whether a document was dead before document doc came.
func (g *tombstones) goneBefore(num, doc uint32) bool {
	return g.forgotten(num) && g.when(num) < doc || g.win.expiredBefore(num, doc)
}

func (g *tombstones) mark(num uint32) {
	g.dead++
	g.which.add(num)
}

// forget takes a live document back.
func (g *tombstones) forget(num, when uint32) {
	g.mark(num)
	if g.fresh == nil {
		g.fresh = map[uint32]uint32{}
	}
	g.fresh[num] = when
}

// recall undoes forget unless that is in the file.
func (g *tombstones) recall(num uint32) {
	if _, ok := g.fresh[num]; ok {
		delete(g.fresh, num)
		g.which.remove(num)
		g.dead--
	}
}

// dropBelow removes the documents below a watermark. None of them is fresh.
func (g *tombstones) dropBelow(mark uint32) {
	for len(g.old) > 0 && g.old[0].last < mark {
		g.dead -= g.old[0].last - g.old[0].first + 1
		g.old = g.old[1:]
	}
	g.old = slices.Clone(g.old)
	g.which.dropBelow(mark)
	g.counted.which.dropBelow(mark)
}

// unsaved returns the fresh ones as ranges, ascending.
func (g *tombstones) unsaved() []tombstone {
	var ranges []tombstone
	for _, num := range slices.Sorted(maps.Keys(g.fresh)) {
		ranges = appendNumber(ranges, num, g.fresh[num])
	}
	return ranges
}

// appendNumber appends a document to ranges that all end before it.
func appendNumber(ranges []tombstone, num, when uint32) []tombstone {
	if n := len(ranges) - 1; n >= 0 && ranges[n].last+1 == num && ranges[n].when == when {
		ranges[n].last = num
		return ranges
	}
	return append(ranges, tombstone{num, num, when})
}

// saved notes that the ranges returned by unsaved are in the file.
func (g *tombstones) saved(ranges []tombstone) {
	g.old = append(g.old, ranges...)
	slices.SortFunc(g.old, func(a, b tombstone) int { return cmp.Compare(a.first, b.first) })
	clear(g.fresh)
}

const needsDead = 1 << 1

// A rangeList is a bucket of ranges of documents.
type rangeList struct {
	bucket []byte
	needs  uint32
	seed   uint64
	what   string // its documents
}

var deadList = rangeList{[]byte("dead"), needsDead, seedDead, "were taken back"}

// tombstoneChunk is the approximate length of a list of ranges.
const tombstoneChunk = 2 << 10

// write stores ranges, ascending.
func (l *rangeList) write(c *change, ranges []tombstone, next *header) {
	for len(ranges) > 0 {
		next.needs |= l.needs
		value, rest := encodeTombstones(ranges, l.seed)
		c.put(l.bucket, binKey(uint64(ranges[0].first)), value)
		ranges = rest
	}
}

// load calls f for each range in the file, in the order of the lists.
func (l *rangeList) load(tx *bbolt.Tx, h *header, f func(r tombstone) error) error {
	if h.needs&l.needs == 0 {
		return nil
	}
	bucket := tx.Bucket(l.bucket)
	if bucket == nil {
		return damage("the list of documents that %s is missing", l.what)
	}
	return bucket.ForEach(func(key, value []byte) error {
		ranges, err := l.decode(key, value)
		for i := 0; i < len(ranges) && err == nil; i++ {
			err = f(ranges[i])
		}
		return err
	})
}

// encodeTombstones packs the first of ranges, of one moment, and returns the rest.
func encodeTombstones(ranges []tombstone, seed uint64) (b []byte, rest []tombstone) {
	first, when := ranges[0].first, ranges[0].when
	b = binary.LittleEndian.AppendUint32(nil, when)
	for end := first; len(ranges) > 0 && ranges[0].when == when && len(b) < tombstoneChunk; ranges = ranges[1:] {
		r := &ranges[0]
		b = binary.AppendUvarint(b, uint64(r.first-end))
		b = binary.AppendUvarint(b, uint64(r.last-r.first))
		end = r.last
	}
	return seal(b, seed+uint64(first)), ranges
}

func (t *Table) loadTombstones(tx *bbolt.Tx) error {
	g := &t.tombstones
	g.which.base = g.win.watermark() / 64
	err := deadList.load(tx, &t.head, func(r tombstone) error { return g.load(r, t.head.docs) })
	if err != nil {
		return err
	}
	if t.head.needs&needsDead != 0 && len(g.old) == 0 && g.win.length == 0 {
		return damage("the list of documents that were taken back is empty")
	}
	g.saved(nil)
	g.dropBelow(g.win.watermark())
	return nil
}

func (g *tombstones) load(r tombstone, docs uint32) error {
	if r.last > r.when || r.when > docs {
		return damage("documents %d to %d cannot have been taken back at %d of %d", r.first, r.last, r.when, docs)
	}
	for num := r.first; num <= r.last; num++ {
		if g.forgotten(num) {
			return damage("document %d was taken back twice", num)
		}
		g.mark(num)
	}
	g.old = append(g.old, r)
	return nil
}

func (l *rangeList) decode(key, value []byte) (ranges []tombstone, err error) {
	if len(key) != 4 || len(value) < 12 {
		return nil, damage("a list of documents has %d and %d bytes", len(key), len(value))
	}
	end := uint64(binary.BigEndian.Uint32(key))
	body, ok := sealed(value, l.seed+end)
	if !ok {
		return nil, damage("wrong checksum of the list of documents from %d on", end)
	}
	f := &fields{b: body}
	for when := f.u32(); len(f.b) > 0; {
		first := end + f.uvarint()
		last := first + f.uvarint()
		if f.short || first < end || last < first || first == 0 || last > math.MaxUint32 {
			return nil, damage("documents %d to %d are no part of a list", first, last)
		}
		ranges = append(ranges, tombstone{uint32(first), uint32(last), when})
		end = last
	}
	return ranges, nil
}
