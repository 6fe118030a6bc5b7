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
// SEQUENCES 1997): documents are alike as their sets of shingles, runs of five words, are. Min-hash
// estimates it, and bands of a signature find the documents to compare (Leskovec, Rajaraman, Ullman,
// "Mining of Massive Datasets", 3.4).
//
// The signature has 128 places by one permutation (Li, Owen, Zhang, "One Permutation Hashing", NIPS
// 2012): a shingle belongs to one place by its hash, and the least there counts. A place without a
// shingle has that of another, chosen by a hash of both (Shrivastava, "Optimal Densification for
// Fast and Accurate Minwise Hashing", ICML 2017). The stored signature has eight bits of each place
// (b-bit minwise hashing, Li and König, WWW 2010).
var shingles = registered{
	Info: Info{
		Name: "shingles", Threshold: defaultSimilarity,
		Help:  "the sets of runs of five words are alike, as min-hash estimates it",
		Score: "the Jaccard similarity of the two sets of runs",
	},
	rules: "shingles1-" + canon.Version,
	numbers: []number{
		{
			letter: "w", of: func(s *Scheme) *int { return &s.Shingle },
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
	// MaxShingle is the most words of a shingle: its hash is turned by 13 of 64 bits for each word.
	MaxShingle     = 32
	defaultShingle = 5
	// defaultSimilarity is the Jaccard similarity from which on documents are copies.
	defaultSimilarity = 0.6

	places     = 128 // of a signature, and its bytes
	placeShift = 64 - 7
	turn       = 13         // bits by which the hash of a shingle is rotated for each word
	none       = ^uint64(0) // the value of a place without a shingle
)

// BandsFor chooses the bands of the method shingles for documents that are copies from a Jaccard
// similarity of t on. They are as long as possible, so that few others share one. Two documents as
// alike as t must share one with a chance of at least 0.99. That chance is 1 - (1 - t^rows)^bands.
func BandsFor(t float64) (bands, rows int) {
	for rows = 16; rows > 1; rows-- {
		bands = places / rows
		if missed := power(1-power(t, rows), bands); missed <= 0.01 {
			return bands, rows
		}
	}
	return places, 1
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

	words int // of the text
	run   uint64
	ring  [MaxShingle]uint64 // the last words, at their number modulo its length
	least [places]uint64     // of each place the least hash, without the bits that say which
	form  []byte             // of a band
}

// Extract has the bands as features, the signature as data, and as Units the number of shingles,
// repeated ones included. A text of fewer words than a shingle has is one shingle; one without words
// has none, and no signature.
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

// add takes the next words of the text. The hash of a shingle is the XOR of its words'
// hashes, each rotated by 13 bits for each word behind it (cyclic polynomial, Cohen, ACM
// TOIS 15, 1997).
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

// shingle takes a shingle to its place.
func (e *shingler) shingle(run uint64) {
	h := mix(run)
	place := &e.least[h>>placeShift]
	*place = min(*place, h<<(64-placeShift))
}

// fill gives places without a shingle that of another, and mixes all: that a hash is the
// least of its place says much of its high bits.
func (e *shingler) fill() {
	own := e.least
	for i, least := range own {
		for attempt := uint64(0); least == none; attempt++ {
			least = own[mix(uint64(i)<<32|attempt)>>placeShift]
		}
		e.least[i] = mix(least)
	}
}

// bands makes features of the bands: each is the places it has, and which it is.
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
	damaged: errors.New("what is stored of a document is no signature of its shingles: the store is damaged, or another program's"),
}

// newShingleJudge returns a judge that estimates the Jaccard similarity. Of the places, raw have
// equal bytes, which two different values have by chance once in 256:
//
//	J = (raw/places - 1/256) / (1 - 1/256) = (256 raw - places) / (255 places)
//
// Contained follows from J and both numbers of shingles, a and b: the texts have
// J (a + b) / (1 + J) in common.
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
