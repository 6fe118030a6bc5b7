package sorted

import (
	"math"
	"sync"
)

// A Run caches the places and directories of a run's bins, and records the verified checksums. Its
// owner has the bins and passes each when needed. The directory of a run of 500 million entries
// takes 8 MB here. Read from the file, it would cost every look-up one more TLB miss.
//
// Look-ups may run concurrently. Forget and Trust need exclusive access.
type Run struct {
	Shape
	id    uint32
	first uint32 // document number stored as 0

	learn  sync.Mutex // held by remember
	known  bitset     // bins remembered in bins and counts
	bins   [][]byte
	counts []uint16 // subs+1 for each bin
	dirOK  bitset
	blocks bitset
}

// NewRun returns a run with an empty cache. id is part of its checksum seeds; first is the number
// of its first document.
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

// Trust marks the checksums of a bin as verified, for a bin just written.
func (r *Run) Trust(bin uint64) {
	r.dirOK.set(bin)
	for sub := range uint64(r.subs()) {
		r.blocks.set(bin<<r.subBits + sub)
	}
}

// Bin returns a bin if its place is known.
func (r *Run) Bin(bin uint64) (v Bin, ok bool) {
	if !r.known.has(bin) {
		return r.at(bin, nil), false
	}
	return r.at(bin, r.bins[bin]), true
}

func (r *Run) at(bin uint64, value []byte) Bin {
	return Bin{Shape: &r.Shape, b: value, num: bin, place: binSeed(r.id, bin), first: r.first}
}

// Open returns the bin in value and verifies its directory the first time. lasts means that value
// stays in place until Forget; Open then remembers it.
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

// remember keeps the place and directory of a verified bin, unless the bin is too large for 16-bit
// counts. Only keys that are not uniform make such bins.
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

// Find appends the documents of key, which must belong to v, to dst, up to its capacity. The first
// use of a sub-block verifies it.
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

// A Place is a sub-block of n entries that may hold a key, probably at offsets upper and low.
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

// Locate returns the place of a key. It estimates the offsets, because keys are uniform.
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
