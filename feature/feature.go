// Package feature turns a text into fingerprints. They survive the small differences between two
// copies of a document: width, case, spacing, punctuation, line breaks, invisible characters, the
// order of paragraphs.
//
// A [Scheme] selects a method and its settings; [Methods] lists the methods. Package feature/method
// defines the interface of a method. Package feature/canon has the canonical form of a text, which
// all methods but bytes share.
//
//	e, err := feature.NewExtractor(feature.Scheme{})
//	var sketch feature.Sketch
//	for _, text := range texts {
//		e.Extract(&sketch, text) // overwrites sketch and reuses its memory
//	}
//
// Equal Scheme names give equal sketches of equal texts, on every machine and with every toolchain.
package feature

import (
	"fmt"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/feature/twostage"
)

const (
	MaxSegments = segments.MaxSegments
	MaxMinWidth = segments.MaxMinWidth
	MinPassage  = twostage.MinPassage
	// DefaultPassage is the usual value of Scheme.Passages.
	DefaultPassage = twostage.DefaultPassage
	MaxPassage     = twostage.MaxPassage
	// MaxData is the maximum length of Sketch.Data in bytes.
	MaxData = method.MaxData
)

type (
	// Sketch holds the data that a method extracts from one text.
	Sketch = method.Sketch
	// Feature is a property that two documents can share.
	Feature = method.Feature
	// Passage is a stretch of a text.
	Passage = method.Passage
	// Set is the former name of Sketch.
	Set = method.Sketch
)

// A Scheme selects a method with its settings. The zero value is the default.
type Scheme struct {
	// Method is the name of the method, one of [Methods]; "" selects the first.
	Method string

	// Segments bounds the number of longest distinct segments chosen: 1 to MaxSegments; 0 means 50.
	Segments int

	// MinWidth is the minimum width of a segment in columns, 1 to MaxMinWidth. 0 means 10: five Han
	// characters or about two English words.
	MinWidth int

	// Passages is the minimum length of a passage in words, MinPassage to MaxPassage; 0 finds none.
	// Only the default method uses it.
	Passages int

	// Shingle is the number of words in a shingle, 1 to MaxShingle; 0 means 5. Bands and Rows
	// divide the signature for look-ups; both 0 suits the default threshold. Only the method
	// shingles uses them.
	Shingle, Bands, Rows int

	// Distance is the number of bits in which the fingerprints of copies may differ, 1 to
	// MaxDistance; 0 means 3. Only the method simhash uses it.
	Distance int

	// Terms gives the rarity of terms. The method imatch requires it; simhash can use it.
	Terms *terms.Table

	// LeastRare and MostRare bound the rarity of the terms that count, in hundredths of the maximum
	// rarity. MostRare 0 means 30 and 70. Only the method imatch uses them.
	LeastRare, MostRare int

	// Key, if not nil, is a 16-byte secret for hashing texts. Without it, anyone can construct
	// plain words that collide with a chosen text. The choice of features does not depend on it.
	Key []byte
}

// New returns the scheme's method, or an error if a setting is out of range.
func (s Scheme) New() (method.Method, error) {
	m := s.registered()
	if m == nil {
		return nil, fmt.Errorf("feature scheme: there is no method %q", s.Method)
	}
	return m.choose(s)
}

func (s Scheme) must() method.Method {
	m, err := s.New()
	if err != nil {
		panic(err)
	}
	return m
}

// Validate returns an error for the first field out of range.
func (s Scheme) Validate() error {
	_, err := s.New()
	return err
}

// Locate returns the byte range of p, a passage of a Finding, in its text.
func Locate(text []byte, p Passage) (start, end int) { return twostage.Locate(text, p) }

// Name identifies the scheme in every file made with it, for instance "fs4-u15b-xxh3-n50-w10". It
// distinguishes secrets without revealing them. Sketches are comparable only under equal names. The
// scheme must be valid.
func (s Scheme) Name() string { return s.must().Name() }

// Features returns the maximum number of features of a text. The scheme must be valid.
func (s Scheme) Features() int { return s.must().Features() }

// KeysPerDoc returns the largest number of keys that a document adds to a filter: its features and
// its whole text, which has several keys without a table. It assumes the usual number of picks.
func (s Scheme) KeysPerDoc(filterOnly bool) uint64 {
	switch {
	case filterOnly:
		return uint64(s.Features()) + method.WholeKeys
	case s.Passages > 0:
		return uint64(s.Features()) + 1 + usualPicks
	}
	return uint64(s.Features()) + 1
}

// usualPicks is the typical number of picks in a document: one per 20 words, or 60 for a page of
// 1,200 words. Longer documents fill the filter earlier.
const usualPicks = 60

// Named returns the scheme with that name and key, and whether one without a table of terms exists.
func Named(name string, key []byte) (Scheme, bool) { return NamedWith(name, key, nil) }

// NamedWith is Named with a table of terms, which may be nil.
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

// An Extractor makes sketches. It is not safe for concurrent use; each worker needs its own.
type Extractor struct{ method.Extractor }

// NewExtractor returns an Extractor for the scheme, or the error of Validate.
func NewExtractor(s Scheme) (*Extractor, error) {
	m, err := s.New()
	if err != nil {
		return nil, err
	}
	return &Extractor{m.NewExtractor()}, nil
}

// ExtractFor is Extract, but if exact is set, dst gets no features. It is then the sketch of an
// empty text with the fingerprint of this one.
func (e *Extractor) ExtractFor(dst *Sketch, text []byte, exact bool) {
	e.Extract(dst, text)
	if exact && len(dst.Features) > 0 {
		whole := dst.Whole
		e.Extract(dst, nil)
		dst.Whole = whole
	}
}
