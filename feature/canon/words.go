package canon

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

// unitsOf counts the words of buf[seg:end], a piece with the given width and number of CJK
// characters and without loose marks. Each CJK character is a word, and so is each stretch of
// others with any width, up to spaces. Thus "two words" has 2, "中文" 2, "用linux的" 3. The rule needs
// no dictionary and is precise enough for a weight. Nearly all pieces are of one kind.
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

// NextUnit returns the next word of a Text or Form and the rest, or nil at the end. A mark belongs
// to the word before it. NextUnit skips lone marks and symbols, so methods that use runs of words
// need no extra pass.
func (s *Scanner) NextUnit(text []byte) (unit, rest []byte) {
	for len(text) > 0 {
		n, isWord := s.tables.unit(text)
		if isWord {
			return text[:n], text[n:]
		}
		text = text[max(n, 1):] // skip a space, too
	}
	return nil, nil
}

// unit returns the length of the first unit of a canonical form, or 0 for a space. It reports
// whether NextUnit returns that unit as a word.
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

// plainUnit returns the length of a first unit that consists of ASCII letters and digits or of one
// common Han character, else 0. This covers nearly all units.
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

// isHanLead reports whether b begins a character from U+5000 to U+8FFF. All of these are Han.
func isHanLead(b byte) bool { return 0xE5 <= b && b <= 0xE8 }

type wordCounter struct {
	n      int
	within bool // the last rune with any width is in a stretch of other characters
	cjk    bool // the last rune is CJK; following marks belong to it
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

// IsCJK reports whether a word from NextUnit is a CJK character.
func (s *Scanner) IsCJK(unit []byte) bool {
	r, _ := utf8.DecodeRune(unit)
	return s.tables.of(r).isCJK()
}

// A ByteRange is a range of a text, from Start to End, exclusive.
type ByteRange struct{ Start, End int }

// A Locator finds the words of pieces in the text. It is not safe for concurrent use.
type Locator struct {
	s     *Scanner // writes a piece's form again, cluster by cluster
	marks []mark
}

// NewLocator returns a Locator.
func NewLocator() *Locator { return &Locator{s: NewScanner()} }

// AppendUnits appends to dst the byte range in text of each word of the piece text[start:end], in
// the order of NextUnit. If one character expands to several words, the range of each includes it.
// Outside of ASCII this takes far longer than a scan, so use it only for pieces that matter.
func (l *Locator) AppendUnits(dst []ByteRange, text []byte, start, end int) []ByteRange {
	if dst, ok := appendASCII(dst, text, start, end); ok {
		return dst
	}
	s := l.s
	s.Reset(nil)
	s.grow(text[start:end])
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

// appendASCII is AppendUnits for a piece of visible ASCII and white space: each byte is a character,
// and no other separator is within a piece. For other pieces ok is false.
func appendASCII(dst []ByteRange, text []byte, start, end int) (_ []ByteRange, ok bool) {
	from := len(dst)
	for last, at := byte(' '), start; at < end; at++ {
		b := text[at]
		switch {
		case b == ' ' || b == '\n':
			last = ' '
			continue
		case b < ' ' || b >= 0x7F:
			return dst[:from], false
		case last == ' ':
			dst = append(dst, ByteRange{Start: at})
		}
		last, dst[len(dst)-1].End = b, at+1
	}
	return dst, true
}

// HashUnit returns a 64-bit hash of a word of n bytes. Let first and last be its first and last
// eight bytes as little-endian numbers, with zeros appended if n < 8. The hash is the XOR of both
// halves of the 128-bit product (folded multiplication, as in wyhash)
//
//	(first ^ hashFirst) * (rotl(last, 32) ^ hashLast ^ n)
//
// It uses no secret and at most 16 bytes: colliding words can be constructed.
func HashUnit(unit []byte) uint64 {
	var first, last [8]byte
	copy(first[:], unit)
	copy(last[:], unit[max(len(unit)-8, 0):])
	return vector.HashWord(binary.LittleEndian.Uint64(first[:]), binary.LittleEndian.Uint64(last[:]), len(unit))
}

// A span is a stretch of buf with known properties: a segment, or several in ASCII.
type span struct {
	start, end uint32
	kind       spanKind
	place      int // 1 + the position in the text of its first piece, if that is to be kept; else 0
}

type spanKind uint8

const (
	mixed   spanKind = iota
	triples          // only CJK characters of three bytes each
	simple           // valid input of vector.HashWords, possibly with symbols between segments
)

func (s *Scanner) kindOf() spanKind {
	switch {
	case 3*s.cjk == s.w-s.seg:
		return triples
	case s.wider == 0:
		return simple
	}
	return mixed
}

// addSpan adds a span of whole segments. It merges adjacent spans in ASCII.
func (s *Scanner) addSpan(p span) {
	if last := len(s.spans) - 1; last >= 0 && p.kind == simple && s.spans[last].kind == simple && !s.apart && p.place == 0 {
		s.spans[last].end = p.end
	} else {
		s.spans = append(s.spans, p)
	}
	s.apart = false
}

// Together is the number of pieces between calls of AppendUnits: most were written well before.
const Together = 64

// CountUnits enables AppendUnits and AppendLetters. Call it before Reset.
func (s *Scanner) CountUnits() { s.counting = true }

// ForgetSegments makes AppendUnits and AppendLetters begin with the next segment. Who calls them
// between parts calls it after them. A segment ends with the step after its last piece.
func (s *Scanner) ForgetSegments() { s.spans = s.spans[:0] }

// AppendUnits appends to dst the HashUnit of the words of all segments that ended since the last
// Part or call of ForgetSegments, in NextUnit's order. Call it at every Part and at End, and
// optionally in between.
//
// This is a second pass over every text. Nearly all segments are known to be all CJK or all ASCII,
// so their words are found many bytes at a time. Call it for many segments together: the processor
// stalls when it reads bytes right after writing them in other sizes.
func (s *Scanner) AppendUnits(dst []uint64) []uint64 {
	from, at, most := len(dst), len(dst), 0
	for _, p := range s.spans {
		most += int(p.end-p.start)/2 + 2 // a word of one byte and its end
	}
	dst = slices.Grow(dst, most)[:at+most]
	for _, p := range s.spans {
		size := int(p.end - p.start)
		if p.place > 0 {
			s.placing.places = append(s.placing.places, Place{Word: s.placing.words + at - from, At: p.place - 1})
		}
		switch text, free := s.buf[p.start:], dst[at:]; p.kind {
		case triples:
			at += hashTriples(free, text, size)
		case simple:
			at += vector.HashWords(free, text, size, &s.tables.begins)
		default:
			at += s.hashMixed(free, text, size)
		}
	}
	s.placing.words += at - from
	return dst[:at]
}

// hashTriples hashes the three-byte characters of text[:size] and returns their number.
func hashTriples(dst []uint64, text []byte, size int) int {
	dst = dst[:size/3]
	for i := range dst {
		x := uint64(binary.LittleEndian.Uint32(text[3*i:])) & 0xFFFFFF
		dst[i] = vector.HashWord(x, x, 3)
	}
	return len(dst)
}

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

// AppendForms appends the words of the piece to forms, without the spaces between them, and the end
// of each in forms to ends.
func (s *Scanner) AppendForms(forms []byte, ends []int) ([]byte, []int) {
	form := s.Form()
	text, size, w := form[:len(form)+8], len(form), len(forms) // slack follows
	forms = slices.Grow(forms, size+8)
	forms = forms[:cap(forms)]
	for i := 0; i < size; {
		x := binary.LittleEndian.Uint64(text[i:])
		n := wordIn(x)
		switch end := i + n; {
		case n > 0 && (end >= size || startsPlainly(binary.LittleEndian.Uint32(text[end:]))):
			n = min(n, size-i)
			binary.LittleEndian.PutUint64(forms[w:], x)
			i += n
		case text[i] == ' ':
			i++
			continue
		default:
			unit, rest := s.NextUnit(text[i:size])
			if unit == nil {
				return forms[:w], ends
			}
			n = copy(forms[w:], unit)
			i = size - len(rest)
		}
		w += n
		ends = append(ends, w)
	}
	return forms[:w], ends
}

// wordIn returns the length of the word at the start of eight bytes. It returns 0 unless that is a
// Han character or ASCII shorter than eight bytes.
func wordIn(x uint64) int {
	if isHan(uint32(x)) {
		return 3
	}
	blank := x ^ ' '*ones
	return bits.TrailingZeros64(((blank-ones)&^blank|x)&highs) / 8 & 7
}

// startsPlainly reports whether four bytes certainly do not begin with a mark.
func startsPlainly(x uint32) bool { return byte(x) < utf8.RuneSelf || isHan(x) }
