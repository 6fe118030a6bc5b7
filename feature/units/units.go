// Package units lists the words of a text in canonical form, each with its place in the text. It is
// for readers of few texts: methods that see every text use the hashes of package canon.
package units

import (
	"encoding/binary"
	"math/bits"
	"sort"
	"unicode/utf8"

	validate "github.com/segmentio/asm/utf8"

	"github.com/firstseen/firstseen/feature/canon"
)

// A Text is a text in words: CJK characters, or other words between spaces. Its buffers are reused.
// It is not safe for concurrent use.
type Text struct {
	scanner *canon.Scanner
	locator *canon.Locator
	text    []byte
	forms   []byte
	ends    []int   // of each word's form in forms
	pieces  []piece // and a last one at the end of the text
	ranges  []canon.ByteRange
	located int // the piece of ranges, or -1
	counted position
}

// A position is a place in the text, in bytes and in code points.
type position struct{ bytes, points int }

// A piece is a stretch of text between separators.
type piece struct {
	first      int // its first word
	start, end int // byte range in the text
}

// New returns an empty Text.
func New() *Text {
	t := &Text{scanner: canon.NewScanner(), locator: canon.NewLocator(), pieces: []piece{{}}}
	t.scanner.KeepLong()
	return t
}

// Read reads a text, which must not change until the next Read.
func (t *Text) Read(text []byte) {
	t.counted = position{}
	t.readPart(text, 0, len(text), true)
}

// readPart reads the pieces of a text from one place up to another, and the words' forms if wanted.
func (t *Text) readPart(text []byte, at, end int, forms bool) {
	t.text, t.forms, t.ends, t.pieces, t.located = text, t.forms[:0], t.ends[:0], t.pieces[:0], -1
	s, words := t.scanner, 0
	s.ResetAt(text, at, end)
	for step := s.Next(); step != canon.End; step = s.Next() {
		if step == canon.Piece {
			start, end := s.Range()
			t.pieces = append(t.pieces, piece{words, start, end})
			if words += s.Units(); forms {
				t.forms, t.ends = s.AppendForms(t.forms, t.ends)
			}
		}
	}
	t.pieces = append(t.pieces, piece{first: words, start: end, end: end})
}

// Len returns the number of words.
func (t *Text) Len() int { return len(t.ends) }

// Form returns the canonical form of the i-th word.
func (t *Text) Form(i int) []byte {
	if i == 0 {
		return t.forms[:t.ends[0]]
	}
	return t.forms[t.ends[i-1]:t.ends[i]]
}

// Begins reports whether a separator or an end of the text precedes the i-th word; i may be Len.
func (t *Text) Begins(i int) bool {
	return t.pieces[t.pieceOf(i)].first == i
}

// Segments returns the longest range of whole segments, stretches between separators, within the
// words from first to behind, exclusive. It is empty at behind if there is none.
func (t *Text) Segments(first, behind int) (from, to int) {
	p := sort.Search(len(t.pieces), func(p int) bool { return t.pieces[p].first >= first })
	if p == len(t.pieces) || t.pieces[p].first > behind {
		return behind, behind
	}
	return t.pieces[p].first, t.pieces[t.pieceOf(behind)].first
}

func (t *Text) pieceOf(i int) int {
	return sort.Search(len(t.pieces), func(p int) bool { return t.pieces[p].first > i }) - 1
}

// Range returns the byte range of the words from first to behind, exclusive, at least one.
func (t *Text) Range(first, behind int) (start, end int) {
	return t.locate(first).Start, t.locate(behind - 1).End
}

// Points converts a byte range of the text to code points. An invalid UTF-8 byte counts as one.
func (t *Text) Points(start, end int) (from, to int) {
	return t.point(start), t.point(end)
}

// point returns the number of code points before a byte. It counts on from the previous result.
func (t *Text) point(at int) int {
	if at < t.counted.bytes {
		t.counted = position{}
	}
	t.counted.points += points(t.text[t.counted.bytes:at])
	t.counted.bytes = at
	return t.counted.points
}

// points is utf8.RuneCount, but faster: of a valid text, it counts the bytes that continue no character.
func points(b []byte) int {
	if !validate.Valid(b) {
		return utf8.RuneCount(b)
	}
	n := len(b)
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		n -= bits.OnesCount64(x &^ (x << 1) & 0x8080808080808080)
	}
	for _, c := range b {
		if !utf8.RuneStart(c) {
			n--
		}
	}
	return n
}

// locate returns the byte range of the i-th word. It locates all words of the piece at once.
func (t *Text) locate(i int) canon.ByteRange {
	n := t.pieceOf(i)
	p := t.pieces[n]
	if t.located != n {
		t.located, t.ranges = n, t.locator.AppendUnits(t.ranges[:0], t.text, p.start, p.end)
	}
	return t.ranges[i-p.first]
}
