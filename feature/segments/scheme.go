// Package segments is the method of the longest segments: the 50 longest distinct pieces of a text
// are its features. A document is a copy of an earlier one holding the threshold's share of its
// text.
//
// An [Extractor] keeps the longest distinct canonical pieces of a text (package canon). Each is kept
// as a 64-bit key with its length and its place in the text. Beside them stands a fingerprint
// of the whole text. A [Judge] weighs the text shared with an earlier document, by rules 2 to 5, 7
// and 8 of docs/design.md, "The decision".
//
//	e := segments.NewExtractor(segments.Scheme{})
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

import "github.com/firstseen/firstseen/feature/canon"

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
