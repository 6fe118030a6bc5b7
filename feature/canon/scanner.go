// Package canon brings a text into the canonical form that every method works on. In it width,
// case, spacing, punctuation and invisible characters no longer matter. The package cuts the text
// into pieces at its punctuation. The rules, each with its reason, are in docs/canonical.md; the
// Unicode tables they rest on are frozen.
//
//	s := canon.NewScanner()
//	for _, text := range texts {
//		s.Reset(text)
//		for step := s.Next(); ; step = s.Next() {
//			switch step {
//			case canon.Piece: // s.Form(), s.Width(), s.Units(), s.Range()
//			case canon.Part, canon.End: // s.Text(), s.NextUnit
//			}
//			if step == canon.End {
//				break
//			}
//		}
//	}
//
// One pass gives all that a method may want: the pieces one by one, and the whole canonical text in
// parts as they are completed. The scanner computes only the values asked for: the words of a
// piece, for example, or the place of a cut one.
//
// The package promises: equal Versions give equal pieces of equal texts, on every machine, built
// with any toolchain. No bytes make it fail. It does not allocate once its buffers exist, and holds
// no more memory for a huge text than for a small one.
package canon

import (
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

// Version is that of all rules of this package, called by the version of Unicode
// whose tables are frozen in it, and a letter for each change of other rules. It is part of a scheme's name and changes with the
// rules, and not with the toolchain.
const Version = "u15b"

const (
	// maxRun is the longest stretch of text without a separator, in bytes, that
	// is one segment; a longer one ends at the first character past it. It
	// bounds the memory for a text without punctuation. Being far longer than
	// the pieces a segment is cut into, it costs about one of 400 of them.
	maxRun = 64 << 10

	// maxGrowth is how many bytes of canonical form one byte of text can have:
	// U+FDFA, three bytes, is written out as 33.
	maxGrowth = 11

	// flushAt is from which length on canonical text is handed over as a part.
	flushAt = 64 << 10

	// slack lets the scanner store eight bytes when it has fewer to add, and read a block when
	// fewer are left.
	slack = vector.Block + 8

	// maxSymbol is how many bytes of a symbol and the marks upon it count.
	maxSymbol = 64
)

// A Step is a result of Next.
type Step uint8

const (
	// End is the end of the text. Text is the last part of its canonical form.
	End Step = iota
	// Piece is a stretch between separators, or a piece of one wider than MaxWidth columns. Form,
	// Width, Units and Range describe it.
	Piece
	// Part says that Text is the next part of the canonical text. Only texts of
	// more than 64 KiB have parts before the last.
	Part
)

// A Scanner goes through texts piece by piece. It is not for concurrent use: have one for each
// worker. It owns about 800 KiB of buffers; an ordinary text touches only as much as its own
// length. Returned slices are valid until the next call.
type Scanner struct {
	tables *tables
	folder *folder
	cache  formCache

	text       []byte
	lines      lines
	at         int  // position in text to go on from
	start, end int  // range of text that the piece under way comes from
	separated  bool // a separator is at text[at:], or the beginning
	begun      bool // text[start:at] is of the piece under way
	step       Step // what Next returned

	// buf[1:w] is the canonical text not yet handed over, pieces joined by
	// spaces; buf[0] is a space, so that the byte before a piece always is one.
	// The piece under way starts at seg, and ends at to when it is known. Its width is its
	// bytes plus wider.
	buf   []byte
	w     int
	seg   int
	to    int
	wider int
	cjk   int  // CJK characters in it
	loose bool // its words have to be counted: there may be marks in it that stand alone
	kind  spanKind

	drops    []uint32 // spaces in buf that Whole has not
	parted   bool     // Whole has returned a part
	endedCJK bool     // which ended in a CJK character

	copied copied
	whole  bool // it is one of copied
	least  int  // columns of the pieces to return
	short  short
	passed bool // a piece too wide to be short was passed over

	keeping bool // pieces wider than MaxWidth stay whole
	cutting bool // it is wider than MaxWidth, and given in pieces
	cut     cutter

	counting bool // spans are wanted
	spans    []span
	apart    bool // a non-ASCII character came since the last one
}

// NewScanner returns a Scanner of the empty text.
func NewScanner() *Scanner {
	t := unicodeTables()
	s := &Scanner{
		tables: t,
		folder: newFolder(t),
		lines:  newLines(t),
		buf:    make([]byte, 1+flushAt+maxRun*maxGrowth+slack),
	}
	if vector.CanCopy {
		s.copied.starts = make([]vector.Start, 0, window+fewAhead+1)
	}
	s.buf[0] = ' '
	s.Reset(nil)
	return s
}

// Reset makes ready to go through text, which must stay as it is until End. Any
// bytes will do: those that are not UTF-8 separate pieces.
func (s *Scanner) Reset(text []byte) {
	s.text, s.at, s.separated = text, 0, true
	s.lines.reset(text)
	s.step, s.cutting, s.begun = Part, false, false
	s.drops, s.parted, s.endedCJK = s.drops[:0], false, false
	s.copied.starts, s.copied.next = s.copied.starts[:0], 0
	s.short, s.passed = short{limit: s.short.limit}, false
	s.Pass(0)
	s.spans = s.spans[:0]
}

// Next goes on to the next piece, part, or the end, and stays at the end.
func (s *Scanner) Next() Step {
	switch {
	case s.cutting && s.nextCut():
		return Piece
	case s.step == Piece:
		s.cutting = false
		if !s.whole {
			s.join()
		}
	case s.step == Part:
		s.spans, s.drops = s.spans[:0], s.drops[:0]
		s.begin(1)
	}
	s.step = s.findPiece()
	return s.step
}

func (s *Scanner) findPiece() Step {
	for !s.nextCopied() {
		if !s.begun {
			if s.w <= flushAt && s.separated {
				if s.copyPieces() {
					continue
				}
				s.at = s.gap(s.text, s.at)
			}
			if s.w > flushAt {
				return Part
			}
			if s.at >= len(s.text) {
				s.text, s.at = nil, 0
				return End
			}
			s.start = s.at
		}
		if s.scanned() {
			break
		}
	}
	return Piece
}

// scanned goes on to the end of the piece under way. It reports whether there is any.
func (s *Scanner) scanned() bool {
	s.whole, s.begun = false, false
	s.at, s.separated = s.scan(s.text, s.start, s.at)
	s.dropSpace()
	if s.w == s.seg { // nothing but white space, after a segment that was too long
		return false
	}
	s.to, s.end, s.kind = s.w, s.at, s.kindOf()
	s.follows(s.seg)
	if s.w-s.seg+s.wider <= MaxWidth || s.keeping || s.cutPiece() {
		return true
	}
	s.join()
	return false
}

// KeepLong has all texts to come read without cuts: a stretch between separators is one piece, however
// wide.
func (s *Scanner) KeepLong() { s.keeping = true }

// cutPiece begins with the pieces of one too wide. It reports whether there are any.
func (s *Scanner) cutPiece() bool {
	if s.whole {
		s.end = s.textEnd(s.end)
	}
	s.cut = cutter{marks: s.cut.marks[:0]}
	s.cutting = s.nextCut()
	return s.cutting
}

// Form is the canonical form of the piece.
func (s *Scanner) Form() []byte {
	if s.cutting {
		return s.buf[s.seg+s.cut.from : s.seg+s.cut.to]
	}
	return s.buf[s.seg:s.to]
}

// Width is the length of the piece in columns: 2 for a wide (Han, kana, Hangul)
// character, 0 for a combining mark, 1 for any other.
func (s *Scanner) Width() int {
	if s.cutting {
		return s.cut.width
	}
	return s.to - s.seg + s.wider
}

// Units is the length of the piece in words: a CJK character is one, and so is
// every stretch of others between spaces or CJK characters.
func (s *Scanner) Units() int {
	if s.cutting {
		return s.cut.units
	}
	if s.loose {
		return s.tables.countWords(s.buf[s.seg:s.to])
	}
	return s.unitsOf(s.seg, s.to, s.cjk, s.Width())
}

// Range returns the range of the piece in the text. For a piece of an overlong segment, finding it
// costs time; ask only if it matters.
func (s *Scanner) Range() (start, end int) {
	if s.cutting {
		return s.locate()
	}
	if s.whole {
		return s.start, s.textEnd(s.end)
	}
	return s.start, s.end
}

// Text is the canonical text since the last part, at Part and at End: pieces and
// symbols, in order, with a space between each two. Parts are joined by a space,
// too; the last may be empty.
func (s *Scanner) Text() []byte { return s.buf[1:max(s.w-1, 1)] }

// Whole is Text without spaces between pieces if either neighbour is a CJK character, so it is the
// same however lines and clauses end. It includes the space that joins it to the part before. It
// overwrites Text, and may be called once.
func (s *Scanner) Whole() []byte {
	end := len(s.Text()) + 1
	if end == 1 {
		return nil
	}
	s.endedCJK = s.tables.endsCJK(s.buf[1:end])
	from, drops := 0, s.drops
	if len(drops) > 0 && drops[0] == 0 {
		from, drops = 1, drops[1:]
	} else if !s.parted {
		from = 1
	}
	s.parted = true
	if len(drops) == 0 {
		return s.buf[from:end]
	}
	w := int(drops[0])
	for i, at := range drops {
		to := end
		if i+1 < len(drops) {
			to = int(drops[i+1])
		}
		w += copy(s.buf[w:], s.buf[at+1:to])
	}
	return s.buf[from:w]
}

// follows notes it if the piece at buf[seg:] has CJK on one side of the space before it.
func (s *Scanner) follows(seg int) {
	first := s.buf[seg]
	if seg > 1 && !isHanByte(first) {
		if first < utf8.RuneSelf && s.buf[seg-2] < utf8.RuneSelf {
			return
		}
		r, _ := utf8.DecodeRune(s.buf[seg:])
		if !s.tables.layout(s.buf[1:seg-1], s.tables.of(r)) {
			return
		}
	} else if seg == 1 && !isHanByte(first) {
		r, _ := utf8.DecodeRune(s.buf[seg:])
		if c := s.tables.of(r); !c.isCJK() && (c.isMark() || !s.endedCJK) {
			return
		}
	}
	s.drops = append(s.drops, uint32(seg-1))
}

// Trim takes the white space and the invisible characters off the byte
// range of a piece of text.
func (s *Scanner) Trim(text []byte, start, end int) (int, int) {
	isVisible := func(b byte) bool { return ' ' < b && b < 0x7F }
	for start < end && !isHanByte(text[start]) && !isVisible(text[start]) {
		r, size := utf8.DecodeRune(text[start:end])
		if !s.tables.vanishes(r) {
			break
		}
		start += size
	}
	for end > start && !isVisible(text[end-1]) && !(end-start >= 3 && isHanByte(text[end-3])) {
		r, size := utf8.DecodeLastRune(text[start:end])
		if !s.tables.vanishes(r) {
			break
		}
		end -= size
	}
	return start, end
}

// vanishes reports whether r vanishes at the edges of a piece; a line end there is soft.
func (t *tables) vanishes(r rune) bool { return t.of(r).blank() || r == '\n' || r == '\r' }

// join makes ready for the next piece.
func (s *Scanner) join() {
	if s.counting {
		s.addSpan(span{start: uint32(s.seg), end: uint32(s.w), kind: s.kind})
	}
	s.space()
}

// space continues after a symbol.
func (s *Scanner) space() {
	s.buf[s.w] = ' '
	s.begin(s.w + 1)
}

// begin starts a piece at buf[w].
func (s *Scanner) begin(w int) {
	s.w, s.seg, s.wider, s.cjk, s.loose = w, w, 0, 0, false
}
