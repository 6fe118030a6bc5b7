package canon

import (
	"bytes"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

const (
	// fewCopied is the minimum number of bytes copied for the next attempt to follow at once.
	fewCopied = 32
	// passed is the number of separators to process otherwise before the next attempt.
	passed = 4
)

// copied holds pieces that were copied in one call and are returned one by one.
type copied struct {
	starts  []vector.Start // of the pieces, the symbols between them, and the next piece; nil without CPU support
	next    int            // the next of starts
	out, in int            // origin of starts, in the buffer and in the text
	han     int            // Han characters in all of them
	open    bool           // the next piece has begun
	pass    int            // separators to process before the next attempt

	ahead, end int // a position in the text, and the end of the batch before it
}

// vectorClass maps each kind of separator to its class in package vector.
var vectorClass = [symbol + 1]uint8{
	space: vector.Blank, dot: vector.Dot, comma: vector.Comma, quote: vector.Quote, punct: vector.Separator,
}

func (t *tables) vectorClasses() *vector.Classes {
	c := new(vector.Classes)
	for b := range c.Class {
		switch kind := t.ascii[b].class.kind(); {
		case t.more[b]&digit != 0:
			c.Class[b] = vector.Digit
		case kind == plain:
			c.Class[b] = vector.Letter
		case kind == symbol:
			c.Class[b] = vector.Symbol
		case kind != punct: // it has no class in ASCII
			c.Class[b] = vectorClass[kind]
		}
	}
	for i := range rune(64) {
		c.General[i] = vectorClass[t.class[0x2000+i].kind()]
		c.CJK[i] = vectorClass[t.class[0x3000+i].kind()]
		c.Full[i] = vectorClass[t.class[0xFF00+i].kind()]
	}
	return c
}

// copyPieces copies pieces from text[at:], which follows a separator, as far as possible in one
// call. It reports whether it copied anything.
func (s *Scanner) copyPieces() bool {
	c := &s.copied
	if cap(c.starts) == 0 || s.at == len(s.text) {
		return false
	}
	if c.pass > 0 {
		c.pass--
		return false
	}
	text := s.lines.ahead(s.at)
	if to := s.at + len(text); to < len(s.text) {
		if to != c.ahead { // in Russian, where no character ends a batch, the way back is long
			c.ahead, c.end = to, s.at+len(s.tables.endBatch(text))
		}
		text = text[:max(0, c.end-s.at)]
	}
	if len(text) == 0 {
		return false
	}
	starts := c.starts[:cap(c.starts)]
	got := vector.Copy(s.tables.classes, s.buf[s.w:], text, starts)
	if got.Read < min(fewCopied, len(text)) {
		c.pass = passed
	}
	if got.Read == 0 {
		return false
	}
	c.starts, c.next, c.out, c.in, c.han, c.open = starts[:got.Starts], 0, s.w, s.at, got.Han, !got.Separated
	s.at += got.Read
	s.w += got.Written
	if got.Separated {
		s.addSpace()
		c.starts = append(c.starts, vector.Start{Out: uint32(s.w - c.out), In: uint32(got.Read), Han: uint32(got.Han)})
	} else if s.buf[s.w-1] >= utf8.RuneSelf {
		s.at -= s.tables.blanksAtEnd(text[:got.Read]) // they stay if a mark follows
	}
	if s.counting && len(c.starts) > 1 {
		s.addCopied()
	}
	return true
}

// endBatch returns the prefix of text to copy if more follows. Later bytes cannot change its form.
func (t *tables) endBatch(text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeLastRune(text)
		if c := t.of(r); c.isPlain() && (r < utf8.RuneSelf || c.isCJK()) {
			break
		}
		text = text[:len(text)-size]
	}
	return text
}

// blanksAtEnd returns the number of bytes of white space at the end of text.
func (t *tables) blanksAtEnd(text []byte) int {
	return len(text) - len(bytes.TrimRightFunc(text, func(r rune) bool { return t.of(r).kind() == space }))
}

// nextCopied advances to the next copied piece that is not skipped, if any.
func (s *Scanner) nextCopied() bool {
	c := &s.copied
	if s.placing.only && c.next < len(c.starts) {
		c.next = len(c.starts) - 1
	}
	for c.next+1 < len(c.starts) {
		from, to := &c.starts[c.next], &c.starts[c.next+1]
		c.next++
		seg, end := c.out+int(from.Out), c.out+int(to.Out)-1
		if s.tables.begins[s.buf[seg]] == 0 {
			continue // a symbol
		}
		if seg == 1 || (s.buf[seg]|s.buf[seg-2]) >= utf8.RuneSelf {
			s.follows(seg)
		}
		cjk := int(to.Han - from.Han)
		width := end - seg - cjk
		if width < s.least {
			s.countShort(seg, end, cjk)
			continue
		}
		s.seg, s.to, s.cjk, s.wider, s.loose = seg, end, cjk, -cjk, false
		s.start, s.end, s.whole = c.in+int(from.In), c.in+int(to.In), true
		if width <= MaxWidth || s.keeping || s.cutPiece() {
			return true
		}
	}
	if c.next < len(c.starts) {
		s.endCopied(c.starts[c.next])
	}
	return false
}

// Measure makes Short count pieces narrower than short columns if that is faster than returning
// them. It applies to all later texts.
func (s *Scanner) Measure(short int) { s.short.limit = short }

// Pass skips pieces narrower than least columns, up to the end of the text, if that is faster than
// returning them. Passed reports whether it skipped any that are not short.
func (s *Scanner) Pass(least int) { s.least = max(least, s.short.limit) }

// Short returns the length, in columns and words, of the short pieces that Next skipped.
func (s *Scanner) Short() (columns, units uint64) { return s.short.columns, s.short.units }

// Passed reports whether Next skipped other pieces.
func (s *Scanner) Passed() bool { return s.passed }

type short struct {
	limit          int
	columns, units uint64
}

// countShort skips a copied piece, buf[seg:end], with cjk CJK characters.
func (s *Scanner) countShort(seg, end, cjk int) {
	width := end - seg - cjk
	if width >= s.short.limit {
		s.passed = true
		return
	}
	s.short.columns += uint64(width)
	s.short.units += uint64(s.unitsOf(seg, end, cjk, width))
}

// endCopied continues after the copied pieces. It leaves a begun piece as scan would.
func (s *Scanner) endCopied(last vector.Start) {
	c, w := &s.copied, s.w
	c.next++
	s.begin(c.out + int(last.Out))
	s.w = w
	if c.open {
		s.start, s.separated, s.begun = c.in+int(last.In), false, true
		s.placing.follows = true
		s.cjk = c.han - int(last.Han)
		s.wider = -s.cjk
	}
}

// textEnd returns the end of a copied piece that ends in text at or before end.
func (s *Scanner) textEnd(end int) int {
	for end > s.start {
		size := 1
		if b := s.text[end-1]; b < utf8.RuneSelf {
			if s.tables.ascii[b].gap == content {
				break
			}
		} else if end-s.start >= 3 && isHanByte(s.text[end-3]) {
			break
		} else {
			var r rune
			r, size = utf8.DecodeLastRune(s.text[s.start:end])
			if c := s.tables.of(r); !c.separates() && !c.blank() {
				break
			}
		}
		end -= size
	}
	return end
}
