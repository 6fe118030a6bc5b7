// Package canon converts a text to the canonical form that methods work on. The form ignores
// differences of width, case, spacing, punctuation and invisible characters. The package cuts the
// text into pieces at its punctuation. docs/canonical.md has the rules and their reasons. The
// Unicode tables behind them are frozen.
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
// One pass yields the pieces one by one, and the whole canonical text in parts. The scanner
// computes other values only on demand, such as the words of a piece or the range of a cut one.
//
// Equal Versions give equal pieces of equal texts, on every machine and with every toolchain. Any
// bytes are valid input. The scanner does not allocate once its buffers exist, and its memory does
// not grow with the text.
package canon

import (
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

// Version identifies the rules of this package: the Unicode version of the frozen tables, and a
// letter for each change of other rules. It is part of a scheme's name and changes with the rules,
// not with the toolchain.
const Version = "u15b"

const (
	// maxRun is the maximum length in bytes of a segment without a separator. A longer segment ends
	// at the first character past it. It bounds the memory for a text without punctuation. Far
	// longer than the pieces of a cut segment, it costs about one in 400 of them.
	maxRun = 64 << 10

	// maxGrowth is the maximum number of bytes of canonical form per byte of text: U+FDFA, three
	// bytes, expands to 33.
	maxGrowth = 11

	flushAt = 64 << 10 // canonical text is returned as a part from this length on

	// slack has room to store eight bytes when adding fewer, and to read a block when fewer are
	// left.
	slack = vector.Block + 8

	maxSymbol = 64 // bytes of a symbol with its marks that count
)

// A Step is a result of Next.
type Step uint8

const (
	// End is the end of the text. Text returns the last part of its canonical form.
	End Step = iota
	// Piece is a stretch between separators, or part of one wider than MaxWidth columns. Form,
	// Width, Units and Range describe it.
	Piece
	// Part means that Text returns the next part of the canonical text. Only texts above 64 KiB
	// have several.
	Part
)

// A Scanner reads texts piece by piece. It is not safe for concurrent use; each worker needs its
// own. It owns about 800 KiB of buffers, but an ordinary text touches only as much as its own
// length. Returned slices are valid until the next call.
type Scanner struct {
	tables *tables
	folder *folder
	cache  formCache

	text       []byte
	lines      lines
	at         int  // position in text to continue from
	start, end int  // range in text of the current piece
	separated  bool // at is at a separator or at the start of text
	begun      bool // text[start:at] belongs to the current piece
	step       Step // last result of Next

	// buf[1:w] is the canonical text not yet returned, with pieces joined by spaces. buf[0] is a
	// space, so every piece follows one. The current piece starts at seg and, once its end is
	// known, ends at to. Its width is its number of bytes plus wider.
	buf   []byte
	w     int
	seg   int
	to    int
	wider int
	cjk   int  // CJK characters in the piece
	loose bool // its words must be counted: it may have marks that stand alone
	kind  spanKind

	drops    []uint32 // spaces in buf that Whole omits
	parted   bool     // Whole has returned a part
	endedCJK bool     // that part ended in a CJK character

	copied copied
	whole  bool // the current piece is one of copied
	least  int  // minimum width in columns of the pieces to return
	short  short
	passed bool // a piece too wide to be short was skipped

	keeping bool // pieces wider than MaxWidth stay whole
	cutting bool // the current piece is wider than MaxWidth and returned in pieces
	cut     cutter

	counting bool // collect spans
	spans    []span
	apart    bool // a non-ASCII character came since the last span
	placing  placing
}

// NewScanner returns a Scanner for the empty text.
func NewScanner() *Scanner {
	t := unicodeTables()
	s := &Scanner{
		tables: t,
		folder: newFolder(t),
		lines:  newLines(t),
	}
	if vector.CanCopy {
		s.copied.starts = make([]vector.Start, 0, window+fewAhead+1)
	}
	s.Reset(nil)
	return s
}

// room is the minimum size of a buffer in bytes, enough for most texts.
const room = 32 << 10

// grow makes room in the buffer for the form of a text. Texts that end up as parts need 768 KiB.
func (s *Scanner) grow(text []byte) {
	if n := 1 + min(flushAt+maxRun*maxGrowth, len(text)*maxGrowth) + slack; len(s.buf) < n {
		s.buf = make([]byte, max(n, 2*len(s.buf), room))
		s.buf[0] = ' '
	}
}

// Reset starts a new text, which must not change before End. Invalid UTF-8 separates pieces.
func (s *Scanner) Reset(text []byte) {
	s.grow(text)
	s.text, s.at, s.separated = text, 0, true
	s.lines.reset(text)
	s.step, s.cutting, s.begun = Part, false, false
	s.drops, s.parted, s.endedCJK = s.drops[:0], false, false
	s.copied.starts, s.copied.next, s.copied.ahead = s.copied.starts[:0], 0, 0
	s.short, s.passed = short{limit: s.short.limit}, false
	s.Pass(0)
	s.spans = s.spans[:0]
	s.placing.reset()
}

// Next advances to the next piece, part or end. It keeps returning End.
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
			s.start, s.placing.follows = s.at, s.separated
		}
		if s.scanned() {
			break
		}
	}
	return Piece
}

// scanned scans to the end of the current piece. It reports whether the piece has any content.
func (s *Scanner) scanned() bool {
	s.whole, s.begun = false, false
	s.at, s.separated = s.scan(s.text, s.start, s.at)
	s.dropSpace()
	if s.w == s.seg { // only white space, after an overlong segment
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

// KeepLong disables cutting for all later texts: pieces may then have any width.
func (s *Scanner) KeepLong() { s.keeping = true }

// cutPiece starts cutting a piece that is too wide. It reports whether there are any parts.
func (s *Scanner) cutPiece() bool {
	if s.whole {
		s.end = s.textEnd(s.end)
	}
	s.cut = cutter{marks: s.cut.marks[:0]}
	s.cutting = s.nextCut()
	return s.cutting
}

// Form returns the canonical form of the piece.
func (s *Scanner) Form() []byte {
	if s.cutting {
		return s.buf[s.seg+s.cut.from : s.seg+s.cut.to]
	}
	return s.buf[s.seg:s.to]
}

// Width returns the width of the piece in columns: 2 for a wide (Han, kana, Hangul) character, 0
// for a combining mark, 1 for any other.
func (s *Scanner) Width() int {
	if s.cutting {
		return s.cut.width
	}
	return s.to - s.seg + s.wider
}

// Units returns the number of words in the piece: CJK characters, and stretches of other characters
// between those and spaces.
func (s *Scanner) Units() int {
	if s.cutting {
		return s.cut.units
	}
	if s.loose {
		return s.tables.countWords(s.buf[s.seg:s.to])
	}
	return s.unitsOf(s.seg, s.to, s.cjk, s.Width())
}

// Range returns the range of the piece in the text. This is slow within an overlong segment.
func (s *Scanner) Range() (start, end int) {
	if s.cutting {
		return s.locate()
	}
	if s.whole {
		return s.start, s.textEnd(s.end)
	}
	return s.start, s.end
}

// Text returns the canonical text since the last part, at Part and at End: pieces and symbols, in
// order, separated by single spaces. A space also joins the parts; the last one may be empty.
func (s *Scanner) Text() []byte { return s.buf[1:max(s.w-1, 1)] }

// Whole returns Text without the spaces between pieces next to a CJK character, so it does not
// depend on the ends of lines and clauses. It includes the space that joins it to the previous
// part. It overwrites Text; call it only once.
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

// follows adds the space before the piece at buf[seg:] to drops if it is next to a CJK character.
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

// Trim removes white space and invisible characters from the byte range of a piece.
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

// vanishes reports whether r vanishes at the edges of a piece. Line ends there are soft.
func (t *tables) vanishes(r rune) bool { return t.of(r).blank() || r == '\n' || r == '\r' }

// join starts the next piece after the current one.
func (s *Scanner) join() {
	if s.counting {
		s.addSpan(span{start: uint32(s.seg), end: uint32(s.w), kind: s.kind, place: s.placing.next(s.start)})
	}
	s.space()
}

// space appends a space and starts the next piece.
func (s *Scanner) space() {
	s.buf[s.w] = ' '
	s.begin(s.w + 1)
}

func (s *Scanner) begin(w int) {
	s.w, s.seg, s.wider, s.cjk, s.loose = w, w, 0, 0, false
}
