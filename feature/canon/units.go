package canon

import (
	"encoding/binary"
	"unicode/utf8"
)

// unitsOf counts the words of the piece under way, which has that width. A CJK character is a word,
// and so is every stretch of others that take any room, between spaces or CJK characters: "two
// words" has 2, "中文" 2, "用linux的" 3. The rule needs no dictionary, and is near enough for a weight.
// Nearly all pieces are all of one sort, known from the counts made while copying.
func (s *Scanner) unitsOf(width int) int {
	switch {
	case s.whole:
		return s.unitsCopied(s.seg, s.to, s.cjk)
	case s.loose:
	case width == 2*s.cjk:
		return s.cjk
	case s.cjk == 0:
		return s.spaces + 1
	}
	return s.tables.countWords(s.buf[s.seg:s.to])
}

// countWords counts the words of a canonical form.
func (t *tables) countWords(form []byte) int {
	var words wordCounter
	for i := 0; i < len(form); {
		switch {
		case form[i] < utf8.RuneSelf:
			words.add(rune(form[i]), plain|1<<widthShift)
			i++
		case i+4 <= len(form) && isHan(binary.LittleEndian.Uint32(form[i:])):
			words.add(0, plainCJK)
			i += 3
		default:
			r, size := utf8.DecodeRune(form[i:])
			words.add(r, t.of(r).standing())
			i += size
		}
	}
	return words.n
}

// NextUnit returns the next word of a Text, or of a Form, and the rest; nil at the end. A mark
// belongs to the word before it. Marks and symbols alone are left out. So a method that works on
// runs of words needs no pass of its own.
func (s *Scanner) NextUnit(text []byte) (unit, rest []byte) {
	for len(text) > 0 {
		n, isWord := s.tables.unit(text)
		if isWord {
			return text[:n], text[n:]
		}
		text = text[max(n, 1):] // or a space
	}
	return nil, nil
}

// unit returns the length of the first unit of a canonical form, 0 for a space. It reports whether
// NextUnit returns that unit as a word.
func (t *tables) unit(form []byte) (n int, isWord bool) {
	if n = t.plainUnit(form); n > 0 {
		return n, true
	}
	var words wordCounter
	for n < len(form) && form[n] != ' ' {
		r, size := utf8.DecodeRune(form[n:])
		c := t.of(r)
		if words.add(r, c.standing()); words.n > 1 {
			break
		}
		isWord = isWord || c.width() > 0 && c.kind() != symbol
		n += size
	}
	return n, isWord
}

// plainUnit returns the length of a first unit that is a word of ASCII letters and digits, or a
// common Han character, and 0 for any other. Nearly all units are such.
func (t *tables) plainUnit(form []byte) (n int) {
	for n < len(form) && form[n] < utf8.RuneSelf && form[n] != ' ' && t.begins[form[n]] != 0 {
		n++
	}
	switch {
	case n > 0 && (n == len(form) || form[n] == ' '):
		return n
	case n == 0 && len(form) >= 3 && isHanLead(form[0]) && (len(form) == 3 || form[3] == ' ' || isHanLead(form[3])):
		return 3
	}
	return 0
}

// isHanLead reports whether a character that begins with this byte is one of U+5000 to U+8FFF, all of
// them Han.
func isHanLead(b byte) bool { return 0xE5 <= b && b <= 0xE8 }

// A wordCounter counts words rune by rune.
type wordCounter struct {
	n      int
	within bool // the last rune with any width is in a stretch of others
	cjk    bool // it is CJK, and marks behind it belong to it
}

func (w *wordCounter) add(r rune, c class) {
	switch {
	case r == ' ':
		w.within, w.cjk = false, false
	case c.isCJK():
		w.n++
		w.within, w.cjk = false, true
	case c.isMark() && w.cjk:
	case c.width() > 0:
		if !w.within {
			w.n++
		}
		w.within, w.cjk = true, false
	}
}

// IsCJK reports whether a word, as returned by NextUnit, is a CJK character.
func (s *Scanner) IsCJK(unit []byte) bool {
	r, _ := utf8.DecodeRune(unit)
	return s.tables.of(r).isCJK()
}

// A ByteRange is a stretch of a text: from its first byte to the one behind its last.
type ByteRange struct{ Start, End int }

// A Locator finds the words of pieces in the text. It is not for concurrent use.
type Locator struct {
	s     *Scanner // it writes a piece's form again, one cluster after the other
	marks []mark
}

// A mark is a cluster of the text and the place behind it in the form.
type mark struct {
	out int
	ByteRange
}

// NewLocator returns a Locator.
func NewLocator() *Locator { return &Locator{s: NewScanner()} }

// AppendUnits appends to dst the byte range in text of each word of the piece text[start:end], in
// the order of NextUnit over its form. A character that stands for several words is in the range of
// each. It takes far longer than a scan: ask only for pieces that matter.
func (l *Locator) AppendUnits(dst []ByteRange, text []byte, start, end int) []ByteRange {
	s := l.s
	s.Reset(nil)
	s.begin(1)
	l.marks = l.marks[:0]
	out := s.w
	for at := start; at < end; {
		r, _ := utf8.DecodeRune(text[at:])
		next := s.cluster(text, at, end)
		if !s.tables.vanishes(r) { // a space may be taken back by what follows
			out = s.w
		}
		l.marks = append(l.marks, mark{out, ByteRange{at, next}})
		at = next
	}
	s.dropSpace()
	form, i := s.buf[s.seg:s.w], 0
	for unit, rest := s.NextUnit(form); unit != nil; unit, rest = s.NextUnit(rest) {
		to := s.w - len(rest)
		for l.marks[i].out <= to-len(unit) {
			i++
		}
		first := l.marks[i].Start
		for l.marks[i].out < to {
			i++
		}
		dst = append(dst, ByteRange{first, l.marks[i].End})
	}
	return dst
}
