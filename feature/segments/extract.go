// Package segments chooses the segments of a text, its 50 longest distinct pieces, and weighs those
// that an earlier document has.
//
// An [Extractor] keeps the longest distinct canonical pieces of a text (package canon). Each has a
// 64-bit key, a length and a place in the text. It also fingerprints the whole text. A [Judge]
// weighs the text shared with an earlier document by rules 2 to 4 of docs/design.md, "The
// decision".
//
// The order of a text's segments does not affect Features. Extract accepts any bytes, never fails,
// and allocates nothing once its buffers exist. Its memory does not grow with the text.
// docs/canonical.md has the rules; changing any of them changes the scheme's name.
package segments

import (
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
)

const (
	// DefaultSegments is the number of segments if Scheme.Segments is 0.
	DefaultSegments = 50

	// DefaultMinWidth is the minimum width in columns if Scheme.MinWidth is 0: five Han characters
	// or about two English words.
	DefaultMinWidth = 10

	// MaxSegments and MaxMinWidth bound a Scheme. With a minimum above the shortest piece of a cut
	// segment, whole texts without punctuation would be lost.
	MaxSegments = 1024
	MaxMinWidth = canon.MinPiece
)

// A Scheme has the settings. Its zero value has the defaults.
type Scheme struct {
	Segments int    // maximum number of segments, 1 to MaxSegments; 0 means DefaultSegments
	MinWidth int    // minimum width in columns, 1 to MaxMinWidth; 0 means DefaultMinWidth
	Key      []byte // for hashing, 16 bytes or nil; the choice of segments does not depend on it
}

// An Extractor makes sketches. It is not safe for concurrent use; each worker needs its own. It
// owns 100 KiB of buffers, and up to 900 after a text of many parts or of one long segment.
type Extractor struct {
	minWidth int
	hash     digest.Hasher
	scanner  *canon.Scanner
	chosen   chooser
	short    length // of the pieces too short to be segments

	watch   func(*canon.Scanner) // nil if not wanted
	waiting int                  // pieces since the last call of watch
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

// Watch registers f for a method that needs all words of a text. f is called after every few
// segments and at the end of the text.
func (e *Extractor) Watch(f func(*canon.Scanner)) {
	e.scanner.CountUnits()
	e.watch = f
}

// KeepPlaces makes the scanner that f is called with keep places.
func (e *Extractor) KeepPlaces() { e.scanner.KeepPlaces(canon.BetweenPlaces) }

func (e *Extractor) tell() {
	e.waiting = 0
	if e.watch != nil {
		e.watch(e.scanner)
		e.scanner.ForgetSegments()
	}
}

// Extract overwrites dst with the sketch of text and keeps no reference to either. The text may
// hold any bytes: invalid UTF-8 separates segments.
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
		e.tell() // before Whole overwrites it
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

// Key returns the key of a segment with the given canonical form.
func (e *Extractor) Key(form []byte) uint64 { return e.hash.Key(form, digest.Order(form)) }

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

type length struct{ columns, units uint64 }

// offset returns a position in the text, capped to 32 bits.
func offset(i int) uint32 {
	return uint32(min(uint64(i), 1<<32-1))
}

// A chooser keeps the first n distinct features in the order of compare. It collects up to 2n, or
// more if n is small, and then discards all but n. So a text of a million segments costs little
// more than one pass. From then on it knows the last feature that could be chosen.
type chooser struct {
	n         int
	features  []method.Feature
	spare     []method.Feature // with the same capacity
	ranks     []uint64
	counts    [widthLimit + 2]uint16
	last      method.Feature // the n-th so far
	full      bool           // last is valid
	truncated bool           // a distinct feature was discarded
}

func newChooser(n int) chooser {
	size := max(2*n, 128)
	return chooser{
		n:        n,
		features: make([]method.Feature, 0, size),
		spare:    make([]method.Feature, 0, size),
		ranks:    make([]uint64, 0, size),
	}
}

func (c *chooser) reset() {
	c.features = c.features[:0]
	c.full, c.truncated = false, false
}

// compare orders features by descending Width, then by Order, and occurrences of one segment by
// position. The secret Key matters only for segments constructed to have equal Orders.
func compare(a, b method.Feature) int {
	return cmp.Or(
		cmp.Compare(b.Width, a.Width),
		cmp.Compare(a.Order, b.Order),
		cmp.Compare(a.Key, b.Key),
		cmp.Compare(a.Start, b.Start),
	)
}

// wants reports whether a segment of that width may be chosen. If not, it need not be hashed.
func (c *chooser) wants(width int) bool {
	if c.full && uint32(width) < c.last.Width {
		c.truncated = true
		return false
	}
	return true
}

// wantsOrder reports whether to add a segment accepted by wants. One with the Order of the last may
// be a repeat or a different segment.
func (c *chooser) wantsOrder(width int, order uint64) bool {
	if !c.full || uint32(width) > c.last.Width || order <= c.last.Order {
		return true
	}
	c.truncated = true
	return false
}

func (c *chooser) add(f method.Feature) {
	c.features = append(c.features, f)
	if len(c.features) == cap(c.features) {
		c.compact()
	}
}

// compact sorts the features and drops repeats and all after the n-th.
func (c *chooser) compact() {
	if !c.sortByRank() {
		slices.SortFunc(c.features, compare)
		c.features = slices.CompactFunc(c.features, func(a, b method.Feature) bool {
			return a.Key == b.Key && a.Width == b.Width
		})
	}
	if len(c.features) > c.n {
		c.features = c.features[:c.n]
		c.truncated = true
	}
	if len(c.features) == c.n {
		c.last, c.full = c.features[c.n-1], true
	}
}

// A rank orders features by one number: the width, the bits of the order that fit, and the index.
// The index keeps the first occurrence of a segment first.
const (
	widthBits  = 9
	widthLimit = 1<<widthBits - 1
	placeMask  = 1<<12 - 1

	_ = uint(widthLimit - canon.MaxWidth) // each width fits
)

// sortByRank sorts and drops repeats like compare, in a fifth of the time, and drops features
// narrower than the n-th. It reports false, with the features unchanged, if a rank cannot
// distinguish two of them.
func (c *chooser) sortByRank() bool {
	c.rank()
	sorted := c.spare[:0]
	for from, to := 0, 0; from < len(c.ranks); from = to {
		if len(sorted) >= c.n {
			c.truncated = true
			break
		}
		to = int(c.counts[c.ranks[from]>>(64-widthBits)])
		ranks := c.ranks[from:to] // of one width
		if len(ranks) > 1 {
			slices.Sort(ranks)
		}
		for i, rank := range ranks {
			f := c.features[rank&placeMask]
			if i > 0 && (rank^ranks[i-1])&^placeMask == 0 {
				if last := &sorted[len(sorted)-1]; f.Order != last.Order || f.Key != last.Key {
					return false
				}
				continue
			}
			sorted = append(sorted, f)
		}
	}
	c.features, c.spare = sorted, c.features
	return true
}

// rank fills ranks by a counting sort, since widths are few. counts then has the end of each width.
func (c *chooser) rank() {
	wide, narrow := uint32(0), uint32(widthLimit)
	for _, f := range c.features {
		wide, narrow = max(wide, f.Width), min(narrow, f.Width)
	}
	clear(c.counts[widthLimit-wide:])
	for _, f := range c.features {
		c.counts[widthLimit-f.Width+1]++
	}
	for i := widthLimit - wide + 1; i <= widthLimit-narrow; i++ {
		c.counts[i] += c.counts[i-1]
	}
	c.ranks = c.ranks[:len(c.features)]
	for i, f := range c.features {
		place := &c.counts[widthLimit-f.Width]
		c.ranks[*place] = uint64(widthLimit-f.Width)<<(64-widthBits) | f.Order>>widthBits&^placeMask | uint64(i)
		*place++
	}
}

// result writes the chosen features to dst and clears its other fields.
func (c *chooser) result(dst *method.Sketch) {
	c.compact()
	*dst = method.Sketch{Features: append(dst.Features[:0], c.features...), Truncated: c.truncated, Data: dst.Data[:0]}
}
