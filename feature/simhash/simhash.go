// Package simhash is the method of fingerprints that are near if their texts are (Charikar,
// "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002; Manku, Jain, Das Sarma,
// "Detecting Near-Duplicates for Web Crawling", WWW 2007). Two documents are copies if their
// fingerprints of 64 bits differ in at most three.
//
// Each term of a text has a hash, and votes with its weight for each bit: for it if its hash has
// the bit set, against it if not. The fingerprint has the bits with more votes for than against. A
// term weighs one for each occurrence. If a table of terms is given, it weighs more the rarer it is
// (TF-IDF).
//
// Near fingerprints need not share any key to look up. So all kept fingerprints are in memory too,
// see [Scheme.NewMemory].
package simhash

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/hamming"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/feature/words"
)

const version = "simhash1-" + canon.Version + "-"

// The distances: how many bits may differ by default, and at most.
const (
	DefaultDistance = 3
	MaxDistance     = hamming.MaxDistance
)

// A Scheme is the method with its settings. Its zero value is the default.
type Scheme struct {
	// Distance is how many bits the fingerprints of copies may differ in, 1 to
	// MaxDistance; 0 is DefaultDistance.
	Distance int
	// Terms, if not nil, says how much a term weighs.
	Terms *terms.Table
	// Key, if not nil, is a secret of 16 bytes for the fingerprints of whole texts and
	// for keys. Whether two documents are near does not depend on it.
	Key []byte
}

// Validate reports the first field out of range.
func (s Scheme) Validate() error {
	if s.Distance < 0 || s.Distance > MaxDistance {
		return fmt.Errorf("feature scheme: fingerprints that differ in %d bits, want 1 to %d", s.Distance, MaxDistance)
	}
	return digest.Check(s.Key)
}

func (s Scheme) filled() Scheme {
	if s.Distance == 0 {
		s.Distance = DefaultDistance
	}
	return s
}

// Name identifies the scheme, for instance "simhash1-u15b-xxh3-d3" or
// "simhash1-u15b-xxh3-t0123456789abcdef-d3": version, canonical form, hash, digest of the
// table of terms if there is one, distance.
func (s Scheme) Name() string {
	s = s.filled()
	table := ""
	if s.Terms != nil {
		table = "-t" + s.Terms.Digest()
	}
	return fmt.Sprintf("%s%s%s-d%d", version, digest.Name(s.Key), table, s.Distance)
}

// Named returns the scheme of a name, and whether it is one of this method under this
// key and with this table of terms, nil for none.
func Named(name string, key []byte, table *terms.Table) (Scheme, bool) {
	s := Scheme{Key: key, Terms: table}
	if !strings.HasPrefix(name, version) {
		return s, false
	}
	if at := strings.LastIndex(name, "-d"); at >= 0 {
		_, _ = fmt.Sscanf(name[at:], "-d%d", &s.Distance) // else the names differ
	}
	return s, s.Validate() == nil && s.Name() == name
}

// Features is 1: the fingerprint.
func (Scheme) Features() int { return 1 }

// NewExtractor returns an Extractor. The scheme must be valid.
func (s Scheme) NewExtractor() method.Extractor { return NewExtractor(s) }

// NewJudge returns a Judge. The rules have nothing to say to it.
func (s Scheme) NewJudge(method.Rules) method.Judge { return &Judge{distance: s.filled().Distance} }

// Weight is how often a term that comes once counts.
func (s Scheme) Weight(term uint64) uint64 {
	if s.Terms == nil {
		return 1
	}
	return uint64(s.Terms.Rarity(term))
}

// An Extractor makes sketches. It is not for concurrent use: have one for each worker.
type Extractor struct {
	scheme Scheme
	reader *words.Reader
	hash   digest.Hasher
	take   func([]uint64)
	votes  Votes
}

// NewExtractor returns an Extractor for the scheme, which must be valid.
func NewExtractor(s Scheme) *Extractor {
	if err := s.Validate(); err != nil {
		panic(err)
	}
	e := &Extractor{scheme: s.filled(), reader: words.NewReader(s.Key), hash: digest.New(s.Key)}
	e.take = e.add
	return e
}

// Extract overwrites dst with the sketch of text: the fingerprint as the only feature,
// and as data. A text without terms that weigh anything has none.
func (e *Extractor) Extract(dst *method.Sketch, text []byte) {
	*dst = method.Sketch{Features: dst.Features[:0], Data: dst.Data[:0]}
	e.votes = Votes{}
	dst.Whole = e.reader.Terms(text, e.take)
	if e.votes.all == 0 {
		return
	}
	dst.Data = binary.LittleEndian.AppendUint64(dst.Data, e.votes.Fingerprint())
	dst.Features = append(dst.Features, feature(&e.hash, dst.Data))
	dst.Leads = 1
}

// feature returns the feature that a fingerprint is kept under.
func feature(h *digest.Hasher, form []byte) method.Feature {
	order := digest.Order(form)
	return method.Feature{Key: h.Key(form, order), Order: order}
}

func (e *Extractor) add(terms []uint64) {
	for _, term := range terms {
		e.votes.Add(term, e.scheme.Weight(term))
	}
}

// Votes are the votes of a text's terms for the bits of its fingerprint: 64 sums. planes[i] has the
// i-th bit of each sum. So a vote for all bits is a few additions of 64 bits at once; adding one
// after the other takes ten times as long. The zero value has no votes.
type Votes struct {
	all    uint64 // the weight of all
	planes [64]uint64
}

// Add adds the votes of a term with that hash.
func (v *Votes) Add(hash, weight uint64) {
	v.all += weight
	for ; weight != 0; weight &= weight - 1 {
		carry := hash
		for i := bits.TrailingZeros64(weight); carry != 0; i++ {
			plane := &v.planes[i&63]
			*plane, carry = *plane^carry, *plane&carry
		}
	}
}

// Fingerprint has the bits for which more than half of the weight votes.
func (v *Votes) Fingerprint() (f uint64) {
	for bit := range 64 {
		var sum uint64
		for i := range bits.Len64(v.all) {
			sum |= v.planes[i] >> bit & 1 << i
		}
		if 2*sum > v.all {
			f |= 1 << bit
		}
	}
	return f
}

// A Judge compares documents by their fingerprints.
type Judge struct {
	method.ByKeys
	distance int
}

var errRecord = errors.New("what is stored of a document is no fingerprint of 64 bits: the store is damaged, or another program's")

// parse reads a record written by Record: the fingerprint is empty if there is none.
func parse(record []byte) (whole uint64, fingerprint []byte, err error) {
	if len(record) != 8 && len(record) != 16 {
		return 0, nil, errRecord
	}
	return binary.LittleEndian.Uint64(record), record[8:], nil
}

// Record appends the fingerprint of the whole text and that of its terms, if there is
// one.
func (j *Judge) Record(dst []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(dst, j.Sketch.Whole), j.Sketch.Data...)
}

// Same compares both fingerprints.
func (j *Judge) Same(record []byte) (same bool, features int, err error) {
	whole, _, err := parse(record) // terms go by how a text is cut, and a comma may cut it
	return err == nil && whole == j.Sketch.Whole, 0, err
}

// Compare counts the bits that differ. The score is the share of those that do not.
func (j *Judge) Compare(_ *method.Candidate, record []byte) (f method.Finding, err error) {
	_, other, err := parse(record)
	if err != nil || len(other) == 0 || len(j.Sketch.Data) == 0 {
		return f, err
	}
	f.ByDistance = true
	f.Distance = bits.OnesCount64(binary.LittleEndian.Uint64(other) ^ binary.LittleEndian.Uint64(j.Sketch.Data))
	f.Score = float64(64-f.Distance) / 64
	f.Share = f.Score
	if f.Distance <= j.distance {
		f.Relation = method.Copy
	}
	return f, nil
}
