package canon

import "unicode/utf8"

// joinByte maps a joining separator to its byte in the canonical form.
var joinByte = [...]byte{dot: '.', comma: ',', quote: '\''}

// none stands for the rune before the first and after the last.
const none rune = -1

// joins reports whether the separator of class c at text[i:i+size] holds a
// number or a word together and so is no separator.
func (s *Scanner) joins(text []byte, i, size int, c class) bool {
	if i+size == len(text) {
		return false
	}
	if b := text[i+size]; b < '0' || isHanByte(b) {
		return false // by far the most: white space, or Chinese
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

// isHanByte reports whether b begins a rune from U+4000 to U+9FFF: all Han but
// for the hexagrams, and none of them a digit, a mark or ignorable.
func isHanByte(b byte) bool { return 0xE4 <= b && b <= 0xE9 }

// before returns the last rune of text[:i], ignorable ones aside.
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

// after returns the first rune of text[i:], ignorable ones aside.
func (s *Scanner) after(text []byte, i int) rune {
	r, _ := s.following(text, i)
	return r
}

// following is the same with the position after the rune.
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

// isWord reports whether r is a letter of a script that has apostrophes. With mark set, a mark
// counts too: a letter may end in one.
func (s *Scanner) isWord(r rune, mark bool) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	case mark && s.tables.of(r).isMark():
		return true
	}
	return s.tables.has(r, letter) && !s.tables.of(r).isCJK()
}
