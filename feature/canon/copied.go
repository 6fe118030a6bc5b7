package canon

import (
	"bytes"
	"encoding/binary"

	"github.com/firstseen/firstseen/feature/canon/ascii"
)

// batch is how many bytes of text are copied together at most: few enough to stay in
// the nearest cache until they have been looked at.
const batch = 4 << 10

var oneSpace = []byte{' '}

// copied are pieces of ASCII that were copied together, and are handed out one after
// the other.
type copied struct {
	starts  []ascii.Start // of the pieces, the symbols between them, and what comes; nil where the processor cannot
	next    int           // of starts
	out, in int           // what starts count from, in the buffer and in the text
	open    bool          // what comes is a piece that has begun
}

// asciiClasses are the classes of ASCII as package ascii has them.
func (t *tables) asciiClasses() *ascii.Classes {
	c := new(ascii.Classes)
	for b := range c.Class {
		form := byte(b)
		switch a := t.ascii[b]; a.class.kind() {
		case plain:
			c.Class[b], form = ascii.Letter, a.lower
			if t.more[b]&digit != 0 {
				c.Class[b] = ascii.Digit
			}
		case space:
			c.Class[b], form = ascii.Blank, ' '
		case symbol:
			c.Class[b] = ascii.Symbol
		case dot:
			c.Class[b] = ascii.Dot
		case comma:
			c.Class[b] = ascii.Comma
		case quote:
			c.Class[b] = ascii.Quote
		default:
			form = ' '
		}
		c.Form[b] = form
	}
	return c
}

// copyPieces copies the pieces at text[at:], which is behind a separator, as far as they
// are ASCII, if that is worth the while. It reports whether it came any further.
func (s *Scanner) copyPieces() bool {
	c, text := &s.copied, s.text[s.at:]
	if cap(c.starts) == 0 || !startsASCII(text) {
		return false
	}
	if text = s.tables.endBatch(text); len(text) == 0 {
		return false
	}
	starts := c.starts[:cap(c.starts)]
	got := ascii.Copy(s.tables.classes, s.buf[s.w:], text, starts)
	*c = copied{starts: starts[:got.Starts], out: s.w, in: s.at, open: !got.Separated}
	s.at += got.Read
	s.w += got.Written
	if got.Separated {
		if s.buf[s.w-1] != ' ' {
			s.buf[s.w] = ' '
			s.w++
		}
		c.starts = append(c.starts, ascii.Start{Out: uint32(s.w - c.out), In: uint32(got.Read)})
	}
	if s.counting && len(c.starts) > 1 {
		s.addSpan(span{start: uint32(c.out), end: uint32(c.out) + c.starts[len(c.starts)-1].Out - 1, kind: narrow})
	}
	return got.Read > 0
}

// startsASCII reports whether text, which is not empty, is ASCII as far as a block goes.
func startsASCII(text []byte) bool {
	if len(text) < ascii.Block {
		for _, b := range text {
			if b >= 0x80 {
				return false
			}
		}
		return len(text) > 0
	}
	var all uint64
	for i := 0; i < ascii.Block; i += 8 {
		all |= binary.LittleEndian.Uint64(text[i:])
	}
	return all&highs == 0
}

// endBatch is what to copy of text at once. It does not end where what is next matters.
func (t *tables) endBatch(text []byte) []byte {
	if len(text) <= batch {
		return text
	}
	n := batch
	for n > 0 && text[n-1] < 0x80 && t.classes.Class[text[n-1]] >= ascii.Symbol {
		n--
	}
	return text[:n]
}

// nextCopied goes on to the next of the copied pieces, if there is one.
func (s *Scanner) nextCopied() bool {
	c := &s.copied
	for c.next+1 < len(c.starts) {
		from, to := c.starts[c.next], c.starts[c.next+1]
		c.next++
		s.seg, s.to = c.out+int(from.Out), c.out+int(to.Out)-1
		if s.tables.begins[s.buf[s.seg]] == 0 {
			continue // a symbol
		}
		s.start, s.end, s.whole = c.in+int(from.In), c.in+int(to.In), true
		if s.to-s.seg <= MaxWidth || s.cutPiece() {
			return true
		}
	}
	s.endCopied()
	return false
}

// endCopied makes ready for what comes behind the copied pieces. The piece that has
// begun is as scan would have left it.
func (s *Scanner) endCopied() {
	c := &s.copied
	if c.next == len(c.starts) {
		return
	}
	last := c.starts[c.next]
	c.next++
	w := s.w
	s.begin(c.out + int(last.Out))
	s.w = w
	if c.open {
		s.start, s.separated, s.begun = c.in+int(last.In), false, true
		s.spaces = bytes.Count(s.buf[s.seg:s.w], oneSpace)
	}
}

// textEnd is where the piece that was copied, and ends before text[end], ends.
func (s *Scanner) textEnd(end int) int {
	for end > s.start && s.tables.ascii[s.text[end-1]].gap != content {
		end--
	}
	return end
}
