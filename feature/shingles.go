package feature

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
)

// shingles is the method of w-shingling (Broder, "On the resemblance and containment of documents",
// SEQUENCES 1997). Documents are as alike as their sets of shingles, runs of five words.
// Min-hashing estimates this likeness. Bands of a signature find the documents to compare
// (Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", 3.4).
//
// The signature has 128 places by one permutation (Li, Owen, Zhang, "One Permutation Hashing", NIPS
// 2012). A shingle's hash selects its place, and the least hash of each place counts. An empty
// place borrows the value of another, chosen by a hash of place and attempt (Shrivastava, "Optimal
// Densification for Fast and Accurate Minwise Hashing", ICML 2017). The stored signature keeps
// eight bits of each place (b-bit minwise hashing, Li and König, WWW 2010).
var shingles = registered{
	Info: Info{
		Name: "shingles", Threshold: defaultSimilarity,
		Help:  "the sets of runs of five words are similar, as estimated by min-hash",
		Score: "the Jaccard similarity of the two sets of runs",
	},
	rules: "shingles1-" + canon.Version,
	numbers: []number{
		{
			letter: "w", name: "size", of: func(s *Scheme) *int { return &s.Shingle },
			usual: defaultShingle, least: 1, most: MaxShingle, what: "shingles of %d words",
		},
		{letter: "b", of: func(s *Scheme) *int { return &s.Bands }},
		{letter: "r", of: func(s *Scheme) *int { return &s.Rows }},
	},
	settle:   settleBands,
	features: func(s Scheme) int { return s.Bands },
	extractor: func(s Scheme) method.Extractor {
		return &shingler{scheme: s, reader: terms.NewReader(s.Key), hash: digest.New(s.Key)}
	},
	judge: newShingleJudge,
}

const (
	// MaxShingle bounds the words of a shingle. A shingle's hash rotates by 13 of 64 bits per word.
	MaxShingle     = 32
	defaultShingle = 5
	// defaultSimilarity is the least Jaccard similarity of copies.
	defaultSimilarity = 0.6

	places     = 128 // in a signature, one byte each
	placeShift = 64 - 7
	turn       = 13         // bits by which the hash of a shingle rotates per word
	none       = ^uint64(0) // the value of an empty place
)

// BandsFor chooses bands and rows of the method shingles for copies with a Jaccard similarity of t
// or more. The bands are as long as possible, so few other documents share one. Two documents of
// similarity t share a band with a probability of 1 - (1 - t^rows)^bands, at least 0.99.
func BandsFor(t float64) (bands, rows int) {
	for rows = 16; rows > 1; rows-- {
		bands = places / rows
		if missed := power(1-power(t, rows), bands); missed <= 0.01 {
			return bands, rows
		}
	}
	return places, 1
}

// power returns x^n. It rounds each product separately, so every machine gets the same result.
func power(x float64, n int) float64 {
	p := 1.0
	for range n {
		p = float64(p * x)
	}
	return p
}

func settleBands(s *Scheme) error {
	if s.Bands == 0 && s.Rows == 0 {
		s.Bands, s.Rows = BandsFor(defaultSimilarity)
	}
	if s.Bands < 1 || s.Rows < 1 || s.Bands > places || s.Rows > places || s.Bands*s.Rows > places {
		return fmt.Errorf("feature scheme: %d bands of %d places, want at least one of each and together at most %d places", s.Bands, s.Rows, places)
	}
	return nil
}

type shingler struct {
	scheme Scheme
	reader *terms.Reader
	hash   digest.Hasher

	words int // in the text so far
	run   uint64
	ring  [MaxShingle]uint64 // the last words; the word numbered i is at i modulo Shingle
	least [places]uint64     // the least hash of each place, shifted to drop the bits that select the place
	form  []byte             // of a band
}

// Extract writes the bands as features, the signature as data, and the number of shingles as Units.
// Repeated shingles count in Units. A text shorter than a shingle is one shingle. A text without
// words has none, and no signature.
func (e *shingler) Extract(dst *method.Sketch, text []byte) {
	*dst = method.Sketch{Features: dst.Features[:0], Data: dst.Data[:0]}
	e.words, e.run = 0, 0
	for i := range e.least {
		e.least[i] = none
	}
	dst.Whole = e.reader.Hashes(text, e.add)
	if e.words == 0 {
		return
	}
	if e.words < e.scheme.Shingle {
		e.shingle(e.run)
	}
	dst.Units = uint64(max(e.words-e.scheme.Shingle+1, 1))
	e.fill()
	e.bands(dst)
	for _, least := range e.least {
		dst.Data = append(dst.Data, byte(least))
	}
}

// add takes the next words of the text. The hash of a shingle is the XOR of its words' hashes, each
// rotated by 13 bits per word after it (cyclic polynomial, Cohen, ACM TOIS 15, 1997).
func (e *shingler) add(hashes []uint64) {
	w := e.scheme.Shingle
	for _, h := range hashes {
		at := e.words % w
		e.run = bits.RotateLeft64(e.run, turn) ^ h
		if e.words >= w {
			e.run ^= bits.RotateLeft64(e.ring[at], turn*w)
		}
		e.ring[at] = h
		if e.words++; e.words >= w {
			e.shingle(e.run)
		}
	}
}

// shingle enters the hash of a shingle in its place.
func (e *shingler) shingle(run uint64) {
	h := mix(run)
	place := &e.least[h>>placeShift]
	*place = min(*place, h<<(64-placeShift))
}

// fill copies other values into empty places. It then mixes every value: the high bits of a minimum
// are mostly zero, and its seven lowest always.
func (e *shingler) fill() {
	own := e.least
	for i, least := range own {
		for attempt := uint64(0); least == none; attempt++ {
			least = own[mix(uint64(i)<<32|attempt)>>placeShift]
		}
		e.least[i] = mix(least)
	}
}

// bands adds a feature for each band: a hash of the band's number and places.
func (e *shingler) bands(dst *method.Sketch) {
	for band := range e.scheme.Bands {
		e.form = append(e.form[:0], byte(band))
		for _, least := range e.least[band*e.scheme.Rows:][:e.scheme.Rows] {
			e.form = binary.LittleEndian.AppendUint64(e.form, least)
		}
		dst.Features = append(dst.Features, lead(&e.hash, e.form))
	}
	dst.Leads = len(dst.Features)
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

var minima = signature{
	bytes: places, counted: true,
	damaged: errors.New("the stored data of a document is not a signature of its shingles: the store is damaged, or another program wrote it"),
}

// newShingleJudge returns a judge that estimates the Jaccard similarity. It counts the raw places
// with equal bytes; two different values have equal bytes with a probability of 1/256:
//
//	J = (raw/places - 1/256) / (1 - 1/256) = (256 raw - places) / (255 places)
//
// Contained follows from J and the numbers of shingles, a and b: the texts have J (a + b) / (1 + J)
// shingles in common.
func newShingleJudge(_ Scheme, r method.Rules) method.Judge {
	compare := func(own *method.Sketch, other *stored) (f method.Finding) {
		raw := 0
		for i, b := range other.signature {
			if b == own.Data[i] {
				raw++
			}
		}
		num, den := uint64(max(256*raw-places, 0)), uint64(255*places)
		f.Score = method.Share(num, den)
		f.Share, f.Estimated = f.Score, true
		f.Contained = min(1, method.Share(num*(own.Units+other.units), (den+num)*own.Units))
		if f.Score >= r.Threshold {
			f.Relation = method.Copy
		}
		return f
	}
	return &signatureJudge{signature: &minima, compare: compare}
}
