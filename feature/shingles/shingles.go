// Package shingles is the method of w-shingling (Broder, "On the resemblance and containment of
// documents", SEQUENCES 1997): documents are alike as their sets of shingles, runs of five words,
// are. Min-hash estimates it, and bands of a signature find the documents to compare (Leskovec,
// Rajaraman, Ullman, "Mining of Massive Datasets", 3.4).
//
// The signature has 128 places by one permutation (Li, Owen, Zhang, "One Permutation Hashing", NIPS
// 2012): a shingle belongs to one place by its hash, and the least there counts. A place without a
// shingle has that of another, chosen by a hash of both (Shrivastava, "Optimal Densification for
// Fast and Accurate Minwise Hashing", ICML 2017). The stored signature has eight bits of each place
// (b-bit minwise hashing, Li and König, WWW 2010).
package shingles

import (
	"fmt"
	"strings"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
)

const version = "shingles1-" + canon.Version + "-"

// The sizes of the method.
const (
	// Places is how many places a signature has, and how many bytes.
	Places = 128
	// DefaultWords is the default number of words in a shingle, MaxWords the largest: a hash of a
	// shingle is turned by 13 of 64 bits for each word.
	DefaultWords = 5
	MaxWords     = 32
	// DefaultThreshold is the Jaccard similarity from which on documents are copies.
	DefaultThreshold = 0.6
)

// A Scheme is the method with its settings. Its zero value is the default.
type Scheme struct {
	// Words is how many words a shingle has, 1 to MaxWords; 0 is DefaultWords.
	Words int
	// Bands is how many bands of a signature are looked up, and Rows how many places
	// each has: together at most Places. Both 0 is BandsFor(DefaultThreshold).
	Bands, Rows int
	// Key, if not nil, is a secret of 16 bytes for fingerprints and keys.
	Key []byte
}

// BandsFor chooses bands for documents that are copies from a Jaccard similarity of t on. They are
// as long as possible, so that few others share one. Two documents as alike as t must share one
// with a chance of at least 0.99. That chance is 1 - (1 - t^rows)^bands.
func BandsFor(t float64) (bands, rows int) {
	for rows = 16; rows > 1; rows-- {
		bands = Places / rows
		if missed := power(1-power(t, rows), bands); missed <= 0.01 {
			return bands, rows
		}
	}
	return Places, 1
}

// power multiplies one after the other: each product is rounded by itself, the same on
// every machine.
func power(x float64, n int) float64 {
	p := 1.0
	for range n {
		p = float64(p * x)
	}
	return p
}

// Validate reports the first field out of range.
func (s Scheme) Validate() error {
	f := s.filled()
	if f.Words < 1 || f.Words > MaxWords {
		return fmt.Errorf("feature scheme: shingles of %d words, want 1 to %d", f.Words, MaxWords)
	}
	if f.Bands < 1 || f.Rows < 1 || f.Bands > Places || f.Rows > Places || f.Bands*f.Rows > Places {
		return fmt.Errorf("feature scheme: %d bands of %d places, want at least one of each and together at most %d places", f.Bands, f.Rows, Places)
	}
	return digest.Check(s.Key)
}

// Name identifies the scheme, for instance "shingles1-u15b-xxh3-w5-b42-r3": version,
// canonical form, hash, words of a shingle, bands and their places.
func (s Scheme) Name() string {
	s = s.filled()
	return fmt.Sprintf("%s%s-w%d-b%d-r%d", version, digest.Name(s.Key), s.Words, s.Bands, s.Rows)
}

// Named returns the scheme of a name, and whether it is one of this method under this
// key.
func Named(name string, key []byte) (Scheme, bool) {
	s := Scheme{Key: key}
	if !strings.HasPrefix(name, version) {
		return s, false
	}
	for at := range name {
		if n, _ := fmt.Sscanf(name[at:], "-w%d-b%d-r%d", &s.Words, &s.Bands, &s.Rows); n == 3 {
			break
		}
	}
	return s, s.Validate() == nil && s.Name() == name
}

// Features is how many bands there are.
func (s Scheme) Features() int { return s.filled().Bands }

// NewExtractor returns an Extractor. The scheme must be valid.
func (s Scheme) NewExtractor() method.Extractor { return NewExtractor(s) }

// NewJudge returns a Judge: r.Threshold is a Jaccard similarity.
func (s Scheme) NewJudge(r method.Rules) method.Judge { return &Judge{threshold: r.Threshold} }

// filled is the scheme with its defaults written out.
func (s Scheme) filled() Scheme {
	if s.Words == 0 {
		s.Words = DefaultWords
	}
	if s.Bands == 0 && s.Rows == 0 {
		s.Bands, s.Rows = BandsFor(DefaultThreshold)
	}
	return s
}
