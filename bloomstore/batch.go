package bloomstore

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// blockPositions is the number of positions in one block of work: 128 keys of 8 probes, more than a
// document. Their 64 KiB of cache lines stay in the L2 cache between loading and writing. Explicit
// prefetching is no faster than load.
const blockPositions = 1024

// Add adds keys to the filter. It is safe while a Snapshot is being written.
func (f *Filter) Add(keys []uint64) {
	f.adding.Lock()
	defer f.adding.Unlock()
	f.items += uint64(len(keys))
	size := blockPositions / f.shape.Hashes
	for len(keys) > 0 {
		block := keys[:min(size, len(keys))]
		f.ones += set(f.words, f.locate(f.scratch[:], block))
		keys = keys[len(block):]
	}
	f.gather(f.ones)
}

// TestAndAdd is Test, then Add, while the words are in the cache.
func (f *Filter) TestAndAdd(keys []uint64, seen []bool) {
	f.adding.Lock()
	defer f.adding.Unlock()
	f.items += uint64(len(keys))
	size := blockPositions / f.shape.Hashes
	for len(keys) > 0 {
		block := keys[:min(size, len(keys))]
		pos := f.locate(f.scratch[:], block)
		f.testBits(pos, seen[:len(block)])
		f.ones += set(f.words, pos)
		keys, seen = keys[len(block):], seen[len(block):]
	}
	f.gather(f.ones)
}

// AddShared is Add for concurrent use, but not during Test. It sets missing bits by an atomic OR.
// If two goroutines set the same bit, only one counts it.
func (f *Filter) AddShared(keys []uint64) {
	var scratch [blockPositions / 4]uint64
	size := len(scratch) / f.shape.Hashes
	fresh, items := uint64(0), uint64(len(keys))
	for len(keys) > 0 {
		block := keys[:min(size, len(keys))]
		fresh += setShared(f.words, missing(f.words, f.locate(scratch[:], block)))
		keys = keys[len(block):]
	}
	atomic.AddUint64(&f.items, items)
	f.gather(atomic.AddUint64(&f.ones, fresh))
}

// missing filters pos in place, keeping the positions of zero bits.
func missing(words, pos []uint64) []uint64 {
	load(words, pos)
	n := uint64(0)
	for _, p := range pos {
		pos[n] = p
		n += ^atomic.LoadUint64(&words[p/64]) >> (p % 64) & 1
	}
	return pos[:n]
}

func setShared(words, pos []uint64) (fresh uint64) {
	for _, p := range pos {
		old := atomic.OrUint64(&words[p/64], 1<<(p%64))
		fresh += ^old >> (p % 64) & 1
	}
	return fresh
}

// Test sets seen[i] to whether keys[i] is in the filter: true for every added key, and for a share
// Rate() of the others. seen must be at least as long as keys.
//
// Test reads all bits of a key even if the first is zero. So a following Add of the same keys finds
// them in the cache. For keys not added right afterwards, use TestLazily.
func (f *Filter) Test(keys []uint64, seen []bool) {
	var scratch [blockPositions / 4]uint64 // not f.scratch, so tests may run concurrently
	size := len(scratch) / f.shape.Hashes
	seen = seen[:len(keys)]
	for len(keys) > 0 {
		block := keys[:min(size, len(keys))]
		f.testBits(f.locate(scratch[:], block), seen[:len(block)])
		keys, seen = keys[len(block):], seen[len(block):]
	}
}

// firstProbes is the number of bits that TestLazily reads first for each key. With a quarter of the
// bits set, 6% of keys never added have both set; at design load 15%.
const firstProbes = 2

// lazyKeys is the number of keys per step of TestLazily, one bit of a word each.
const lazyKeys = 64

// TestLazily is Test for keys not added right afterwards. It reads two bits of a key first, and the
// others only if both are set. Most keys are new, so at 1 GiB this takes 49 ns a key, not 82.
func (f *Filter) TestLazily(keys []uint64, seen []bool) {
	if f.shape.Hashes <= firstProbes {
		f.Test(keys, seen)
		return
	}
	var left [lazyKeys]uint64
	var at [lazyKeys]uint8
	var all [lazyKeys]bool
	seen = seen[:len(keys)]
	clear(seen)
	for len(keys) > 0 {
		block := keys[:min(lazyKeys, len(keys))]
		n := f.testFirst(block, &left, &at)
		f.Test(left[:n], all[:])
		for i, s := range all[:n] {
			seen[at[i]] = s
		}
		keys, seen = keys[len(block):], seen[len(block):]
	}
}

// testFirst writes to left the n keys with both first bits set, and to at their indexes.
func (f *Filter) testFirst(keys []uint64, left *[lazyKeys]uint64, at *[lazyKeys]uint8) (n int) {
	var scratch [firstProbes * lazyKeys]uint64
	pos := scratch[:firstProbes*len(keys)]
	for i, key := range keys { // like positions
		h0, h1, _, h3 := hashKey(key)
		pos[2*i], pos[2*i+1] = h0, h1+h3
	}
	f.modulus.reduce(pos)
	var both uint64 // a bit for each key, because a store in this loop would wait for its load
	for i := range keys {
		p, q := pos[2*i], pos[2*i+1]
		both |= f.words[p/64] >> (p % 64) & (f.words[q/64] >> (q % 64)) & 1 << i
	}
	for ; both != 0; both &= both - 1 {
		i := bits.TrailingZeros64(both)
		left[n], at[n] = keys[i], uint8(i)
		n++
	}
	return n
}

// locate writes the positions of keys, k for each, to dst and returns the used part.
func (f *Filter) locate(dst, keys []uint64) []uint64 {
	k := f.shape.Hashes
	dst = dst[:len(keys)*k]
	positions(dst, keys, k)
	f.modulus.reduce(dst)
	return dst
}

// load only reads the words at pos, so that as many cache misses overlap as the CPU allows. A loop
// that tests or stores between loads takes twice as long, because each step waits for its load. The
// result is meaningless. load may read a word while another goroutine sets it.
//
//go:noinline
//go:norace
func load(words, pos []uint64) (sum uint64) {
	for _, p := range pos {
		sum += words[p/64]
	}
	return sum
}

func (f *Filter) testBits(pos []uint64, seen []bool) {
	k := f.shape.Hashes
	words := f.words
	load(words, pos)
	for i := range seen {
		all := uint64(1)
		for _, p := range pos[i*k : (i+1)*k] {
			all &= words[p/64] >> (p % 64)
		}
		seen[i] = all != 0
	}
}

// set sets the bits at pos and returns the number of bits that were zero.
func set(words, pos []uint64) (fresh uint64) {
	for _, p := range pos {
		w := words[p/64]
		fresh += ^w >> (p % 64) & 1
		words[p/64] = w | 1<<(p%64)
	}
	return fresh
}

// parallelKeys is the minimum number of keys worth a goroutine.
const parallelKeys = 1024

// AddParallel is Add on all CPUs, for rebuilding a filter. Pass thousands of keys at a time.
func (f *Filter) AddParallel(keys []uint64) {
	f.Expect(len(keys))
	var wg sync.WaitGroup
	for part := range slices.Chunk(keys, max(parallelKeys, len(keys)/runtime.GOMAXPROCS(0)+1)) {
		wg.Go(func() { f.AddShared(part) })
	}
	wg.Wait()
}
