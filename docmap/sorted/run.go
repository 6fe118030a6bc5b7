package sorted

import (
	"math"
	"sync"
)

// A Run holds the known facts about a run's bins; its owner has the bins and passes each when
// needed. These facts are the places of bins with their directories, and the verified checksums.
// The directory of a run of 500 million entries takes 8 MB here. Read from the file, it would
// cost every look-up one more page missing from the TLB.
//
// Any number of goroutines may look up at once; Forget and Trust need the run for themselves.
type Run struct {
	Shape
	id    uint32
	first uint32 // document number that is stored as 0

	learn  sync.Mutex // places of bins
	known  bitset     // bins whose bins and counts are set
	bins   [][]byte
	counts []uint16 // subs+1 for each bin
	dirOK  bitset
	blocks bitset
}

// NewRun returns a run of unknown bins. id is part of the seeds of its checksums, first the
// number of its first document.
func NewRun(s Shape, id, first uint32) *Run {
	n := s.Bins()
	return &Run{
		Shape: s, id: id, first: first,
		known:  newBitset(n),
		bins:   make([][]byte, n),
		counts: make([]uint16, n*uint64(s.subs()+1)),
		dirOK:  newBitset(n),
		blocks: newBitset(n << s.subBits),
	}
}

// Forget drops the places of bins, but not the verified checksums.
func (r *Run) Forget() {
	clear(r.known)
	clear(r.bins)
}

// Trust marks the checksums of a bin as verified, because the bin was just written.
func (r *Run) Trust(bin uint64) {
	r.dirOK.set(bin)
	for sub := range uint64(r.subs()) {
		r.blocks.set(bin<<r.subBits + sub)
	}
}

// Bin returns a bin whose place is known.
func (r *Run) Bin(bin uint64) (v Bin, ok bool) {
	if !r.known.has(bin) {
		return r.at(bin, nil), false
	}
	return r.at(bin, r.bins[bin]), true
}

func (r *Run) at(bin uint64, value []byte) Bin {
	return Bin{Shape: &r.Shape, b: value, num: bin, place: binSeed(r.id, bin), first: r.first}
}

// Open returns the bin stored in value and verifies its directory the first time. If lasts, value
// stays in place until Forget, and is remembered.
func (r *Run) Open(bin uint64, value []byte, lasts bool) (Bin, error) {
	v := r.at(bin, value)
	if !r.dirOK.has(bin) {
		if err := v.verifyDirectory(); err != nil {
			return v, err
		}
		r.dirOK.set(bin)
	}
	if lasts {
		r.remember(bin, &v)
	}
	return v, nil
}

// remember keeps the place and the directory of a verified bin if it can: keys that are not
// uniform may make bins too large for the short directory.
func (r *Run) remember(bin uint64, v *Bin) {
	n := v.subs()
	if v.count(n) > math.MaxUint16 {
		return
	}
	r.learn.Lock()
	defer r.learn.Unlock()
	if r.known.has(bin) {
		return // by another goroutine
	}
	counts := r.counts[bin*uint64(n+1):][:n+1]
	for i := range counts {
		counts[i] = uint16(v.count(i))
	}
	r.bins[bin] = v.b
	r.known.set(bin)
}

// Read appends all entries of the bin stored in value and verifies every checksum again.
func (r *Run) Read(e *Entries, bin uint64, value []byte) error {
	v := r.at(bin, value)
	return v.AppendRange(e, 0, math.MaxUint64)
}

// Find appends the documents of key, which belongs to v, to dst, up to its capacity. It verifies
// the sub-block the first time.
func (r *Run) Find(dst []uint32, v *Bin, key uint64) ([]uint32, error) {
	sub := r.subOf(key)
	if at := v.num<<r.subBits + uint64(sub); !r.blocks.has(at) {
		if err := v.verifyBlock(sub); err != nil {
			return dst, err
		}
		r.blocks.set(at)
	}
	b, n := v.block(sub)
	return r.Search(dst, &Place{b: b, n: n}, key), nil
}

// A Place is a sub-block of n entries that may have a key, probably at upper and low.
type Place struct {
	b     []byte
	n     int
	upper int
	low   int
}

// Known reports whether the place is known and verified. If not, use [Run.Find].
func (p *Place) Known() bool { return p.b != nil }

// Touch loads the two cache lines that a search will read.
func (p *Place) Touch() byte {
	if p.low < len(p.b) {
		return p.b[p.upper] + p.b[p.low]
	}
	return 0
}

// Locate returns the place of a key, from the uniform distribution of keys.
func (r *Run) Locate(key uint64) Place {
	bin, sub := r.BinOf(key), r.subOf(key)
	if !r.known.has(bin) || !r.blocks.has(bin<<r.subBits+uint64(sub)) {
		return Place{}
	}
	value := r.bins[bin]
	at := bin*uint64(r.subs()+1) + uint64(sub)
	c, next := uint32(r.counts[at]), uint32(r.counts[at+1])
	b, n := value[r.offset(sub, c):r.offset(sub+1, next)+8], int(next-c)
	bucket := int(key>>r.lowBits) & (r.buckets - 1)
	entry := bucket * n >> r.blockBits
	return Place{
		b: b, n: n,
		upper: blockCheck + (bucket+entry)/8,
		low:   blockCheck + (r.buckets+n+entry*int(r.lowBits))/8,
	}
}

// Search appends the documents of key to dst, up to its capacity, from its place.
func (r *Run) Search(dst []uint32, p *Place, key uint64) []uint32 {
	b, n := p.b, p.n
	at, m := findBucket(b, int(key>>r.lowBits)&(r.buckets-1))
	low, doc := uint64(r.lowBits), uint64(r.docBits)
	start := uint64(8*blockCheck + r.buckets + n)
	mask := uint64(1)<<low - 1
	want := key & mask
	for j := uint64(at); j < uint64(at+m) && len(dst) < cap(dst); j++ {
		if got := load(b, start+j*low, mask); got != want {
			continue
		}
		num := load(b, start+uint64(n)*low+j*doc, uint64(1)<<doc-1)
		dst = append(dst, r.first+uint32(num))
	}
	return dst
}
