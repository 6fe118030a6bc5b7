package sorted

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/firstseen/firstseen/internal/base/hugemem"
)

// A Run caches the places and directories of a run's bins, and records the verified checksums. Its
// owner has the bins and passes each when needed. The directory of a run of 500 million entries
// takes 10 MB here. Read from the file, it would cost every look-up one more TLB miss.
//
// Look-ups may run concurrently. Forget and Trust need exclusive access.
type Run struct {
	Shape
	id    uint32
	first uint32 // document number stored as 0

	learn sync.Mutex // held by remember
	now   uint32     // the state of bins whose places are known; Forget changes it
	bins  []cached
}

// cached is a Run's knowledge of a bin. A look-up reads two adjacent cache lines of it.
type cached struct {
	place  unsafe.Pointer // of the bin in the owner's memory, which is none of the Go heap
	blocks uint64         // bit i: the checksum of sub-block i is verified
	state  uint32         // unverified, verified or, with place and counts, Run.now
	counts [1<<maxSubBits + 1]uint16
}

// States of a cached bin before its place is known.
const (
	unverified = iota // also its directory
	verified
	placed // the first value of Run.now
)

// BinMemory is the memory of a Run for each bin, in bytes.
const BinMemory = unsafe.Sizeof(cached{})

// leastOutside is the size from which the cache of a run lies outside the Go heap. The heap's limit
// does not allow for memory that grows with the table: 170 MB for a run of a million bins.
const leastOutside = 64 << 10

// NewRun returns a run with an empty cache. id is part of its checksum seeds; first is the number
// of its first document. The system allocates the cache as it is used.
func NewRun(s Shape, id, first uint32) *Run {
	r := &Run{Shape: s, id: id, first: first, now: placed}
	n := s.Bins()
	if size := n * uint64(BinMemory); size >= leastOutside {
		if mem, err := hugemem.Alloc(int(size)); err == nil {
			r.bins = unsafe.Slice((*cached)(unsafe.Pointer(unsafe.SliceData(mem))), n)
			runtime.AddCleanup(r, func(mem []byte) { _ = hugemem.Free(mem) }, mem) // no caller for errors
			return r
		}
	}
	r.bins = make([]cached, n)
	return r
}

// Forget drops the places of bins, but not the verified checksums.
func (r *Run) Forget() { r.now++ }

// Trust marks the checksums of a bin as verified, for a bin just written.
func (r *Run) Trust(bin uint64) {
	r.bins[bin].state = verified
	r.bins[bin].blocks = math.MaxUint64
}

// known returns a bin's entry in the cache if its place is known.
func (r *Run) known(bin uint64) (c *cached, ok bool) {
	c = &r.bins[bin]
	return c, atomic.LoadUint32(&c.state) == r.now
}

// Bin returns a bin if its place is known.
func (r *Run) Bin(bin uint64) (v Bin, ok bool) {
	c, ok := r.known(bin)
	if !ok {
		return r.at(bin, nil), false
	}
	return r.at(bin, unsafe.Slice((*byte)(c.place), r.Size(int(c.counts[r.subs()])))), true
}

func (r *Run) at(bin uint64, value []byte) Bin {
	return Bin{Shape: &r.Shape, b: value, num: bin, place: binSeed(r.id, bin), first: r.first}
}

// Open returns the bin in value and verifies its directory the first time. lasts means that value
// stays in place until Forget; Open then remembers it.
func (r *Run) Open(bin uint64, value []byte, lasts bool) (Bin, error) {
	v := r.at(bin, value)
	if state := &r.bins[bin].state; atomic.LoadUint32(state) == unverified {
		if err := v.verifyDirectory(); err != nil {
			return v, err
		}
		atomic.CompareAndSwapUint32(state, unverified, verified)
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
	c, ok := r.known(bin)
	if ok {
		return // by another goroutine
	}
	for i := range n + 1 {
		c.counts[i] = uint16(v.count(i))
	}
	c.place = unsafe.Pointer(unsafe.SliceData(v.b))
	atomic.StoreUint32(&c.state, r.now)
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
	if c := &r.bins[v.num]; atomic.LoadUint64(&c.blocks)>>sub&1 == 0 {
		if err := v.verifyBlock(sub); err != nil {
			return dst, err
		}
		atomic.OrUint64(&c.blocks, 1<<sub)
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
	sub := r.subOf(key)
	v, ok := r.known(r.BinOf(key))
	if !ok || atomic.LoadUint64(&v.blocks)>>sub&1 == 0 {
		return Place{}
	}
	c, next := uint32(v.counts[sub]), uint32(v.counts[sub+1])
	from, n := r.offset(sub, c), int(next-c)
	b := unsafe.Slice((*byte)(unsafe.Add(v.place, from)), r.offset(sub+1, next)+8-from)
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
