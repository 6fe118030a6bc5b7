// Package feature turns a text into fingerprints that survive the small
// changes two copies of one document show: width, case, spacing, punctuation,
// line breaks, invisible characters, the order of paragraphs.
//
// An Extractor cuts a text at its punctuation into segments, brings each into
// a canonical form, and keeps the distinct segments that are longest, each as
// a 64-bit key with its length and its place in the text. Beside them stands
// a fingerprint of the whole text.
//
//	e, err := feature.NewExtractor(feature.Scheme{})
//	var set feature.Set
//	for _, text := range texts {
//		e.Extract(&set, text) // set is overwritten, its memory reused
//	}
//
// What it promises: equal Scheme names give equal features for equal texts, on
// every machine, built with any toolchain; the order of a text's segments does
// not matter to Features;
// Extract does not fail, whatever the bytes, does not allocate once its
// buffers are there, and holds no more memory for a huge text than for a small
// one. The rules are written down in docs/canonical.md; a change of any of them
// changes the scheme's name.
package feature

import (
	"encoding/binary"
	"fmt"

	"github.com/dchest/siphash"

	"github.com/firstseen/firstseen/feature/canon"
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

// A Scheme says which features a text has. Its zero value is the default.
type Scheme struct {
	// Segments is how many of the longest distinct segments are chosen,
	// 1 to MaxSegments; 0 is DefaultSegments.
	Segments int

	// MinWidth is the length in columns below which a piece of text is not a
	// segment, 1 to MaxMinWidth; 0 is DefaultMinWidth.
	MinWidth int

	// Key, if not nil, is a secret of 16 bytes under which texts are hashed:
	// segments by SipHash-2-4, whole texts by HighwayHash. Without it the hash
	// is XXH3, for which anybody can write plain words that collide with a
	// text of his choice. Which segments are chosen does not depend on it.
	Key []byte
}

// Validate reports the first field that is out of range.
func (s Scheme) Validate() error {
	if s.Segments < 0 || s.Segments > MaxSegments {
		return fmt.Errorf("feature scheme: %d segments, want 1 to %d", s.Segments, MaxSegments)
	}
	if s.MinWidth < 0 || s.MinWidth > MaxMinWidth {
		return fmt.Errorf("feature scheme: minimum width %d, want 1 to %d", s.MinWidth, MaxMinWidth)
	}
	if s.Key != nil && len(s.Key) != 16 {
		return fmt.Errorf("feature scheme: a key of %d bytes, want 16", len(s.Key))
	}
	return nil
}

// Name identifies the scheme in every file made with it, for instance
// "fs1-u15-xxh3-n50-w10": the version of the rules, the version of Unicode whose
// tables are part of them, the hash, the number of segments, the minimum
// width. For a keyed scheme the hash is "siphash+highway" with eight hex digits
// that tell keys apart and do not give the key away. Features of schemes with
// different names cannot be compared. The scheme must be valid.
func (s Scheme) Name() string {
	s = s.filled()
	hash := "xxh3"
	if s.Key != nil {
		k0, k1 := sipKey(s.Key)
		hash = fmt.Sprintf("siphash+highway(%08x)", uint32(siphash.Hash(k0, k1, []byte("firstseen key id"))))
	}
	return fmt.Sprintf("%s-%s-n%d-w%d", rules, hash, s.Segments, s.MinWidth)
}

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

// sipKey splits a 16-byte key as SipHash's authors do, little-endian.
func sipKey(key []byte) (k0, k1 uint64) {
	return binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])
}

// A Feature is one chosen segment.
type Feature struct {
	// Key is the scheme's hash of the segment's canonical form.
	Key uint64

	// Order is the XXH3-64 of the same, whatever the scheme's hash: by it
	// segments of one width are put in order, so that the choice is the same
	// for every secret. In a scheme without one it equals Key. It is no proof
	// that two segments are the same: collisions can be constructed.
	Order uint64

	// Width is the length of the canonical form in columns: 2 for a wide (Han,
	// kana, Hangul) character, 0 for a combining mark, 1 for any other.
	Width uint32

	// Units is the length in words: a CJK character is one, and so is every
	// stretch of others between spaces or CJK characters.
	Units uint32

	// Start and End are the byte range, in the text given to Extract, of the
	// segment's first occurrence, without white space around it. A text's part
	// beyond 4 GiB is treated as all other text, but its offsets stop there.
	Start, End uint32
}

// A Set is what is known of one text. It holds no pointers into the text and is
// made to be used again and again.
type Set struct {
	// Features are the chosen distinct segments: the longest first, equal
	// lengths by ascending Order; at most Scheme.Segments.
	Features []Feature

	// Whole is the fingerprint of the whole text: of all its canonical words
	// and symbols in order, however short it is.
	Whole uint64

	// Width is the text's length in columns: of the chosen segments, once each,
	// and of every piece too short to be a segment. As the denominator of a
	// share of text it has a meaning only when the set is not Truncated.
	Width uint64

	// Units is the same in words.
	Units uint64

	// Truncated says that the text has more distinct segments than were chosen.
	Truncated bool
}
