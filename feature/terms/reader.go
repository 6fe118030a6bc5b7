package terms

import (
	"math"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
)

// A Reader goes through texts word by word. It is not for concurrent use: have one for each
// worker. It owns about 900 KiB of buffers; an ordinary text touches only as much as its own
// length.
//
// A word is a CJK character, or a stretch of others between those and spaces, in the canonical form
// (package canon). A term is a unit that an index of texts would count: a word, or two adjacent CJK
// characters, for each such pair. A CJK character standing alone is a term by itself. So Chinese is
// indexed without a dictionary.
type Reader struct {
	scanner *canon.Scanner
	whole   digest.Hasher
	hashes  []uint64
}

// NewReader returns a Reader whose fingerprints of whole texts are under a secret of 16
// bytes; nil is none.
func NewReader(key []byte) *Reader {
	return &Reader{scanner: canon.NewScanner(), whole: digest.New(key)}
}

// Parts calls each with the parts of the canonical text, and returns its fingerprint.
func (r *Reader) Parts(text []byte, each func(part []byte)) (whole uint64) {
	return r.read(text, math.MaxInt, func() {}, each)
}

// Hashes calls each with [canon.HashUnit] of the words of all segments of text, some at a
// time, and returns the fingerprint of the whole text.
func (r *Reader) Hashes(text []byte, each func(words []uint64)) (whole uint64) {
	r.scanner.CountUnits()
	return r.read(text, canon.Together, func() {
		r.hashes = r.scanner.AppendUnits(r.hashes[:0])
		each(r.hashes)
	}, func([]byte) {})
}

// Terms calls each with the terms of text in their order, some at a time, as hashes of
// their canonical form, and returns the fingerprint of the whole text.
func (r *Reader) Terms(text []byte, each func(terms []uint64)) (whole uint64) {
	return r.read(text, math.MaxInt, func() {
		r.hashes = r.appendTerms(r.hashes[:0], r.scanner.Text())
		each(r.hashes)
	}, func([]byte) {})
}

// read goes through a text. It calls latest after every so many pieces, and before each part of
// the text is handed to each.
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

// appendTerms appends the terms of canonical text.
func (r *Reader) appendTerms(dst []uint64, text []byte) []uint64 {
	var last []byte // a CJK character right before, nil for none
	paired := false // it is in a term
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
