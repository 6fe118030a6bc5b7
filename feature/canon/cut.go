package canon

import (
	"sort"
	"unicode/utf8"
)

const (
	// MaxWidth is the maximum width of a piece in columns. It exceeds nearly all sentences.
	MaxWidth = 400

	// MinPiece is the minimum width in columns of the pieces of a cut segment, except the last. The
	// mean is about 64 higher.
	MinPiece = 64

	// maxPiece is the maximum width of such a piece, plus one if the last character is wide.
	maxPiece = 256
)

// A cutter is the state of cutting an overlong segment. Positions refer to the segment's canonical
// form, except in marks.
type cutter struct {
	h     uint64 // the boundary hash
	begin int    // start of the next piece
	// The current piece, without spaces at its edges.
	from, to     int
	width, units int
	marks        []mark // of the segment, filled on demand
}

// nextCut advances to the next piece of an overlong segment, if any. A boundary depends only on the
// 64 bytes before it, so an edit moves only the nearest few.
func (s *Scanner) nextCut() bool {
	c, form := &s.cut, s.buf[s.seg:s.to]
	for c.begin < len(form) {
		c.from = c.begin
		s.boundary(form)
		c.to = c.begin
		if form[c.from] == ' ' {
			c.from++
			c.width--
		}
		if c.from < c.to && form[c.to-1] == ' ' {
			c.to--
			c.width--
		}
		if c.from < c.to {
			return true
		}
	}
	return false
}

// boundary moves to the next boundary or the end of form, and measures the part skipped.
func (s *Scanner) boundary(form []byte) {
	c := &s.cut
	var words wordCounter
	h, width, i := c.h, 0, c.begin
	for i < len(form) {
		r, size := utf8.DecodeRune(form[i:])
		for _, b := range form[i : i+size] {
			h = h<<1 + gear[b]
		}
		class := s.tables.of(r).standing()
		columns := class.width()
		width += columns
		words.add(r, class)
		i += size
		// A wide character is twice as likely to end a piece as a narrow one: one column in 64 is a
		// boundary, in any script.
		if width >= MinPiece && (int(h>>58) < columns || width >= maxPiece) {
			break
		}
	}
	c.h, c.begin, c.width, c.units = h, i, width, words.n
}

// locate returns the text range of the current piece, in whole clusters.
func (s *Scanner) locate() (start, end int) {
	c := &s.cut
	if len(c.marks) == 0 {
		w := s.w
		s.w, s.wider = s.seg, 0
		c.marks = s.appendMarks(c.marks, s.text, s.start, s.end)
		s.w = w
	}
	first := sort.Search(len(c.marks), func(i int) bool { return c.marks[i].out > s.seg+c.from })
	last := sort.Search(len(c.marks), func(i int) bool { return c.marks[i].out >= s.seg+c.to })
	return c.marks[first].Start, c.marks[last].End
}

// A mark is a cluster of the text with the end of its form in buf.
type mark struct {
	out int
	ByteRange
}

// appendMarks writes the form of text[start:end] again, and appends a mark for each cluster to dst.
func (s *Scanner) appendMarks(dst []mark, text []byte, start, end int) []mark {
	out := s.w
	for at := start; at < end; {
		r, _ := utf8.DecodeRune(text[at:])
		next := s.cluster(text, at, end)
		if !s.tables.vanishes(r) { // a following cluster may remove a space
			out = s.w
		}
		dst = append(dst, mark{out, ByteRange{at, next}})
		at = next
	}
	return dst
}

// gear holds the random numbers of the boundary hash: SplitMix64 from the ASCII of "boundary".
var gear = func() (g [256]uint64) {
	x := uint64(0x626F756E64617279)
	for i := range g {
		x += 0x9E3779B97F4A7C15
		z := (x ^ x>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		g[i] = z ^ z>>31
	}
	return g
}()
