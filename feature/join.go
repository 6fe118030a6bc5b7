package feature

import "unicode/utf8"

// joinByte is what a joining separator becomes in the canonical form.
var joinByte = [...]byte{dot: '.', comma: ',', quote: '\''}

// none stands for the rune before the first and after the last.
const none rune = -1

// joins reports whether the separator of class c at text[i:i+size] holds a
// number or a word together and so is no separator.
func (e *Extractor) joins(text []byte, i, size int, c class) bool {
	if i+size == len(text) {
		return false
	}
	if b := text[i+size]; b < '0' || isHanByte(b) {
		return false // by far the most: white space, or Chinese
	}
	switch c.kind() {
	case dot:
		return e.isDigit(e.before(text, i)) && e.isDigit(e.after(text, i+size))
	case comma:
		return e.isDigit(e.before(text, i)) && e.threeDigits(text, i+size)
	case quote:
		return e.isWord(e.before(text, i), true) && e.isWord(e.after(text, i+size), false)
	}
	return false
}

// isHanByte reports whether b begins a rune from U+4000 to U+9FFF: all Han but
// for the hexagrams, and none of them a digit, a mark or ignorable.
func isHanByte(b byte) bool { return 0xE4 <= b && b <= 0xE9 }

// before is the last rune of text[:i] that is not ignorable.
func (e *Extractor) before(text []byte, i int) rune {
	for i > 0 {
		r, size := utf8.DecodeLastRune(text[:i])
		if e.tables.of(r).kind() != ignorable {
			return r
		}
		i -= size
	}
	return none
}

// after is the first rune of text[i:] that is not ignorable.
func (e *Extractor) after(text []byte, i int) rune {
	r, _ := e.next(text, i)
	return r
}

// next is the same with the position after the rune.
func (e *Extractor) next(text []byte, i int) (rune, int) {
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if e.tables.of(r).kind() != ignorable {
			return r, i
		}
	}
	return none, i
}

// threeDigits reports whether exactly three digits are at text[i:].
func (e *Extractor) threeDigits(text []byte, i int) bool {
	var r rune
	for range 3 {
		if r, i = e.next(text, i); !e.isDigit(r) {
			return false
		}
	}
	return !e.isDigit(e.after(text, i))
}

// isDigit reports whether r is a decimal digit of any script.
func (e *Extractor) isDigit(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9'
	}
	return e.tables.has(r, digit)
}

// isWord reports whether r is a letter of a script that has apostrophes, or,
// where a letter may end in one, a mark.
func (e *Extractor) isWord(r rune, mark bool) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	case mark && e.tables.of(r).isMark():
		return true
	}
	return e.tables.has(r, letter) && !e.tables.of(r).isCJK()
}
