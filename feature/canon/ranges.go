package canon

import "unicode/utf8"

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
