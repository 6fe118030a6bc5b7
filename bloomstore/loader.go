package bloomstore

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/firstseen/firstseen/internal/hugemem"
)

const (
	// loaderRegions is into how many parts the filter is divided at most: one
	// of a 1 GiB filter is 512 KiB, which fits a core's own cache.
	loaderRegions = 2048
	// loaderDepth is how many positions of a region are set together.
	loaderDepth = 12 << 10
	// loaderMin is the smallest filter, in bits, for which sorting pays.
	loaderMin = 1 << 28
)

// A Loader adds very many keys to a filter, as when it is rebuilt: it sorts the
// positions by region of the filter and sets a region's thousands at a time,
// while they are in the cache, in a goroutine of its own. It takes about 100 MiB
// of memory. Add is bound by eight cache misses a key, which this all but
// avoids; for a few million keys Add is as good.
//
// Until Close has returned the filter must not be used otherwise, and what was
// added may not be in it.
type Loader struct {
	f     *Filter
	shift uint // a region has 2^shift positions
	parts []loaderPart
	free  chan []uint32
	full  chan loaderPart
	done  chan struct{}
	mem   []byte
}

// loaderPart is what waits to be set in one region.
type loaderPart struct {
	region int
	pos    []uint32 // positions, counted from the region's first
}

// NewLoader begins loading. The loader must be closed.
func (f *Filter) NewLoader() (*Loader, error) {
	if f.shape.Bits < loaderMin {
		return &Loader{f: f}, nil
	}
	return newLoader(f, loaderRegions, loaderDepth)
}

func newLoader(f *Filter, regions uint64, depth int) (*Loader, error) {
	shift := max(6, uint(bits.Len64((f.shape.Bits-1)/regions)))
	n := int((f.shape.Bits-1)>>shift) + 1
	spare := n/16 + 2
	mem, err := hugemem.Alloc((n + spare) * depth * 4)
	if err != nil {
		return nil, fmt.Errorf("loading a filter: %w", err)
	}
	l := &Loader{
		f:     f,
		shift: shift,
		parts: make([]loaderPart, n),
		free:  make(chan []uint32, n+spare),
		full:  make(chan loaderPart, n+spare),
		done:  make(chan struct{}),
		mem:   mem,
	}
	all := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(mem))), (n+spare)*depth)
	for i := range l.parts {
		// Regions fill equally fast. Unless the first buffers are of all
		// lengths, all are full at the same time, again and again, and the
		// two goroutines wait for each other by turns.
		first := max(1, depth*(i+1)/n)
		l.parts[i] = loaderPart{region: i, pos: all[i*depth : i*depth : i*depth+first]}
	}
	for i := n; i < n+spare; i++ {
		l.free <- all[i*depth : i*depth : (i+1)*depth]
	}
	go l.run(depth)
	return l, nil
}

// Add adds keys, now or by the time of Close. It does not keep the slice.
func (l *Loader) Add(keys []uint64) {
	f := l.f
	if l.mem == nil {
		f.Add(keys)
		return
	}
	f.items += uint64(len(keys))
	size := blockPositions / f.shape.Hashes
	for len(keys) > 0 {
		block := keys[:min(size, len(keys))]
		l.sort(f.locate(f.scratch[:], block))
		keys = keys[len(block):]
	}
}

func (l *Loader) sort(pos []uint64) {
	mask := uint64(1)<<l.shift - 1
	for _, p := range pos {
		part := &l.parts[p>>l.shift]
		part.pos = append(part.pos, uint32(p&mask))
		if len(part.pos) == cap(part.pos) {
			l.full <- *part
			part.pos = <-l.free
		}
	}
}

// run sets what is full until there is no more.
func (l *Loader) run(depth int) {
	for part := range l.full {
		l.f.setRegion(part, l.shift)
		// A first buffer may be short, but its room is not.
		l.free <- unsafe.Slice(unsafe.SliceData(part.pos), depth)[:0]
	}
	close(l.done)
}

// setRegion makes the bits of one region one, as set does.
func (f *Filter) setRegion(part loaderPart, shift uint) {
	from := uint64(part.region) << shift / 64
	words := f.words[from:min(from+1<<shift/64, uint64(len(f.words)))]
	// Reading the region in order first lets the processor fetch ahead, which
	// took the whole from 113 ns a key to 86 in one thread.
	var seen uint64
	for i := 0; i < len(words); i += 8 {
		seen |= words[i]
	}
	if seen == 0 && len(part.pos) == 0 {
		return
	}
	var fresh uint64
	for _, p := range part.pos {
		w := words[p/64]
		fresh += ^w >> (p % 64) & 1
		words[p/64] = w | 1<<(p%64)
	}
	f.ones += fresh
}

// Close puts in what is left and gives the memory back. A second Close does nothing.
func (l *Loader) Close() error {
	if l.mem == nil {
		return nil
	}
	for _, part := range l.parts {
		l.full <- part
	}
	close(l.full)
	<-l.done
	mem := l.mem
	l.mem, l.parts = nil, nil
	return hugemem.Free(mem)
}
