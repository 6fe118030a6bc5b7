package sorted

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"
)

// Entries are pairs of a key and a document, in two slices of equal length.
type Entries struct {
	Keys []uint64
	Docs []uint32
}

// Reset removes all entries and keeps the memory.
func (e *Entries) Reset() { e.cut(0) }

// Groups iterates over the keys, in order, and the documents of each. The caller may overwrite the
// documents before those yielded.
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

// extend appends n entries and returns them.
func (e *Entries) extend(n int) ([]uint64, []uint32) {
	at := len(e.Keys)
	e.Keys, e.Docs = slices.Grow(e.Keys, n)[:at+n], slices.Grow(e.Docs, n)[:at+n]
	return e.Keys[at:], e.Docs[at:]
}

func (e *Entries) cut(n int) { e.Keys, e.Docs = e.Keys[:n], e.Docs[:n] }

// Keep drops the entries from position at on that ok rejects.
func (e *Entries) Keep(at int, ok func(key uint64, doc uint32) bool) {
	n := at
	for i := at; i < len(e.Keys); i++ {
		if ok(e.Keys[i], e.Docs[i]) {
			e.Keys[n], e.Docs[n] = e.Keys[i], e.Docs[i]
			n++
		}
	}
	e.cut(n)
}

// A Builder sorts and packs the entries of one bin. It is reusable.
type Builder struct {
	In    Entries // of the bin, in any order
	Limit int     // documents kept for a key
	// Keep, if not nil, replaces Limit: it selects documents of a key, ascending, in place.
	Keep func(docs []uint32) []uint32

	sorted Entries
	starts []uint32 // by bucket
}

// Build packs the entries in b.In as bin number bin of the run. It returns dst with the bin
// appended, and the number of entries kept.
func (b *Builder) Build(dst []byte, r *Run, bin uint64) ([]byte, int) {
	sorted := b.Sort(&r.Shape)
	return Pack(dst, r, bin, sorted), len(sorted.Keys)
}

// Sort returns the entries in b.In, in order. They must belong to one bin of this shape. Sort keeps
// the first Limit documents of each key, or those of Keep. The result is valid until the next call.
func (b *Builder) Sort(s *Shape) *Entries {
	repeats := b.sortKeys(s)
	if b.Keep != nil {
		b.keep()
	} else if repeats >= b.Limit { // seldom
		b.trim()
	}
	return &b.sorted
}

// trim is keep for the first Limit documents. It saves a tenth of the time of a bin.
func (b *Builder) trim() {
	keys, docs := b.sorted.Keys, b.sorted.Docs
	n := min(b.Limit, len(keys))
	for n < len(keys) && keys[n] != keys[n-b.Limit] {
		n++ // nearly always to the end
	}
	for i := n; i < len(keys); i++ {
		if keys[i] != keys[n-b.Limit] {
			keys[n], docs[n] = keys[i], docs[i]
			n++
		}
	}
	b.sorted.cut(n)
}

func (b *Builder) keep() {
	keys, docs := b.sorted.Keys, b.sorted.Docs
	n := 0
	for key, of := range b.sorted.Groups() {
		// Writing never overtakes reading.
		for _, doc := range b.Keep(of) {
			keys[n], docs[n] = key, doc
			n++
		}
	}
	b.sorted.cut(n)
}

// sortKeys sorts the entries. Counting by bucket leaves about one of the uniform keys in each, and
// an insertion sort moves few. It takes 4 to 5 ns an entry for any number of sources. A merge of
// sorted streams would mispredict every second branch. It returns how many entries repeat a key.
func (b *Builder) sortKeys(s *Shape) (repeats int) {
	shift, mask := s.lowBits&63, uint64(1)<<(s.subBits+s.blockBits)-1
	b.starts = slices.Grow(b.starts[:0], int(mask)+1)[:mask+1]
	starts, in := b.starts, b.In // the loops need not read them again
	clear(starts)
	for _, k := range in.Keys {
		starts[k>>shift&mask]++
	}
	sum := uint32(0)
	for of := starts; len(of) > 0; of = of[4:] { // one by one, each sum waits for the last
		a, b, c, d := of[0], of[1], of[2], of[3]
		of[0], of[1], of[2], of[3] = sum, sum+a, sum+a+b, sum+a+b+c
		sum += (a + b) + (c + d)
	}
	b.sorted.Reset()
	keys, docs := b.sorted.extend(len(in.Keys))
	docs, inDocs := docs[:len(keys)], in.Docs[:len(in.Keys)] // fewer checks of bounds
	for i, k := range in.Keys {
		p := &starts[k>>shift&mask]
		at := *p
		*p = at + 1
		keys[at], docs[at] = k, inDocs[i]
	}
	return insertionSort(keys, docs)
}

// insertionSort returns how many entries repeat the key of the one before.
func insertionSort(keys []uint64, docs []uint32) (repeats int) {
	for i := 1; i < len(keys); i++ {
		k := keys[i]
		if keys[i-1] < k {
			continue // nearly always
		}
		d, j := docs[i], i
		for ; j > 0 && (keys[j-1] > k || keys[j-1] == k && docs[j-1] > d); j-- {
			keys[j], docs[j] = keys[j-1], docs[j-1]
		}
		keys[j], docs[j] = k, d
		if j > 0 && keys[j-1] == k || j < i && keys[j+1] == k {
			repeats++
		}
	}
	return repeats
}

// Pack appends the sorted entries to before as bin number bin of the run.
func Pack(before []byte, r *Run, bin uint64, e *Entries) []byte {
	s, keys, docs := &r.Shape, e.Keys, e.Docs
	size, place := s.Size(len(keys)), binSeed(r.id, bin)
	all := slices.Grow(before, size)[:len(before)+size]
	dst := all[len(before):]
	clear(dst)
	at := uint32(0)
	for i := range s.subs() {
		from := s.offset(i, at)
		at += uint32(packBlock(dst[from:], s, i, keys[at:], docs[at:], r.first))
		binary.LittleEndian.PutUint32(dst[8+4*(i+1):], at)
		block := dst[from:s.offset(i+1, at)]
		sum := xxh3.HashSeed(block[blockCheck:], blockSeed(place, i))
		binary.LittleEndian.PutUint32(block, uint32(sum))
	}
	sum := xxh3.HashSeed(dst[8:s.head()], place)
	binary.LittleEndian.PutUint64(dst, sum)
	return all
}

// packBlock packs those of the sorted entries that belong to sub-block number sub, all of which
// belong to it or to later ones. It returns their number.
func packBlock(dst []byte, s *Shape, sub int, keys []uint64, docs []uint32, first uint32) (n int) {
	low, inBin, before := s.lowBits&63, uint64(s.buckets<<s.subBits-1), uint64(sub*s.buckets)
	word, ones := 0, uint64(0)
	for _, k := range keys {
		bucket := k>>low&inBin - before
		if bucket >= uint64(s.buckets) {
			break
		}
		p := n + int(bucket)
		if p>>6 != word {
			binary.LittleEndian.PutUint64(dst[blockCheck+8*word:], ones)
			word, ones = p>>6, 0
		}
		ones |= 1 << (p & 63)
		n++
	}
	binary.LittleEndian.PutUint64(dst[blockCheck+8*word:], ones)
	keys, docs = keys[:n], docs[:n]
	at := 8*blockCheck + s.buckets + len(keys)
	w := bitWriter{pos: at >> 3, n: uint(at & 7)}
	w.acc = uint64(dst[w.pos]) & (1<<w.n - 1)
	w = w.putKeys(dst, keys, s.lowBits).putDocs(dst, docs, first, s.docBits)
	binary.LittleEndian.PutUint64(dst[w.pos:], w.acc)
	return n
}
