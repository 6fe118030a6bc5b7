package shingles

import (
	"encoding/binary"
	"math/bits"

	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/words"
)

const (
	turn       = 13 // bits by which the hash of a shingle is rotated for each word
	placeShift = 64 - 7
	none       = ^uint64(0) // the value of a place without a shingle
)

// An Extractor makes sketches. It is not for concurrent use: have one for each worker.
type Extractor struct {
	scheme Scheme
	reader *words.Reader
	hash   digest.Hasher
	take   func([]uint64)

	words int // of the text
	run   uint64
	ring  [MaxWords]uint64 // the last words, at their number modulo its length
	least [Places]uint64   // of each place the least hash, without the bits that say which
	form  []byte           // of a band
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

// Extract overwrites dst with the sketch of text: the bands as features, the signature as
// data, and as Units the number of its shingles, repeated ones included. A text of fewer
// words than a shingle has is one shingle; one without words has none, and no signature.
func (e *Extractor) Extract(dst *method.Sketch, text []byte) {
	*dst = method.Sketch{Features: dst.Features[:0], Data: dst.Data[:0]}
	e.words, e.run = 0, 0
	for i := range e.least {
		e.least[i] = none
	}
	dst.Whole = e.reader.Hashes(text, e.take)
	if e.words == 0 {
		return
	}
	if e.words < e.scheme.Words {
		e.shingle(e.run)
	}
	dst.Units = uint64(max(e.words-e.scheme.Words+1, 1))
	e.fill()
	e.bands(dst)
	for _, least := range e.least {
		dst.Data = append(dst.Data, byte(least))
	}
}

// add takes the next words of the text. The hash of a shingle is the XOR of its words'
// hashes, each rotated by 13 bits for each word behind it (cyclic polynomial, Cohen, ACM
// TOIS 15, 1997).
func (e *Extractor) add(hashes []uint64) {
	w := e.scheme.Words
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
func (e *Extractor) shingle(run uint64) {
	h := mix(run)
	place := &e.least[h>>placeShift]
	*place = min(*place, h<<(64-placeShift))
}

// fill gives places without a shingle that of another, and mixes all: that a hash is the
// least of its place says much of its high bits.
func (e *Extractor) fill() {
	own := e.least
	for i, least := range own {
		for attempt := uint64(0); least == none; attempt++ {
			least = own[mix(uint64(i)<<32|attempt)>>placeShift]
		}
		e.least[i] = mix(least)
	}
}

// bands makes features of the bands: each is the places it has, and which it is.
func (e *Extractor) bands(dst *method.Sketch) {
	for band := range e.scheme.Bands {
		e.form = append(e.form[:0], byte(band))
		for _, least := range e.least[band*e.scheme.Rows:][:e.scheme.Rows] {
			e.form = binary.LittleEndian.AppendUint64(e.form, least)
		}
		order := digest.Order(e.form)
		dst.Features = append(dst.Features, method.Feature{Key: e.hash.Key(e.form, order), Order: order})
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
