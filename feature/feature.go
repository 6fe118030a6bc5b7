// Package feature turns a text into fingerprints that survive the small changes two copies of one
// document show: width, case, spacing, punctuation, line breaks, invisible characters, the order of
// paragraphs.
//
// A [Scheme] chooses a method and its settings; [Methods] lists all methods. Package feature/method
// defines a method. Package feature/canon has the part they share: the canonical form of a text.
//
//	e, err := feature.NewExtractor(feature.Scheme{})
//	var sketch feature.Sketch
//	for _, text := range texts {
//		e.Extract(&sketch, text) // sketch is overwritten, its memory reused
//	}
//
// The package promises: equal Scheme names give equal sketches of equal texts, on every machine,
// built with any toolchain.
package feature

import (
	"fmt"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/feature/twostage"
)

// The limits of a Scheme's settings.
const (
	MaxSegments = segments.MaxSegments
	MaxMinWidth = segments.MaxMinWidth
	MinPassage  = twostage.MinPassage
	// DefaultPassage is the usual Scheme.Passages.
	DefaultPassage = twostage.DefaultPassage
	MaxPassage     = twostage.MaxPassage
	// MaxData is the most bytes of a Sketch's Data.
	MaxData = method.MaxData
)

type (
	// Sketch holds what a method extracts from one text.
	Sketch = method.Sketch
	// Feature is one of the things a document can have in common with another.
	Feature = method.Feature
	// Passage is a stretch of a text.
	Passage = method.Passage
	// Set is the name of a Sketch when there was one method.
	Set = method.Sketch
)

// A Scheme selects how alike texts are recognised: a method with its settings. Its zero value is
// the default.
type Scheme struct {
	// Method is the name of the method, one of [Methods]; "" is the first of them.
	Method string

	// Segments is how many of the longest distinct segments are chosen,
	// 1 to MaxSegments; 0 is 50.
	Segments int

	// MinWidth is the length in columns below which a piece of text is not a
	// segment, 1 to MaxMinWidth; 0 is 10: five Han characters or about two
	// English words.
	MinWidth int

	// Passages is the fewest words of the passages to find, MinPassage to MaxPassage; 0 finds none.
	// Of the default method alone.
	Passages int

	// Shingle is how many words a shingle has, 1 to MaxShingle; 0 is 5. Bands and Rows are
	// how its signatures are looked up; both 0 suits the default threshold. Of the
	// method shingles alone.
	Shingle, Bands, Rows int

	// Distance is the number of bits in which the fingerprints of copies may differ, 1 to
	// MaxDistance; 0 is 3. Of the method simhash alone.
	Distance int

	// Terms says how rare a term is. The method imatch needs it, simhash can use it.
	Terms *terms.Table

	// LeastRare and MostRare are how rare terms are that count, in hundredths of the
	// rarest; MostRare 0 is 30 and 70. Of the method imatch alone.
	LeastRare, MostRare int

	// Key, if not nil, is a secret of 16 bytes under which texts are hashed.
	// Without it, plain words can be written that collide with a chosen text.
	// The choice of features does not depend on it.
	Key []byte
}

// New returns the method with its settings, or an error if one is out of range.
func (s Scheme) New() (method.Method, error) {
	m := s.registered()
	if m == nil {
		return nil, fmt.Errorf("feature scheme: there is no method %q", s.Method)
	}
	return m.choose(s)
}

// must is New of a valid scheme.
func (s Scheme) must() method.Method {
	m, err := s.New()
	if err != nil {
		panic(err)
	}
	return m
}

// Validate reports the first field out of range.
func (s Scheme) Validate() error {
	_, err := s.New()
	return err
}

// Locate finds a passage of a Finding in the text it is of: from the first byte to the one
// behind the last.
func Locate(text []byte, p Passage) (start, end int) { return twostage.Locate(text, p) }

// Name identifies the scheme in every file made with it, for instance "fs1-u15b-xxh3-n50-w10". It
// distinguishes secrets without revealing them. Sketches of schemes with different names cannot be
// compared. The scheme must be valid.
func (s Scheme) Name() string { return s.must().Name() }

// Features is the most features that a text can have. The scheme must be valid.
func (s Scheme) Features() int { return s.must().Features() }

// Named returns the scheme of a name, with that key, and whether there is one that needs
// no table of terms.
func Named(name string, key []byte) (Scheme, bool) { return NamedWith(name, key, nil) }

// NamedWith is Named of schemes with that table of terms; nil is none.
func NamedWith(name string, key []byte, table *terms.Table) (Scheme, bool) {
	for _, m := range registry {
		s := Scheme{Method: m.Info.Name, Key: key}
		if m.weighsTerms {
			s.Terms = table
		}
		if m.parse(&s, name) && s.Validate() == nil && s.Name() == name {
			return s, true
		}
	}
	return Scheme{Key: key}, false
}

// An Extractor makes sketches. It is not for concurrent use: have one for each
// worker.
type Extractor struct{ method.Extractor }

// NewExtractor returns an Extractor for the scheme, or the error of Validate.
func NewExtractor(s Scheme) (*Extractor, error) {
	m, err := s.New()
	if err != nil {
		return nil, err
	}
	return &Extractor{m.NewExtractor()}, nil
}

// ExtractFor is Extract, but makes no features if only exact copies are to be found: the sketch is
// that of an empty text, with the fingerprint of this one.
func (e *Extractor) ExtractFor(dst *Sketch, text []byte, exact bool) {
	e.Extract(dst, text)
	if exact && len(dst.Features) > 0 {
		whole := dst.Whole
		e.Extract(dst, nil)
		dst.Whole = whole
	}
}
