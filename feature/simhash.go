package feature

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
)

// simhash is the method whose fingerprints are close if the texts are (Charikar, "Similarity
// Estimation Techniques from Rounding Algorithms", STOC 2002; Manku, Jain, Das Sarma, "Detecting
// Near-Duplicates for Web Crawling", WWW 2007). Two documents are copies if their 64-bit
// fingerprints differ in at most three bits.
//
// Each term votes with its weight on every bit of the fingerprint: for it if the term's hash has
// the bit set, else against it. The fingerprint has the bits with more votes for than against. A
// term weighs one per occurrence. With a table of terms, its weight grows with its rarity (TF-IDF).
//
// Close fingerprints need not share a key to look up. So all kept ones are also in memory.
var simhash = registered{
	Info: Info{
		Name:  "simhash",
		Help:  "fingerprints of 64 bits, of weighted terms, differ in at most 3 bits",
		Score: "the share of the 64 bits that are the same",
	},
	rules:       "simhash1-" + canon.Version,
	weighsTerms: true,
	numbers: []number{{
		letter: "d", name: "distance", of: func(s *Scheme) *int { return &s.Distance },
		usual: 3, least: 1, most: MaxDistance, what: "fingerprints that differ in %d bits",
	}},
	features: func(Scheme) int { return 1 },
	extractor: func(s Scheme) method.Extractor {
		return &voter{table: s.Terms, reader: terms.NewReader(s.Key), hash: digest.New(s.Key)}
	},
	judge: newDistanceJudge,
	memory: func(s Scheme) method.Memory {
		return &fingerprints{index: newNearIndex(s.Distance), hash: digest.New(s.Key)}
	},
	memoryFor: func(s Scheme, documents uint64) uint64 { return nearIndexBytes(documents, s.Distance) },
}

type voter struct {
	table  *terms.Table
	reader *terms.Reader
	hash   digest.Hasher
	votes  votes
}

// Extract writes the fingerprint as the only feature and as data. A text of weight 0 gets neither.
func (e *voter) Extract(dst *method.Sketch, text []byte) {
	*dst = method.Sketch{Features: dst.Features[:0], Data: dst.Data[:0]}
	e.votes = votes{}
	dst.Whole = e.reader.Terms(text, e.add)
	if e.votes.all == 0 {
		return
	}
	dst.Data = binary.LittleEndian.AppendUint64(dst.Data, e.votes.fingerprint())
	dst.Features = append(dst.Features, lead(&e.hash, dst.Data))
	dst.Leads = 1
}

func (e *voter) add(hashes []uint64) {
	for _, term := range hashes {
		weight := uint64(1)
		if e.table != nil {
			weight = uint64(e.table.Rarity(term))
		}
		e.votes.add(term, weight)
	}
}

// votes sums a text's votes for the 64 bits of its fingerprint. planes[i] has the i-th bit of each
// sum, so a few 64-bit operations add a vote for all bits. Adding to 64 separate sums takes ten
// times as long. The zero value has no votes.
type votes struct {
	all    uint64 // the total weight
	planes [64]uint64
}

func (v *votes) add(hash, weight uint64) {
	v.all += weight
	for ; weight != 0; weight &= weight - 1 {
		carry := hash
		for i := bits.TrailingZeros64(weight); carry != 0; i++ {
			plane := &v.planes[i&63]
			*plane, carry = *plane^carry, *plane&carry
		}
	}
}

// fingerprint returns the bits with more than half of the total weight.
func (v *votes) fingerprint() (f uint64) {
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

var fingerprint = signature{
	bytes:   8,
	damaged: errors.New("the stored data of a document is not a fingerprint of 64 bits: the store is damaged, or another program wrote it"),
}

// newDistanceJudge returns a judge of differing bits. The score is the share of equal bits.
func newDistanceJudge(s Scheme, _ method.Rules) method.Judge {
	compare := func(own *method.Sketch, other *stored) method.Finding {
		f := method.Finding{ByDistance: true}
		f.Distance = bits.OnesCount64(binary.LittleEndian.Uint64(other.signature) ^ binary.LittleEndian.Uint64(own.Data))
		f.Score = float64(64-f.Distance) / 64
		f.Share = f.Score
		if f.Distance <= s.Distance {
			f.Relation = method.Copy
		}
		return f
	}
	return &signatureJudge{signature: &fingerprint, compare: compare}
}

// fingerprints holds the fingerprints of all kept documents: a method.Memory that finds close ones.
// A document takes about 33 bytes with the default distance.
type fingerprints struct {
	index *nearIndex
	hash  digest.Hasher
	near  []uint64
	form  []byte
}

// Add implements method.Memory.
func (m *fingerprints) Add(record []byte) error {
	s, err := fingerprint.parse(record)
	if err != nil || len(s.signature) == 0 {
		return err
	}
	return m.index.Add(binary.LittleEndian.Uint64(s.signature))
}

// Near implements method.Memory. It finds every fingerprint within the distance.
func (m *fingerprints) Near(dst []method.Feature, s *method.Sketch) []method.Feature {
	if len(s.Data) == 0 {
		return dst
	}
	m.near = m.index.Find(m.near[:0], binary.LittleEndian.Uint64(s.Data))
	slices.Sort(m.near)
	for _, f := range slices.Compact(m.near) {
		m.form = binary.LittleEndian.AppendUint64(m.form[:0], f)
		dst = append(dst, lead(&m.hash, m.form))
	}
	return dst
}
