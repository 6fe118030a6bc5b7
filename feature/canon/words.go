package canon

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

// unitsOf counts the words of buf[seg:end], a piece of that width with so many CJK characters and no
// loose marks. A CJK character is a word, and so is every stretch of others that take any room,
// between spaces or CJK characters: "two words" has 2, "中文" 2, "用linux的" 3. The rule needs no
// dictionary, and is near enough for a weight. Nearly all pieces are all of one sort.
func (s *Scanner) unitsOf(seg, end, cjk, width int) int {
	switch n := end - seg; {
	case width == 2*cjk:
		return cjk
	case cjk > 0:
		return s.tables.countWords(s.buf[seg:end])
	case n > 8:
		return 1 + bytes.Count(s.buf[seg:end], []byte{' '})
	default:
		x := binary.LittleEndian.Uint64(s.buf[seg:])<<(64-8*n)>>(64-8*n) ^ ' '*ones
		return 1 + bits.OnesCount64(^((x&^highs+0x7F*ones)|x)&highs)
	}
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

// NewLocator returns a Locator.
func NewLocator() *Locator { return &Locator{s: NewScanner()} }

// AppendUnits appends to dst the byte range in text of each word of the piece text[start:end], in
// the order of NextUnit over its form. A character that stands for several words is in the range of
// each. It takes far longer than a scan: ask only for pieces that matter.
func (l *Locator) AppendUnits(dst []ByteRange, text []byte, start, end int) []ByteRange {
	s := l.s
	s.Reset(nil)
	s.begin(1)
	l.marks = s.appendMarks(l.marks[:0], text, start, end)
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

// Together is after how many pieces to call AppendUnits: so many that none was written a moment ago.
const Together = 64

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
