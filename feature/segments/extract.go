// Package segments is the method of the longest segments: the 50 longest distinct pieces of a text
// are its features. A document is a copy of an earlier one holding the threshold's share of its
// text.
//
// An [Extractor] keeps the longest distinct canonical pieces of a text (package canon). Each is kept
// as a 64-bit key with its length and its place in the text. Beside them stands a fingerprint
// of the whole text. A [Judge] weighs the text shared with an earlier document, by rules 2 to 5, 7
// and 8 of docs/design.md, "The decision".
//
// The order of a text's segments does not matter to Features. Extract does not fail, whatever the
// bytes, and does not allocate once its buffers exist. It holds no more memory for a huge text than
// for a small one. The rules are written down in docs/canonical.md; a change of any of them changes
// the scheme's name.
package segments

import (
	"cmp"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
)

const (
	// DefaultSegments is how many segments are chosen when Scheme.Segments is 0.
	DefaultSegments = 50

	// DefaultMinWidth is the shortest segment, in columns, when
	// Scheme.MinWidth is 0: five Han characters or about two English words.
	DefaultMinWidth = 10

	// MaxSegments and MaxMinWidth bound a Scheme. A minimum above the shortest
	// piece of a cut segment would lose whole texts that have no punctuation.
	MaxSegments = 1024
	MaxMinWidth = canon.MinPiece
)

// A Scheme has the settings. Its zero value has the defaults.
type Scheme struct {
	Segments int    // chosen at most, 1 to MaxSegments; 0 is DefaultSegments
	MinWidth int    // the least of a segment, in columns, 1 to MaxMinWidth; 0 is DefaultMinWidth
	Key      []byte // of the hashes, 16 bytes or nil; the choice of segments does not depend on it
}

// An Extractor makes sketches. It is not for concurrent use: have one for each worker. It owns
// about 900 KiB of buffers; an ordinary document touches only as much as its own length.
type Extractor struct {
	minWidth int
	hash     digest.Hasher
	scanner  *canon.Scanner
	chosen   chooser
	short    length // of the pieces too short to be segments

	watch   func(*canon.Scanner) // nil if the words are not wanted
	waiting int                  // pieces since it was called
}

// NewExtractor returns an Extractor for the scheme, which must be valid.
func NewExtractor(s Scheme) *Extractor {
	e := &Extractor{
		minWidth: cmp.Or(s.MinWidth, DefaultMinWidth),
		hash:     digest.New(s.Key),
		scanner:  canon.NewScanner(),
		chosen:   newChooser(cmp.Or(s.Segments, DefaultSegments)),
	}
	e.scanner.Measure(e.minWidth)
	return e
}

// Watch has f called when the scanner has come to some more segments of a text, and at
// its end, for a method that wants all their words.
func (e *Extractor) Watch(f func(*canon.Scanner)) {
	e.scanner.CountUnits()
	e.watch = f
}

func (e *Extractor) tell() {
	e.waiting = 0
	if e.watch != nil {
		e.watch(e.scanner)
	}
}

// Extract overwrites dst with the sketch of text. It keeps no reference to either. Any bytes will
// do: those that are not UTF-8 separate segments.
func (e *Extractor) Extract(dst *method.Sketch, text []byte) {
	e.short = length{}
	e.chosen.reset()
	e.hash.Reset()
	s := e.scanner
	s.Reset(text)
	step := s.Next()
	for ; step != canon.End; step = s.Next() {
		if step == canon.Piece {
			e.piece()
			if e.waiting++; e.waiting < canon.Together {
				continue
			}
		}
		e.tell() // before Whole is written over it
		if step == canon.Part {
			e.hash.Part(s.Whole())
		}
	}
	e.tell()
	e.chosen.truncated = e.chosen.truncated || s.Passed()
	e.chosen.result(dst)
	for i := range dst.Features {
		f := &dst.Features[i]
		start, end := s.Trim(text, int(f.Start), int(f.End))
		f.Start, f.End = uint32(start), uint32(end)
		dst.Width += uint64(f.Width)
		dst.Units += uint64(f.Units)
	}
	columns, units := s.Short()
	dst.Width += e.short.columns + columns
	dst.Units += e.short.units + units
	dst.Whole = e.hash.Text(s.Whole())
}

// Key is the key of a segment of that canonical form.
func (e *Extractor) Key(form []byte) uint64 { return e.hash.Key(form, digest.Order(form)) }

// piece takes the piece that the scanner came to.
func (e *Extractor) piece() {
	s := e.scanner
	width := s.Width()
	if width < e.minWidth {
		e.short.columns += uint64(width)
		e.short.units += uint64(s.Units())
		return
	}
	if !e.chosen.wants(width) {
		return
	}
	form := s.Form()
	order := digest.Order(form)
	if !e.chosen.wantsOrder(width, order) {
		return
	}
	start, end := s.Range()
	e.chosen.add(method.Feature{
		Key: e.hash.Key(form, order), Order: order,
		Width: uint32(width), Units: uint32(s.Units()),
		Start: offset(start), End: offset(end),
	})
	if e.chosen.full {
		s.Pass(int(e.chosen.last.Width))
	}
}

// length is a length in both measures.
type length struct{ columns, units uint64 }

// offset is a position in the text, as far as it fits in 32 bits.
func offset(i int) uint32 {
	return uint32(min(uint64(i), 1<<32-1))
}
