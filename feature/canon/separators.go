package canon

import (
	"encoding/binary"
	"unicode/utf8"
)

// gap skips the separators at text[i:] and anything else that cannot begin a segment: white space,
// ignorable runes, marks. Marks belong to the separator before them, as in its precomposed form
// (U+2260 is "=" and U+0338). Symbols become words of the canonical text. gap stops once that text
// reaches flushAt.
func (s *Scanner) gap(text []byte, i int) int {
	for i < len(text) && s.w <= flushAt {
		if b := text[i]; b < utf8.RuneSelf {
			if s.tables.ascii[b].gap == content {
				return i
			}
			i = s.gapASCII(text, i)
			continue
		}
		if i+4 <= len(text) && isHan(binary.LittleEndian.Uint32(text[i:])) {
			return i
		}
		switch c, size := s.tables.at(text, i); {
		case c.kind() == symbol:
			end := s.skipMarks(text, i+size)
			s.symbol(text[i:min(end, i+maxSymbol)])
			i = end
		case c.separates() || c.blank() || c.isMark():
			i += size
		default:
			return i
		}
	}
	return i
}

// gapASCII is gap for ASCII. In code, every third byte gets here. The branch for another separator
// is hard to predict.
func (s *Scanner) gapASCII(text []byte, i int) int {
	w, from := s.w, i
	for i < len(text) {
		a := s.tables.ascii[text[i]]
		if a.gap == content {
			break
		}
		s.buf[w], s.buf[w+1] = text[i], ' '
		w, i = w+int(a.gap), i+1
		if w > flushAt {
			break
		}
	}
	s.begin(w)
	if i > from && s.tables.ascii[text[i-1]].gap == gapSymbol {
		if end := s.skipMarks(text, i); end > i { // the symbol has marks
			s.begin(w - gapSymbol)
			s.symbol(text[i-1 : min(end, i-1+maxSymbol)])
			i = end
		}
	}
	return i
}

// symbol appends the canonical form of a symbol and its marks.
func (s *Scanner) symbol(text []byte) {
	if r, size := utf8.DecodeRune(text); size == len(text) {
		s.write(s.tables.formOf(r, text))
	} else {
		for !utf8.Valid(text) { // the limit is within a mark
			text = text[:len(text)-1]
		}
		s.write(s.formOf(text))
	}
	s.dropSpace()
	if s.w > s.seg {
		s.apart = true
		s.space()
	}
	s.begin(s.seg)
}

func (s *Scanner) skipMarks(text []byte, i int) int {
	for i < len(text) && text[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(text[i:])
		if c := s.tables.of(r); !c.isMark() && c.kind() != ignorable {
			break
		}
		i += size
	}
	return i
}

// joinByte maps a joining separator to its byte in the canonical form.
var joinByte = [...]byte{dot: '.', comma: ',', quote: '\''}

// none stands for the rune before the first or after the last.
const none rune = -1

// joins reports whether the separator of class c at text[i:i+size] joins a number or a word and so
// does not separate.
func (s *Scanner) joins(text []byte, i, size int, c class) bool {
	if i+size == len(text) {
		return false
	}
	if b := text[i+size]; b < '0' || isHanByte(b) {
		return false // nearly always: white space or Chinese
	}
	switch c.kind() {
	case dot:
		return s.isDigit(s.before(text, i)) && s.isDigit(s.after(text, i+size))
	case comma:
		return s.isDigit(s.before(text, i)) && s.threeDigits(text, i+size)
	case quote:
		return s.isWord(s.before(text, i), true) && s.isWord(s.after(text, i+size), false)
	}
	return false
}

// isHanByte reports whether b begins a rune from U+4000 to U+9FFF. All of these are Han except the
// hexagrams, and none is a digit, mark or ignorable.
func isHanByte(b byte) bool { return 0xE4 <= b && b <= 0xE9 }

// before returns the last rune of text[:i] that is not ignorable.
func (s *Scanner) before(text []byte, i int) rune {
	for i > 0 {
		r, size := utf8.DecodeLastRune(text[:i])
		if s.tables.of(r).kind() != ignorable {
			return r
		}
		i -= size
	}
	return none
}

// after returns the first rune of text[i:] that is not ignorable.
func (s *Scanner) after(text []byte, i int) rune {
	r, _ := s.following(text, i)
	return r
}

// following is like after, and also returns the position after the rune.
func (s *Scanner) following(text []byte, i int) (rune, int) {
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if s.tables.of(r).kind() != ignorable {
			return r, i
		}
	}
	return none, i
}

// threeDigits reports whether exactly three digits are at text[i:].
func (s *Scanner) threeDigits(text []byte, i int) bool {
	var r rune
	for range 3 {
		if r, i = s.following(text, i); !s.isDigit(r) {
			return false
		}
	}
	return !s.isDigit(s.after(text, i))
}

// isDigit reports whether r is a decimal digit of any script.
func (s *Scanner) isDigit(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9'
	}
	return s.tables.has(r, digit)
}

// isWord reports whether r is a letter of a script with apostrophes. With mark set, a mark also
// counts, since it may end a letter.
func (s *Scanner) isWord(r rune, mark bool) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	case mark && s.tables.of(r).isMark():
		return true
	}
	return s.tables.has(r, letter) && !s.tables.of(r).isCJK()
}
