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

// appendASCII appends the hashes of the words of text[:n], which is ASCII.
func (s *Scanner) appendASCII(dst []uint64, text []byte, n int) []uint64 {
	at := len(dst)
	dst = slices.Grow(dst, n/2+2)[:at+n/2+2]
	start := 0
	for base := 0; base < n; base += hashBlock {
		spaces := spacesIn(text[base:], min(n-base, hashBlock))
		for ; spaces != 0; spaces &= spaces - 1 {
			end := base + bits.TrailingZeros64(spaces)
			at += s.hashOne(&dst[at], text, start, end)
			start = end + 1
		}
	}
	at += s.hashOne(&dst[at], text, start, n)
	return dst[:at]
}

// appendMixed appends the hashes of the words of text[:n].
func (s *Scanner) appendMixed(dst []uint64, text []byte, n int) []uint64 {
	for i := 0; i < n; {
		if text[i] == ' ' {
			i++
			continue
		}
		if end := plainWord(text, i, n); end > i {
			var h uint64
			if s.hashOne(&h, text, i, end) > 0 {
				dst = append(dst, h)
			}
			i = end
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

// plainWord is where the word at text[i:n] ends, if that can be seen at once: a Han
// character, or ASCII, and behind it the end, ASCII or Han. Else it is i.
func plainWord(text []byte, i, n int) int {
	end := i + 3
	if !isHan(binary.LittleEndian.Uint32(text[i:])) {
		end = i + asciiWord(binary.LittleEndian.Uint64(text[i:]))
		if end == i+8 {
			end += asciiWord(binary.LittleEndian.Uint64(text[i+8:]))
		}
		if end = min(end, n); end == i+hashWidth {
			return i
		}
	}
	if end < n && text[end] >= utf8.RuneSelf && !isHan(binary.LittleEndian.Uint32(text[end:])) {
		return i
	}
	return end
}

// asciiWord is how many of eight bytes come before a space or what is not ASCII.
func asciiWord(x uint64) int {
	blank := x ^ ' '*ones
	return bits.TrailingZeros64(((blank-ones)&^blank|x)&highs) / 8
}

const (
	// hashBlock is how many bytes appendASCII looks at together.
	hashBlock = 64
	// hashWidth is how many bytes hashShort looks at.
	hashWidth = 16
)

// hashOne hashes what is in text[start:end], ASCII without spaces, and returns how many
// words that is: none if it is empty or a symbol.
func (s *Scanner) hashOne(dst *uint64, text []byte, start, end int) int {
	word := (*[hashWidth]byte)(text[start:])
	isSymbol := int(s.tables.ascii[word[0]].symbol)
	switch n := end - start; {
	case n == 0:
		return 0
	case n > hashWidth || isSymbol > 0 && n > 1:
		if _, isWord := s.tables.unit(text[start:end]); !isWord {
			return 0
		}
		*dst = HashUnit(text[start:end])
		return 1
	default:
		*dst = hashShort(word, n)
		return 1 - isSymbol
	}
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
