package vector

import (
	"encoding/binary"
	"math/bits"
)

// The constants of HashWord: digits of the golden ratio and of pi.
const (
	hashFirst = 0x9e3779b97f4a7c15
	hashLast  = 0x243f6a8885a308d3
)

// HashWord returns the hash of a word of n bytes. first and last hold its first and last eight
// bytes, little-endian, with zeros appended if n < 8. See canon.HashUnit.
func HashWord(first, last uint64, n int) uint64 {
	hi, lo := bits.Mul64(first^hashFirst, bits.RotateLeft64(last, 32)^hashLast^uint64(n))
	return hi ^ lo
}

// Block is the number of bytes that this package processes at once.
const Block = 64

// HashWords writes the hashes of the words of text[:size] to dst and returns their number. size
// must be above 0. Words are separated by single spaces. A word whose first byte b has begins[b] ==
// 0 is skipped; for others begins[b] must be 1.
//
// text is ASCII. If CanCopy is true, text may also have Han or other characters of three bytes.
// Each is a word and ends the one before.
//
// text must have Block+8 readable bytes after size, and dst room for size/2+2 hashes.
func HashWords(dst []uint64, text []byte, size int, begins *[256]uint8) int {
	_ = text[size+Block+7]
	_ = dst[size/2+1]
	if hasWords {
		return hashWordsAVX2(&dst[0], &text[0], size, begins)
	}
	return hashWordsPlain(dst, text, size, begins)
}

func hashWordsPlain(dst []uint64, text []byte, size int, begins *[256]uint8) (at int) {
	start := 0
	for base := 0; base <= size; base += Block {
		// The end counts as a space, also at the end of a block.
		ends, _ := marksIn((*[Block]byte)(text[base:]), min(size-base, Block), ' ')
		if size-base < Block {
			ends |= 1 << (size - base)
		}
		for ; ends != 0; ends &= ends - 1 {
			end := base + bits.TrailingZeros64(ends)
			n := end - start
			first := binary.LittleEndian.Uint64(text[start:])
			last := binary.LittleEndian.Uint64(text[start+max(n-8, 0):])
			cut := uint(max(64-8*n, 0)) & 63
			dst[at] = HashWord(first<<cut>>cut, last<<cut>>cut, n)
			at += int(begins[byte(first)])
			start = end + 1
		}
	}
	return at
}

// Feeds writes the positions of the line feeds of text to masks. Each mask has a bit for each byte
// of a Block, the lowest first; the last is padded with zeros. Feeds returns the end of the last
// Block with a non-ASCII byte, or 0.
func Feeds(masks []uint64, text []byte) (high int) {
	blocks := 0
	if hasWords && len(text) >= Block {
		blocks = len(text) / Block
		_ = masks[blocks-1]
		high = Block * feedsAVX2(&masks[0], &text[0], blocks)
	}
	if n := feedsIn(masks[blocks:], text[blocks*Block:]); n > 0 {
		high = blocks*Block + n
	}
	return high
}

func feedsIn(masks []uint64, text []byte) (high int) {
	for at := 0; at < len(text); at += Block {
		var block [Block]byte
		n := copy(block[:], text[at:])
		mask, beyond := marksIn(&block, n, '\n')
		if masks[at/Block] = mask; beyond != 0 {
			high = at + n
		}
	}
	return high
}

// marksIn marks the bytes of block[:n] equal to b, one bit each. beyond is not 0 if one of them, or
// of the next few, is not ASCII.
func marksIn(block *[Block]byte, n int, b byte) (marks, beyond uint64) {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
		// gather is a multiplier that moves the lowest bit of each byte into the highest byte.
		gather = 0x0102040810204080
	)
	for i := 0; i < n; i += 8 {
		x := binary.LittleEndian.Uint64(block[i&(Block-8):])
		beyond |= x & highs
		y := x ^ uint64(b)*ones
		same := ^((y&^highs + 0x7F*ones) | y) & highs
		marks |= (same >> 7 * gather >> 56) << (i & (Block - 8))
	}
	return marks & (^uint64(0) >> ((Block - n) & 63)), beyond
}
