// Package segments is the method of the longest segments: the 50 longest distinct pieces of a text
// are its features. A document is a copy of an earlier one holding the threshold's share of its
// text.
//
// An [Extractor] keeps the longest distinct canonical pieces of a text (package canon). Each is kept
// as a 64-bit key with its length and its place in the text. Beside them stands a fingerprint
// of the whole text. A [Judge] weighs the text shared with an earlier document, by rules 2 to 5, 7
// and 8 of docs/design.md, "The decision".
//
//	e, err := segments.NewExtractor(segments.Scheme{})
//	var sketch method.Sketch
//	for _, text := range texts {
//		e.Extract(&sketch, text) // sketch is overwritten, its memory reused
//	}
//
// The package promises: equal Scheme names give equal features for equal texts, on every machine,
// built with any toolchain. The order of a text's segments does not matter to Features. Extract
// does not fail, whatever the bytes, and does not allocate once its buffers exist. It holds no more
// memory for a huge text than for a small one. The rules are written down in docs/canonical.md; a
// change of any of them changes the scheme's name.
package segments

import (
	"fmt"

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

// rules is the version of everything in docs/canonical.md, that of the canonical
// form last. It is the first part of a scheme's name.
const rules = "fs1-" + canon.Version

// A Scheme is the method with its settings: it says which features a text has. Its
// zero value is the default.
type Scheme struct {
	// Segments is how many of the longest distinct segments are chosen,
	// 1 to MaxSegments; 0 is DefaultSegments.
	Segments int

	// MinWidth is the length in columns below which a piece of text is not a
	// segment, 1 to MaxMinWidth; 0 is DefaultMinWidth.
	MinWidth int

	// Key, if not nil, is a secret of 16 bytes under which texts are hashed:
	// segments by SipHash-2-4, whole texts by HighwayHash. Without it the hash
	// is XXH3, for which plain words can be written that collide with a chosen
	// text. The choice of segments does not depend on it.
	Key []byte
}

// Validate reports the first field out of range.
func (s Scheme) Validate() error {
	if s.Segments < 0 || s.Segments > MaxSegments {
		return fmt.Errorf("feature scheme: %d segments, want 1 to %d", s.Segments, MaxSegments)
	}
	if s.MinWidth < 0 || s.MinWidth > MaxMinWidth {
		return fmt.Errorf("feature scheme: minimum width %d, want 1 to %d", s.MinWidth, MaxMinWidth)
	}
	return digest.Check(s.Key)
}

// Name identifies the scheme in every file made with it, for instance "fs1-u15b-xxh3-n50-w10". It
// names the versions of the rules and of Unicode, whose tables are part of them. It also names the
// hash, the number of segments, and the minimum width. For a keyed scheme the hash is
// "siphash+highway" with eight hex digits that distinguish keys without revealing the key. Features
// of schemes with different names cannot be compared. The scheme must be valid.
func (s Scheme) Name() string {
	s = s.filled()
	return fmt.Sprintf("%s-%s-n%d-w%d", rules, digest.Name(s.Key), s.Segments, s.MinWidth)
}

// Named returns the scheme of a name, and whether it is one of this method under this
// key. The two numbers in it are all that can be chosen beside the key; the rest of
// the name must then come out the same.
func Named(name string, key []byte) (Scheme, bool) {
	s := Scheme{Key: key}
	for at := range name {
		if n, _ := fmt.Sscanf(name[at:], "-n%d-w%d", &s.Segments, &s.MinWidth); n == 2 {
			break
		}
	}
	return s, s.Validate() == nil && s.Name() == name
}

// Features is how many segments are chosen at most.
func (s Scheme) Features() int { return s.filled().Segments }

// NewExtractor returns an Extractor. The scheme must be valid.
func (s Scheme) NewExtractor() method.Extractor {
	e, err := NewExtractor(s)
	if err != nil {
		panic(err)
	}
	return e
}

// NewJudge returns a [Judge].
func (s Scheme) NewJudge(r method.Rules) method.Judge { return NewJudge(r) }

// filled is the scheme with its defaults written out.
func (s Scheme) filled() Scheme {
	if s.Segments == 0 {
		s.Segments = DefaultSegments
	}
	if s.MinWidth == 0 {
		s.MinWidth = DefaultMinWidth
	}
	return s
}
