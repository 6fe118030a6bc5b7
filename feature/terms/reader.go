package terms

import (
	"math"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
)

// A Reader reads texts word by word. It is not safe for concurrent use; each worker needs its own.
// It owns about 900 KiB of buffers, but an ordinary text touches only as much as its own length.
//
// A word is a CJK character, or a stretch of other characters between those and spaces, in
// canonical form (package canon). A term is a word or a pair of adjacent CJK characters. A lone CJK
// character is also a term. So Chinese needs no dictionary.
type Reader struct {
	scanner *canon.Scanner
	whole   digest.Hasher
	hashes  []uint64
}

// NewReader returns a Reader. key is the 16-byte secret for fingerprints of whole texts, or nil.
func NewReader(key []byte) *Reader {
	return &Reader{scanner: canon.NewScanner(), whole: digest.New(key)}
}

// Parts calls each with the parts of the canonical text. It returns the text's fingerprint.
func (r *Reader) Parts(text []byte, each func(part []byte)) (whole uint64) {
	return r.read(text, math.MaxInt, func() {}, each)
}

// Hashes calls each with batches of word hashes ([canon.HashUnit]) of all segments of text. It
// returns the fingerprint of the whole text.
func (r *Reader) Hashes(text []byte, each func(words []uint64)) (whole uint64) {
	r.scanner.CountUnits()
	return r.read(text, canon.Together, func() {
		r.hashes = r.scanner.AppendUnits(r.hashes[:0])
		r.scanner.ForgetSegments()
		each(r.hashes)
	}, func([]byte) {})
}

// Terms calls each with batches of hashes of the text's terms, in order and canonical form. It
// returns the fingerprint of the whole text.
func (r *Reader) Terms(text []byte, each func(terms []uint64)) (whole uint64) {
	return r.read(text, math.MaxInt, func() {
		r.hashes = r.appendTerms(r.hashes[:0], r.scanner.Text())
		each(r.hashes)
	}, func([]byte) {})
}

// read scans a text. It calls latest after each batch of pieces, and before it passes a part to
// each.
func (r *Reader) read(text []byte, pieces int, latest func(), each func(part []byte)) (whole uint64) {
	r.whole.Reset()
	s, waiting := r.scanner, 0
	for s.Reset(text); ; {
		step := s.Next()
		if waiting++; step == canon.Piece && waiting < pieces {
			continue
		}
		waiting = 0
		latest()
		if step == canon.Piece {
			continue
		}
		part := s.Whole()
		each(part)
		if step == canon.End {
			return r.whole.Text(part)
		}
		r.whole.Part(part)
	}
}

// appendTerms appends the hashes of the terms in canonical text.
func (r *Reader) appendTerms(dst []uint64, text []byte) []uint64 {
	var last []byte // the CJK character directly before, or nil
	paired := false // last is already in a pair
	unit, rest := r.scanner.NextUnit(text)
	for ; unit != nil; unit, rest = r.scanner.NextUnit(rest) {
		start := len(text) - len(rest) - len(unit)
		joined := last != nil && start > 0 && text[start-1] != ' '
		if last != nil && !joined && !paired {
			dst = append(dst, xxh3.Hash(last))
		}
		if !r.scanner.IsCJK(unit) {
			if joined && !paired {
				dst = append(dst, xxh3.Hash(last))
			}
			dst = append(dst, xxh3.Hash(unit))
			last = nil
			continue
		}
		if joined {
			dst = append(dst, xxh3.Hash(text[start-len(last):start+len(unit)]))
		}
		last, paired = unit, joined
	}
	if last != nil && !paired {
		dst = append(dst, xxh3.Hash(last))
	}
	return dst
}
