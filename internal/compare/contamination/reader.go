package contamination

import (
	"bytes"
	"iter"
	"math/bits"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/units"
)

// turn is how many bits the hash of a run is rotated by for each word.
const turn = 13

// A reader brings texts into words. It is for one goroutine.
type reader struct {
	scanner *canon.Scanner
	hashes  []uint64
	text    *units.Text
	read    []word
}

// A word is one of a text.
type word struct {
	hash  uint64 // of its canonical form
	plain bool   // a number or a single letter, which says little
}

func newReader() *reader {
	r := &reader{scanner: canon.NewScanner(), text: units.New()}
	r.scanner.CountUnits()
	return r
}

// quickRuns calls f with a hash of each run of text. It is quick, and looks at 16 bytes of a word.
func (r *reader) quickRuns(text []byte, f func(run uint64)) {
	r.hashes = append(r.hashes[:0], make([]uint64, Run)...)
	n, h := 0, uint64(0)
	for r.scanner.Reset(text); ; {
		step := r.scanner.Next()
		if step == canon.Piece {
			continue
		}
		r.hashes = r.scanner.AppendUnits(r.hashes[:Run])
		for i, unit := range r.hashes[Run:] {
			h = bits.RotateLeft64(h, turn) ^ unit ^ bits.RotateLeft64(r.hashes[i], turn*Run)
			if n++; n >= Run {
				f(h)
			}
		}
		copy(r.hashes[:Run], r.hashes[len(r.hashes)-Run:])
		if step == canon.End {
			return
		}
	}
}

// words returns the words of text, valid until the next call. r.text then has their places.
func (r *reader) words(text []byte) []word {
	r.text.Read(text)
	r.read = r.read[:0]
	for i := range r.text.Len() {
		form := r.text.Form(i)
		r.read = append(r.read, word{xxh3.Hash(form), isPlain(form)})
	}
	return r.read
}

// isPlain reports whether a word is a number or a single letter of an alphabet.
func isPlain(form []byte) bool {
	return len(form) < 3 && utf8.RuneCount(form) == 1 || len(bytes.Trim(form, "0123456789")) == 0
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
