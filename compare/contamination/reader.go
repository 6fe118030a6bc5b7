package contamination

import (
	"bytes"
	"iter"
	"math/bits"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/canon"
)

// turn is how many bits the hash of a run is rotated by for each word.
const turn = 13

// A reader brings texts into words. It is for one goroutine.
type reader struct {
	scanner *canon.Scanner
	locator *canon.Locator
	read    []word
	hashes  []uint64
}

// A word is one of a text.
type word struct {
	hash  uint64 // of all of its canonical form
	first bool   // of its piece: a separator is before it
	plain bool   // a number or a single letter, which says little
}

func newReader() *reader {
	r := &reader{scanner: canon.NewScanner(), locator: canon.NewLocator()}
	r.scanner.CountUnits()
	return r
}

// quickRuns calls f with a hash of each run of text. It is quick, and looks at 16 bytes of a word.
func (r *reader) quickRuns(text []byte, f func(run uint64)) {
	r.hashes = append(r.hashes[:0], make([]uint64, Run)...)
	words, h := 0, uint64(0)
	for r.scanner.Reset(text); ; {
		step := r.scanner.Next()
		if step == canon.Piece {
			continue
		}
		r.hashes = r.scanner.AppendUnits(r.hashes[:Run])
		for i, unit := range r.hashes[Run:] {
			h = bits.RotateLeft64(h, turn) ^ unit ^ bits.RotateLeft64(r.hashes[i], turn*Run)
			if words++; words >= Run {
				f(h)
			}
		}
		copy(r.hashes[:Run], r.hashes[len(r.hashes)-Run:])
		if step == canon.End {
			return
		}
	}
}

// words returns the words of text, valid until the next call.
func (r *reader) words(text []byte) []word {
	r.read = r.read[:0]
	for range r.pieces(text) {
		first := true
		for unit, rest := r.scanner.NextUnit(r.scanner.Form()); unit != nil; unit, rest = r.scanner.NextUnit(rest) {
			r.read = append(r.read, word{xxh3.Hash(unit), first, isPlain(unit)})
			first = false
		}
	}
	return r.read
}

// pieces goes through the pieces of text, which the scanner then holds.
func (r *reader) pieces(text []byte) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		r.scanner.Reset(text)
		for step := r.scanner.Next(); step != canon.End; step = r.scanner.Next() {
			if step == canon.Piece && !yield(struct{}{}) {
				return
			}
		}
	}
}

// place returns the byte range in text of its words from the first to the last.
func (r *reader) place(text []byte, first, last int) (start, end int) {
	at := 0
	for range r.pieces(text) {
		n := 0
		for unit, rest := r.scanner.NextUnit(r.scanner.Form()); unit != nil; unit, rest = r.scanner.NextUnit(rest) {
			n++
		}
		if at+n > first {
			from, to := r.scanner.Range()
			from, to = r.scanner.Trim(text, from, to)
			ranges := r.locator.AppendUnits(nil, text, from, to)
			if len(ranges) != n { // cut out of a longer piece, within a character
				ranges = append(make([]canon.ByteRange, n-1), canon.ByteRange{Start: from, End: to})
				ranges[0].Start = from
			}
			if at <= first {
				start = ranges[first-at].Start
			}
			if at+n > last {
				return start, ranges[last-at].End
			}
		}
		at += n
	}
	return start, len(text)
}

// runsOf goes through the hashes of the runs of words, each with the number of its first word.
func runsOf(words []word) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		h := uint64(0)
		for i, w := range words {
			h = bits.RotateLeft64(h, turn) ^ w.hash
			if i >= Run {
				h ^= bits.RotateLeft64(words[i-Run].hash, turn*Run)
			}
			if i >= Run-1 && !yield(i-Run+1, h) {
				return
			}
		}
	}
}

// points returns a byte range of text in code points.
func points(text []byte, start, end int) (from, to int) {
	from = utf8.RuneCount(text[:start])
	return from, from + utf8.RuneCount(text[start:end])
}

// isPlain reports whether a word is a number or a single letter of an alphabet.
func isPlain(unit []byte) bool {
	return len(unit) < 3 && utf8.RuneCount(unit) == 1 || len(bytes.Trim(unit, "0123456789")) == 0
}
