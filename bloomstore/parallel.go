package bloomstore

import (
	"runtime"
	"sync"
)

// parallelKeys is the least number of keys worth a goroutine.
const parallelKeys = 1024

// AddParallel is Add on all processors, for rebuilding a filter. Each goroutine owns a part of
// the bits and computes the positions of all keys: that costs less than atomic writes. Pass
// thousands of keys at a time.
func (f *Filter) AddParallel(keys []uint64) {
	f.addSplit(keys, min(runtime.GOMAXPROCS(0), len(keys)/parallelKeys))
}

func (f *Filter) addSplit(keys []uint64, workers int) {
	if workers < 2 {
		f.Add(keys)
		return
	}
	f.items += uint64(len(keys))
	// Borders are between words, so that no word has two owners.
	border := func(i int) uint64 { return f.shape.words() * uint64(i) / uint64(workers) * 64 }
	fresh := make([]uint64, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { fresh[i] = f.addRange(keys, border(i), border(i+1)) })
	}
	wg.Wait()
	for _, n := range fresh {
		f.ones += n
	}
}

// addRange sets the bits of keys in [from, to), and returns how many were zero.
func (f *Filter) addRange(keys []uint64, from, to uint64) (fresh uint64) {
	var scratch [blockPositions]uint64
	size := blockPositions / f.shape.Hashes
	for len(keys) > 0 {
		block := keys[:min(size, len(keys))]
		keys = keys[len(block):]
		fresh += set(f.words, within(f.locate(scratch[:], block), from, to))
	}
	return fresh
}

// within keeps the positions in [from, to), in place.
func within(pos []uint64, from, to uint64) []uint64 {
	n := 0
	for _, p := range pos {
		pos[n] = p
		// A sum, not a branch: the branch would be random.
		one := 0
		if p-from < to-from {
			one = 1
		}
		n += one
	}
	return pos[:n]
}
