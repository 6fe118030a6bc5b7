package canon

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

// HashUnit is a 64-bit hash of a word of n bytes: of the number that its first eight
// bytes are, little-endian, of that of its last eight, and of n. A word of less than
// eight has both of these filled up with zeros at its end. The first has hashFirst added
// by XOR, the second, rotated by half, hashLast and n; both are multiplied with each
// other, and both halves of the product joined by XOR (folded multiplication, as in
// wyhash). It has no secret, and looks at 16 bytes at most: words that collide can be
// constructed.
func HashUnit(unit []byte) uint64 {
	var first, last [8]byte
	copy(first[:], unit)
	copy(last[:], unit[max(len(unit)-8, 0):])
	return vector.HashWord(binary.LittleEndian.Uint64(first[:]), binary.LittleEndian.Uint64(last[:]), len(unit))
}

// A span is a stretch of buf: a segment, or several in ASCII, with its known properties.
type span struct {
	start, end uint32
	kind       spanKind
}

type spanKind uint8

const (
	mixed   spanKind = iota
	triples          // CJK characters of three bytes each
	simple           // input of vector.HashWords; also the symbols between segments
)

// kindOf is the kind of the segment under way, which is whole.
func (s *Scanner) kindOf() spanKind {
	switch {
	case 3*s.cjk == s.w-s.seg:
		return triples
	case s.wider == 0:
		return simple
	}
	return mixed
}

// addSpan adds a stretch of whole segments. Neighbours in ASCII become one.
func (s *Scanner) addSpan(p span) {
	if last := len(s.spans) - 1; last >= 0 && p.kind == simple && s.spans[last].kind == simple && !s.apart {
		s.spans[last].end = p.end
	} else {
		s.spans = append(s.spans, p)
	}
	s.apart = false
}

// CountUnits makes ready for AppendUnits. It is to be called before a text is begun.
func (s *Scanner) CountUnits() { s.counting = true }

// AppendUnits appends to dst the HashUnit of the words of all segments that ended since the last
// call, in NextUnit's order. It has to be called at every Part and at the End, and may be called
// between. A segment ends with the step after its last piece.
//
// Every text goes through here once more. Nearly all segments are known to be all Han or the like,
// or all ASCII: their words are found many bytes at a time. Call it for many segments together.
// Reading bytes back right after they were written, in pieces of another size, makes the processor
// wait.
func (s *Scanner) AppendUnits(dst []uint64) []uint64 {
	at, most := len(dst), 0
	for _, p := range s.spans {
		most += int(p.end-p.start)/2 + 2 // a word of one byte and what ends it
	}
	dst = slices.Grow(dst, most)[:at+most]
	for _, p := range s.spans {
		size := int(p.end - p.start)
		switch text, free := s.buf[p.start:], dst[at:]; p.kind {
		case triples:
			at += hashTriples(free, text, size)
		case simple:
			at += vector.HashWords(free, text, size, &s.tables.begins)
		default:
			at += s.hashMixed(free, text, size)
		}
	}
	s.spans = s.spans[:0]
	return dst[:at]
}

// hashTriples hashes characters of three bytes, which text[:size] is made of, and
// returns how many there are.
func hashTriples(dst []uint64, text []byte, size int) int {
	dst = dst[:size/3]
	for i := range dst {
		x := uint64(binary.LittleEndian.Uint32(text[3*i:])) & 0xFFFFFF
		dst[i] = vector.HashWord(x, x, 3)
	}
	return len(dst)
}

// hashMixed hashes the words of text[:size], a segment, and returns how many there are.
func (s *Scanner) hashMixed(dst []uint64, text []byte, size int) (at int) {
	for i := 0; i < size; {
		x := binary.LittleEndian.Uint64(text[i:])
		n := wordIn(x)
		if end := i + n; n > 0 && (end >= size || startsPlainly(binary.LittleEndian.Uint32(text[end:]))) {
			n = min(n, size-i)
			x &= 1<<(8*n) - 1
			dst[at] = vector.HashWord(x, x, n)
			at++
			i += n
			continue
		}
		if text[i] == ' ' {
			i++
			continue
		}
		unit, rest := s.NextUnit(text[i:size])
		if unit == nil {
			break
		}
		dst[at] = HashUnit(unit)
		at++
		i = size - len(rest)
	}
	return at
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
