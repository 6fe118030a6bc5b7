// Package words goes through texts word by word, for methods that know texts by their words: as
// hashes of words, or as terms.
//
// A word is a CJK character, or a stretch of others between those and spaces, in the canonical form
// (package canon). A term is a unit that an index of texts would count: a word, or two adjacent CJK
// characters, for each such pair. A CJK character standing alone is a term by itself. So Chinese is
// indexed without a dictionary.
package words

import (
	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
)

// together is after how many pieces of a text their words are asked for: so many that
// none was written a moment ago, see [canon.Scanner.AppendUnits].
const together = 64

// A Reader goes through texts. It is not for concurrent use: have one for each worker. It owns
// about 900 KiB of buffers; an ordinary text touches only as much as its own length.
type Reader struct {
	scanner *canon.Scanner
	whole   digest.Hasher
	hashes  []uint64
}

// NewReader returns a Reader whose fingerprints of whole texts are under a secret of 16
// bytes; nil is none.
func NewReader(key []byte) *Reader {
	r := &Reader{scanner: canon.NewScanner(), whole: digest.New(key)}
	r.scanner.CountUnits()
	return r
}

// Hashes calls each with [canon.HashUnit] of the words of all segments of text, some at a
// time, and returns the fingerprint of the whole text.
func (r *Reader) Hashes(text []byte, each func(words []uint64)) (whole uint64) {
	r.whole.Reset()
	s, waiting := r.scanner, 0
	for s.Reset(text); ; {
		step := s.Next()
		if step == canon.Piece {
			if waiting++; waiting < together {
				continue
			}
		}
		waiting = 0
		r.hashes = s.AppendUnits(r.hashes[:0])
		each(r.hashes)
		switch step {
		case canon.Part:
			r.whole.Part(s.Whole())
		case canon.End:
			return r.whole.Text(s.Whole())
		}
	}
}

// Terms calls each with the terms of text in their order, some at a time, as hashes of
// their canonical form, and returns the fingerprint of the whole text.
func (r *Reader) Terms(text []byte, each func(terms []uint64)) (whole uint64) {
	r.whole.Reset()
	s := r.scanner
	for s.Reset(text); ; {
		step := s.Next()
		if step == canon.Piece {
			continue
		}
		r.hashes = r.appendTerms(r.hashes[:0], s.Text())
		each(r.hashes)
		if step == canon.End {
			return r.whole.Text(s.Whole())
		}
		r.whole.Part(s.Whole())
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
