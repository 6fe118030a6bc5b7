package canon

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// copyASCII copies letters, digits and spaces from text[i:] to buf[w:]. It lower-cases letters and
// merges spaces. It stops at the end or at any other byte and returns both positions. It copies
// eight bytes at a time, because English text spends its time here. Only the high bit of each byte
// in the masks counts.
func copyASCII(buf, text []byte, w, i int, ascii *[256]asciiByte) (end, at int) {
	for {
		after := uint64(0) // the high bit of the first byte is set if the last byte written is a space
		if buf[w-1] == ' ' {
			after = 0x80
		}
		for i+8 <= len(text) {
			x := binary.LittleEndian.Uint64(text[i:])
			y := x &^ highs
			up := y | 0x20*ones
			letter := (up + (0x80-'a')*ones) &^ (up + (0x7F-'z')*ones)
			digit := (y + (0x80-'0')*ones) &^ (y + (0x7F-'9')*ones)
			blank := ^((y ^ ' '*ones) + 0x7F*ones) & highs
			double := blank & (blank<<8 | after)
			bad := (^(letter | digit | blank) | double | x) & highs
			upper := letter &^ (x << 2) & highs
			binary.LittleEndian.PutUint64(buf[w:], x|upper>>2)
			if bad != 0 {
				n := bits.TrailingZeros64(bad) / 8
				w, i = w+n, i+n
				break
			}
			after = blank >> 56
			w, i = w+8, i+8
		}
		if i >= len(text) {
			return w, i
		}
		a := ascii[text[i]]
		switch a.class.kind() {
		case plain:
			buf[w] = a.lower
			w++
		case space:
			if buf[w-1] != ' ' {
				buf[w] = ' '
				w++
			}
			i = skipSpaces(text, i+1)
			continue
		default:
			return w, i
		}
		i++
	}
}

// skipSpaces skips spaces, eight at a time, for indentation and tables.
func skipSpaces(text []byte, i int) int {
	for i+8 <= len(text) {
		if x := binary.LittleEndian.Uint64(text[i:]) ^ ' '*ones; x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
		i += 8
	}
	for i < len(text) && text[i] == ' ' {
		i++
	}
	return i
}

// copyPlain copies plain runes outside ASCII from text[i:stop]. It returns its position and, if it
// stopped at another rune outside ASCII, that rune's class and length.
func (s *Scanner) copyPlain(text []byte, i, stop int) (int, class, int) {
	for i < stop && text[i] >= utf8.RuneSelf {
		if n := s.copyHan(text[:stop], i); n > i {
			i = n
			continue
		}
		c, size := s.tables.at(text, i)
		if !c.isPlain() {
			return i, c, size
		}
		s.addRune(text[i:i+size], c)
		i += size
	}
	return i, plain, 0
}

// addRune appends a rune of class c unchanged. It drops a preceding space that is mere layout.
func (s *Scanner) addRune(b []byte, c class) {
	if s.buf[s.w-1] == ' ' {
		s.tighten(c)
		if c.width() == 0 {
			s.loose = true
		}
	}
	if c.isCJK() {
		s.cjk++
		if c.width() == 1 { // marks with width may follow
			s.loose = true
		}
	}
	for _, x := range b {
		s.buf[s.w] = x
		s.w++
	}
	s.wider += c.width() - len(b)
}

// copyHan copies Han from text[i:] and returns the end of the Han, or a position near the end of
// the text. The main block of Chinese needs no table. It copies two characters at a time.
// (Advancing by 0, 3 or 6 bytes without a branch is a fifth slower: the next load has to wait for
// the sum.)
func (s *Scanner) copyHan(text []byte, i int) int {
	if i+8 > len(text) || !isHan(binary.LittleEndian.Uint32(text[i:])) {
		return i
	}
	if s.buf[s.w-1] == ' ' {
		s.dropSpace()
	}
	buf, w, start := s.buf, s.w, i
	for i+8 <= len(text) {
		x := binary.LittleEndian.Uint64(text[i:])
		binary.LittleEndian.PutUint64(buf[w:], x)
		if x&0xC0C0F0_C0C0F0 != 0x8080E0_8080E0 || !inHan(x) || !inHan(x>>24) {
			if isHan(uint32(x)) {
				w, i = w+3, i+3
			}
			break
		}
		w, i = w+6, i+6
	}
	n := (i - start) / 3
	s.w = w
	s.wider -= n
	s.cjk += n
	return i
}

// isHan reports whether the low three bytes of x are a rune from U+4E00 to U+9FFF. All of these are
// plain CJK.
func isHan(x uint32) bool {
	return x&0xC0C0F0 == 0x8080E0 && inHan(uint64(x))
}

// inHan is isHan for the first two of three bytes, E4 B8 to E9 BF.
func inHan(x uint64) bool {
	return bits.ReverseBytes16(uint16(x))-0xE4B8 <= 0xE9BF-0xE4B8
}

// at returns the class and length of the rune at text[i:]. Invalid UTF-8 is punct; a surrogate
// counts as one rune of three bytes.
func (t *tables) at(text []byte, i int) (class, int) {
	if i+4 <= len(text) {
		x := binary.LittleEndian.Uint32(text[i:])
		if r := x&0xF<<12 | x>>2&0xFC0 | x>>16&0x3F; x&0xC0C0F0 == 0x8080E0 && r >= 0x800 {
			return t.class[r], 3
		}
		if r := x&0x1F<<6 | x>>8&0x3F; x&0xC0E0 == 0x80C0 && r >= utf8.RuneSelf {
			return t.class[r], 2
		}
	}
	r, size := utf8.DecodeRune(text[i:])
	return t.of(r), size
}
