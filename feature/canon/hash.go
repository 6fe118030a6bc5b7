package canon

import (
	"encoding/binary"
	"math/bits"
	"slices"
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

// A span is a stretch of buf: a segment, or several in ASCII, and what is known of it.
type span struct {
	start, end uint32
	kind       spanKind
}

type spanKind uint8

const (
	mixed   spanKind = iota
	triples          // CJK characters of three bytes each
	ascii            // also the symbols between segments
)

// addSpan adds the segment under way, which is whole.
func (s *Scanner) addSpan() {
	p := span{start: uint32(s.seg), end: uint32(s.w)}
	switch {
	case 3*s.cjk == s.w-s.seg:
		p.kind = triples
	case s.wider == 0:
		p.kind = ascii
	}
	if last := len(s.spans) - 1; last >= 0 && p.kind == ascii && s.spans[last].kind == ascii && !s.apart {
		s.spans[last].end = p.end
	} else {
		s.spans = append(s.spans, p)
	}
	s.apart = false
}

// CountUnits makes ready for AppendUnits. It is to be called before a text is begun.
func (s *Scanner) CountUnits() { s.counting = true }

// AppendUnits appends HashUnit of the words of all segments that ended since the last
// call to dst, as NextUnit tells them. It has to be called at every Part and at the
// End, and may be called between. A segment ends with the step after its last piece.
//
// Every text goes through here once more. Nearly all segments are all Han or the like,
// or all ASCII, and it is known which: their words are found many bytes at a time. Call
// it for many segments together: to read bytes back right after they were written,
// in other pieces than they were written in, makes the processor wait.
func (s *Scanner) AppendUnits(dst []uint64) []uint64 {
	for _, p := range s.spans {
		n := int(p.end - p.start)
		switch text := s.buf[p.start:]; p.kind {
		case triples:
			dst = appendTriples(dst, text, n)
		case ascii:
			dst = s.appendASCII(dst, text, n)
		default:
			dst = s.appendMixed(dst, text, n)
		}
	}
	s.spans = s.spans[:0]
	return dst
}

// appendTriples appends the hashes of characters of three bytes, which text[:n] is
// made of.
func appendTriples(dst []uint64, text []byte, n int) []uint64 {
	at := len(dst)
	dst = slices.Grow(dst, n/3)[:at+n/3]
	for i := range dst[at:] {
		dst[at+i] = fold(uint64(binary.LittleEndian.Uint32(text[3*i:])) & 0xFFFFFF)
	}
	return dst
}

// appendASCII appends the hashes of the words of text[:n], which is ASCII. What stands
// alone and is a symbol is none; no word begins with one.
func (s *Scanner) appendASCII(dst []uint64, text []byte, n int) []uint64 {
	symbols := &s.tables.ascii
	at, start := len(dst), 0
	dst = slices.Grow(dst, n/2+2)[:at+n/2+2]
	for base := 0; base <= n; base += hashBlock {
		// The end counts as a space, also where it is that of a block.
		ends := spacesIn(text[base:], min(n-base, hashBlock))
		if n-base < hashBlock {
			ends |= 1 << (n - base)
		}
		for ; ends != 0; ends &= ends - 1 {
			end := base + bits.TrailingZeros64(ends)
			word := (*[hashWidth]byte)(text[start:])
			if length := end - start; length <= hashWidth {
				dst[at] = hashShort(binary.LittleEndian.Uint64(word[:]), binary.LittleEndian.Uint64(word[8:]), length)
			} else {
				dst[at] = HashUnit(text[start:end])
			}
			at += 1 - int(symbols[word[0]].symbol)
			start = end + 1
		}
	}
	return dst[:at]
}

const (
	// hashBlock is how many bytes appendASCII looks at together.
	hashBlock = 64
	// hashWidth is how many bytes hashShort looks at.
	hashWidth = 16
)

// hashShort is HashUnit of the first n of 16 bytes, 1 to 16 of them, without a branch.
func hashShort(a, b uint64, n int) uint64 {
	cut := uint(max(64-8*n, 0))
	short := fold(a << (cut & 63) >> (cut & 63))
	cut = uint(128-8*n) & 63
	long := fold(fold(a) ^ b<<cut>>cut)
	if n > 8 {
		return long
	}
	return short
}

// appendMixed appends the hashes of the words of text[:n], a segment.
func (s *Scanner) appendMixed(dst []uint64, text []byte, n int) []uint64 {
	for i := 0; i < n; {
		x := binary.LittleEndian.Uint64(text[i:])
		length := wordIn(x)
		if end := i + length; length > 0 && (end >= n || startsPlainly(binary.LittleEndian.Uint32(text[end:]))) {
			length = min(length, n-i)
			dst = append(dst, fold(x&(1<<(8*length)-1)))
			i += length
			continue
		}
		if text[i] == ' ' {
			i++
			continue
		}
		unit, rest := s.NextUnit(text[i:n])
		if unit == nil {
			break
		}
		dst = append(dst, HashUnit(unit))
		i = n - len(rest)
	}
	return dst
}

// wordIn is the length of the word that eight bytes begin with, if it is a Han character
// or less than eight in ASCII; else 0.
func wordIn(x uint64) int {
	if isHan(uint32(x)) {
		return 3
	}
	blank := x ^ ' '*ones
	return bits.TrailingZeros64(((blank-ones)&^blank|x)&highs) / 8 & 7
}

// startsPlainly reports whether it is seen that four bytes begin with no mark.
func startsPlainly(x uint32) bool { return byte(x) < utf8.RuneSelf || isHan(x) }

// spacesIn returns where spaces are in text[:n], which is ASCII, a bit for each byte; n
// is at most hashBlock, and there is a block behind it.
func spacesIn(text []byte, n int) (spaces uint64) {
	block := (*[hashBlock]byte)(text)
	for i := 0; i < n; i += 8 {
		x := binary.LittleEndian.Uint64(block[i&(hashBlock-8):])
		blank := ^((x ^ ' '*ones) + 0x7F*ones) & highs
		spaces |= (blank >> 7 * gatherBits >> 56) << (i & (hashBlock - 8))
	}
	return spaces & (^uint64(0) >> ((hashBlock - n) & 63))
}

// gatherBits brings the lowest bit of each byte, by a multiplication, into the
// highest byte.
const gatherBits = 0x0102040810204080
