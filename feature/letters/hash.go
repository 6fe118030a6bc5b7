package letters

import (
	"encoding/binary"
	"math/bits"
)

// The multipliers of the hashes: primes of xxHash.
const (
	mulLow  = 0x9E3779B1
	mulHigh = 0x85EBCA77
	mulMix  = 0xC2B2AE3D
	mulKey  = 0x27D4EB2F
)

const (
	block   = 32 // runs that the vector loops hash at once
	ahead   = 16 // readable bytes that they need behind the last run
	runMask = 1<<(8*Run) - 1
)

// hashRun returns the hash of the Run letters in the low bytes of x. The low four letters and the
// others are multiplied apart, so that eight runs fit into one vector register.
func hashRun(x uint64) uint32 {
	h := uint32(x)*mulLow + uint32(x>>32)*mulHigh
	h ^= h >> 15
	h *= mulMix
	return h ^ h>>16
}

// hashKeyRun returns the rank of the KeyRun letters whose two halves have these hashes.
func hashKeyRun(first, second uint32) uint32 { return first*mulKey + second }

// hashRuns writes to hashes the hash of the run at each of the first n letters. It sets a bit of
// masks, 32 to an element, for each hash of at most limit. hashes and masks have room for n rounded
// up to a multiple of block, and letters has ahead readable bytes behind as many runs. What they get
// behind n is undefined.
func hashRuns(hashes, masks []uint32, letters []byte, n int, limit uint32) {
	blocks := (n + block - 1) / block
	_, _, _ = hashes[blocks*block-1], masks[blocks-1], letters[blocks*block+ahead-1]
	if hasAVX2 {
		hashRunsAVX2(&hashes[0], &masks[0], &letters[0], blocks, limit)
		return
	}
	hashRunsPlain(hashes, masks, letters, blocks, limit)
}

func hashRunsPlain(hashes, masks []uint32, letters []byte, blocks int, limit uint32) {
	for b := range masks[:blocks] {
		text, to := letters[b*block:][:block+8], hashes[b*block:][:block]
		mask := uint32(0)
		for i := range to {
			h := hashRun(binary.LittleEndian.Uint64(text[i:]) & runMask)
			to[i] = h
			_, over := bits.Sub32(limit, h, 0)
			mask |= (1 - over) << i
		}
		masks[b] = mask
	}
}

// markKeyRuns sets a bit of masks for each of the first n hashes that begins a key run with a rank
// of at most limit. hashes has Run more elements than n rounded up to a multiple of block.
func markKeyRuns(masks, hashes []uint32, n int, limit uint32) {
	blocks := (n + block - 1) / block
	_, _ = masks[blocks-1], hashes[blocks*block+Run-1]
	if hasAVX2 {
		markKeyRunsAVX2(&masks[0], &hashes[0], blocks, limit)
		return
	}
	markKeyRunsPlain(masks, hashes, blocks, limit)
}

func markKeyRunsPlain(masks, hashes []uint32, blocks int, limit uint32) {
	for b := range masks[:blocks] {
		first, second := hashes[b*block:][:block], hashes[b*block+Run:][:block]
		mask := uint32(0)
		for i := range first {
			_, over := bits.Sub32(limit, hashKeyRun(first[i], second[i]), 0)
			mask |= (1 - over) << i
		}
		masks[b] = mask
	}
}
