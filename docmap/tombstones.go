package docmap

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/bits-and-blooms/bitset"
	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/internal/base/fields"
)

// Counted is the number that look-ups return for a document that only counts: it holds the key but
// is never named. See docs/format.md, "Documents that only count".
const Counted = math.MaxUint32

const (
	// never stands for the moment when a live document is taken back.
	never = math.MaxUint32
	// mostFresh bounds the documents taken back that wait for a checkpoint.
	mostFresh = 1 << 18
	// tombstoneChunk is the approximate length of an encoded list of ranges, in bytes.
	tombstoneChunk = 2 << 10

	needsDead    = 1 << 1
	needsCounted = 1 << 3
)

// numbers is a set of document numbers, from a base on.
type numbers struct {
	bits bitset.BitSet // of documents from 64*base on
	base uint32        // words below the watermark, left out
	n    uint32        // documents added and not removed
}

func (s *numbers) has(num uint32) bool {
	return num >= 64*s.base && s.bits.Test(uint(num-64*s.base))
}

func (s *numbers) add(num uint32) {
	s.n++
	if num >= 64*s.base {
		s.bits.Set(uint(num - 64*s.base))
	}
}

func (s *numbers) remove(num uint32) {
	s.n--
	s.bits.Clear(uint(num - 64*s.base))
}

func (s *numbers) dropBelow(mark uint32) {
	if base := mark / 64; base > s.base {
		words := s.bits.Words()
		s.bits = *bitset.From(slices.Clone(words[min(int(base-s.base), len(words)):]))
		s.base = base
	}
}

// A tombstone is a range of documents taken back together; when is the number of documents then.
type tombstone struct{ first, last, when uint32 }

// tombstones holds the documents that look-ups do not name: taken back, expired or only counting.
type tombstones struct {
	dead    numbers           // taken back by Forget
	old     []tombstone       // those in the file; ascending
	fresh   map[uint32]uint32 // those not in the file yet: document → when
	win     window            // documents outside it are dead, too
	counted numbers           // documents that only count
	marked  []tombstone       // the part of counted not in the file yet; ascending
}

// has reports whether a document is never named: it is dead or only counts.
func (g *tombstones) has(num uint32) bool { return g.gone(num) || g.counted.has(num) }

// gone reports whether a document is dead: taken back, or older than the window.
func (g *tombstones) gone(num uint32) bool { return g.dead.has(num) || g.win.expired(num) }

func (g *tombstones) any() bool { return g.dead.n > 0 || g.win.length > 0 }

func (g *tombstones) unnamed() bool { return g.any() || g.counted.n > 0 }

func (g *tombstones) when(num uint32) uint32 {
	if !g.dead.has(num) {
		return never
	}
	if when, ok := g.fresh[num]; ok {
		return when
	}
	i := sort.Search(len(g.old), func(i int) bool { return g.old[i].last >= num })
	return g.old[i].when
}

// goneBefore reports whether document num was dead when document doc arrived.
func (g *tombstones) goneBefore(num, doc uint32) bool {
	return g.dead.has(num) && g.when(num) < doc || g.win.length > 0 && g.win.older(num, g.win.edgeAt(doc))
}

func (g *tombstones) forget(num, when uint32) {
	g.dead.add(num)
	if g.fresh == nil {
		g.fresh = map[uint32]uint32{}
	}
	g.fresh[num] = when
}

// dropBelow removes the documents below a watermark. None of them is fresh.
func (g *tombstones) dropBelow(mark uint32) {
	for len(g.old) > 0 && g.old[0].last < mark {
		g.dead.n -= g.old[0].last - g.old[0].first + 1
		g.old = g.old[1:]
	}
	g.old = slices.Clone(g.old)
	g.dead.dropBelow(mark)
	g.counted.dropBelow(mark)
}

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

func (g *tombstones) saved(ranges []tombstone) {
	g.old = append(g.old, ranges...)
	slices.SortFunc(g.old, func(a, b tombstone) int { return cmp.Compare(a.first, b.first) })
	clear(g.fresh)
}

// A rangeList is a bucket of ranges of documents.
type rangeList struct {
	bucket      []byte
	needs       uint32
	seed        uint64
	what, twice string // for messages about its documents
	check       func(r tombstone, docs uint32) error
}

var deadList = rangeList{
	[]byte("dead"), needsDead, seedDead, "were taken back", "was taken back twice",
	func(r tombstone, docs uint32) error {
		if r.last > r.when || r.when > docs {
			return damage("documents %d to %d cannot have been taken back at document %d of %d", r.first, r.last, r.when, docs)
		}
		return nil
	},
}

var countedList = rangeList{
	[]byte("counted"), needsCounted, seedCounted, "only count", "is listed twice as only counting",
	func(r tombstone, docs uint32) error {
		if r.when != 0 || r.last > docs {
			return damage("documents %d to %d cannot be listed as only counting among %d", r.first, r.last, docs)
		}
		return nil
	},
}

func (l *rangeList) write(c *change, ranges []tombstone) {
	for len(ranges) > 0 {
		c.head.needs |= l.needs
		value, rest := encodeTombstones(ranges, l.seed)
		c.put(l.bucket, binKey(uint64(ranges[0].first)), value)
		ranges = rest
	}
}

// load adds the documents in the file to a set, and returns their ranges in file order.
func (l *rangeList) load(tx *bbolt.Tx, h *header, set *numbers) (all []tombstone, err error) {
	set.base = h.win.watermark() / 64
	if h.needs&l.needs == 0 {
		return nil, nil
	}
	bucket := tx.Bucket(l.bucket)
	if bucket == nil {
		return nil, damage("the list of documents that %s is missing", l.what)
	}
	for key, value := range entries(bucket, nil) {
		ranges, err := l.decode(key, value, h.docs)
		if err == nil {
			err = l.addTo(set, ranges)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, ranges...)
	}
	return all, nil
}

func (l *rangeList) addTo(set *numbers, ranges []tombstone) error {
	for _, r := range ranges {
		for num := r.first; num <= r.last; num++ {
			if set.has(num) {
				return damage("document %d %s", num, l.twice)
			}
			set.add(num)
		}
	}
	return nil
}

// encodeTombstones encodes the leading ranges of one moment, and returns the rest.
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
	dead, err := deadList.load(tx, &t.head, &g.dead)
	if err == nil {
		_, err = countedList.load(tx, &t.head, &g.counted)
	}
	if err != nil {
		return err
	}
	if t.head.needs&needsDead != 0 && len(dead) == 0 && g.win.length == 0 {
		return damage("the list of documents that were taken back is empty")
	}
	g.saved(dead)
	g.dropBelow(g.win.watermark())
	return nil
}

func (l *rangeList) decode(key, value []byte, docs uint32) (ranges []tombstone, err error) {
	if len(key) != 4 || len(value) < 12 {
		return nil, damage("a list of documents has %d and %d bytes", len(key), len(value))
	}
	end := uint64(binary.BigEndian.Uint32(key))
	body, ok := sealed(value, l.seed+end)
	if !ok {
		return nil, damage("wrong checksum of the list of documents from %d on", end)
	}
	f := &fields.Reader{Rest: body}
	for when := f.Uint32(); len(f.Rest) > 0; {
		first := end + f.Uvarint()
		last := first + f.Uvarint()
		if f.Short || first < end || last < first || first == 0 || last > math.MaxUint32 {
			return nil, damage("documents %d to %d are not a range of the list", first, last)
		}
		r := tombstone{uint32(first), uint32(last), when}
		if err := l.check(r, docs); err != nil {
			return nil, err
		}
		ranges = append(ranges, r)
		end = last
	}
	return ranges, nil
}

// Forget takes documents back: look-ups and ByID no longer name them. The next Checkpoint or
// SaveForgotten makes that durable. Forget skips documents taken back before, and returns the
// number of live ones. If a number has no document, it does nothing and returns ErrNoDoc.
func (t *Table) Forget(nums []uint32) (n int, err error) {
	if err := t.writable(); err != nil {
		return 0, fmt.Errorf("forgetting documents: %w", err)
	}
	for _, num := range nums {
		if num == 0 || num > t.docs {
			return 0, fmt.Errorf("forgetting document %d: %w", num, ErrNoDoc)
		}
	}
	t.version++
	for _, num := range nums {
		if t.tombstones.gone(num) {
			continue
		}
		t.tombstones.forget(num, t.docs)
		if !t.tombstones.counted.has(num) {
			n++
		}
	}
	t.watchTombstones()
	return n, nil
}

// Recall undoes Forget for documents, before that becomes durable and before another document is
// added: this may take the place of a dead one in memory.
func (t *Table) Recall(nums []uint32) {
	t.version++
	for _, num := range nums {
		if _, ok := t.tombstones.fresh[num]; ok {
			delete(t.tombstones.fresh, num)
			t.tombstones.dead.remove(num)
		}
	}
}

// Live reports whether a document exists, is not dead, and does not only count.
func (t *Table) Live(num uint32) bool { return num > 0 && num <= t.docs && !t.tombstones.has(num) }

func (t *Table) writable() error {
	switch {
	case t.db == nil:
		return errClosed
	case t.opt.ReadOnly:
		return errReadOnly
	case t.unsure:
		return errUnsure
	}
	return nil
}

// watchTombstones makes the memory tables count live documents only.
func (t *Table) watchTombstones() {
	if t.tombstones.any() {
		g := &t.tombstones
		for i, spare := range []func([]uint32, uint32) int{ofKeys: g.spare, ofIDs: g.spareID} {
			t.spaces[i].mem.Gone, t.spaces[i].mem.Spare = g.goneBefore, spare
		}
	}
}

// SaveForgotten makes Forget and EndBatch durable in one transaction. The table's generation stays,
// because a filter derived from it still holds all keys it must. Documents without a checkpoint are
// an error. After an error it can be retried, with the exceptions of Checkpoint.
func (t *Table) SaveForgotten() error {
	return t.commit("forgetting documents", func() error {
		if t.docs != t.head.docs {
			return errors.New("some documents are not in a checkpoint yet")
		}
		return t.update(func(c *change) {
			t.writeTaken(c)
			t.putHeader(c, nil)
		})
	})
}

// writeTaken stores the documents taken back or only counted, and the batches.
func (t *Table) writeTaken(c *change) {
	g := &t.tombstones
	fresh := g.unsaved()
	deadList.write(c, fresh)
	countedList.write(c, g.marked)
	t.batches.write(c)
	c.tx.OnCommit(func() {
		g.saved(fresh)
		g.marked = nil
	})
}
