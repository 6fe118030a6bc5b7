package canon

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// The constants of HashUnit: digits of pi and of the golden ratio, both odd.
const (
	hashSeed   = 0x243f6a8885a308d3
	hashFactor = 0x9e3779b97f4a7c15
)

// HashUnit is a 64-bit hash of a word: of its bytes, taken eight at a time as
// little-endian numbers, the last filled up with zeros, each is added by XOR to
// what came before, multiplied, and both halves of the product joined by XOR
// (folded multiplication, as in wyhash). It has no secret: words that
// collide can be constructed.
func HashUnit(unit []byte) (h uint64) {
	for len(unit) >= 8 {
		h = fold(h ^ binary.LittleEndian.Uint64(unit))
		if unit = unit[8:]; len(unit) == 0 {
			return h
		}
	}
	var last [8]byte
	copy(last[:], unit)
	return fold(h ^ binary.LittleEndian.Uint64(last[:]))
}

func fold(x uint64) uint64 {
	hi, lo := bits.Mul64(x^hashSeed, hashFactor)
	return hi ^ lo
}

// HashUnits brings HashUnit of the words of a Text, as NextUnit tells them, into
// dst until it is nearly full or the text is at its end. It returns how many there
// are and the rest of the text, nil at the end. dst must have room for 64.
//
// Every text goes through here once more, so there are two gears: words in ASCII
// and Han are found and hashed many bytes at a time, all else by NextUnit.
func (s *Scanner) HashUnits(dst []uint64, text []byte) (n int, rest []byte) {
	i := 0
	for n+hashRoom <= len(dst) {
		before := i
		n, i = s.hashASCII(dst, text, n, i)
		n, i = hashHan(dst, text, n, i)
		if i > before && i+hashBlock <= len(text) {
			continue
		}
		unit, left := s.NextUnit(text[i:])
		if unit == nil {
			return n, nil
		}
		dst[n] = HashUnit(unit)
		n++
		i = len(text) - len(left)
	}
	return n, text[i:]
}

const (
	// hashBlock is how many bytes hashASCII looks at together.
	hashBlock = 64
	// hashRoom is the most words of so many bytes, of which a space follows each,
	// and two more.
	hashRoom = hashBlock/2 + 2
)

// hashASCII hashes words at text[i:], in blocks that are all ASCII. It ends before a
// word that is not known to end with a space.
func (s *Scanner) hashASCII(dst []uint64, text []byte, n, i int) (int, int) {
	for base := i; n+hashRoom <= len(dst) && base+hashBlock+16 <= len(text); base += hashBlock {
		spaces, other := spacesIn((*[hashBlock]byte)(text[base:]))
		if other {
			break
		}
		for ; spaces != 0; spaces &= spaces - 1 {
			end := base + bits.TrailingZeros64(spaces)
			word := (*[16]byte)(text[i:])
			dst[n] = hashShort(word, end-i)
			if first := &s.tables.ascii[word[0]]; end-i > 16 || int(first.symbol) > 0 && end-i > 1 {
				if !s.isUnit(text[i:end]) {
					n--
				} else {
					dst[n] = HashUnit(text[i:end])
				}
				n++
			} else if end > i {
				n += 1 - int(first.symbol)
			}
			i = end + 1
		}
	}
	return n, i
}

// isUnit reports whether a canonical form without spaces is a word, and not a
// symbol.
func (s *Scanner) isUnit(form []byte) bool {
	_, isWord := s.tables.unit(form)
	return isWord
}

// hashShort is HashUnit of the first n bytes of word, without a branch.
func hashShort(word *[16]byte, n int) uint64 {
	a, b := binary.LittleEndian.Uint64(word[:]), binary.LittleEndian.Uint64(word[8:])
	cut := uint(max(64-8*n, 0)) & 63
	short := fold(a << cut >> cut)
	cut = uint(128-8*n) & 63
	long := fold(fold(a) ^ b<<cut>>cut)
	if n > 8 {
		return long
	}
	return short
}

// spacesIn returns where spaces are, a bit for each byte, and whether anything but
// ASCII is.
func spacesIn(block *[hashBlock]byte) (spaces uint64, other bool) {
	var seen uint64
	for i := 0; i < hashBlock; i += 8 {
		x := binary.LittleEndian.Uint64(block[i:])
		seen |= x
		blank := ^((x ^ ' '*ones) + 0x7F*ones | x) & highs // exact where all is ASCII
		spaces |= (blank >> 7 * gatherBits >> 56) << i
	}
	return spaces, seen&highs != 0
}

// gatherBits brings the lowest bit of each byte, by a multiplication, into the
// highest byte.
const gatherBits = 0x0102040810204080

// hashHan hashes Han characters at text[i:], as far as it can be seen that no mark
// stands upon them.
func hashHan(dst []uint64, text []byte, n, i int) (int, int) {
	from := i
	for n+2 <= len(dst) && i+8 <= len(text) {
		x := binary.LittleEndian.Uint64(text[i:])
		if x&0xC0C0F0_C0C0F0 != 0x8080E0_8080E0 || !inHan(x) || !inHan(x>>24) {
			if isHan(uint32(x)) {
				dst[n] = fold(x & 0xFFFFFF)
				n, i = n+1, i+3
			}
			break
		}
		dst[n], dst[n+1] = fold(x&0xFFFFFF), fold(x>>24&0xFFFFFF)
		n, i = n+2, i+6
	}
	if i > from && (i >= len(text) || text[i] >= utf8.RuneSelf) {
		return n - 1, i - 3 // what follows may be a mark
	}
	return n, i
}
