package twostage

import (
	"math/bits"
	"sync"

	"github.com/firstseen/firstseen/feature/canon"
)

const (
	// runWords is how many words a run has.
	runWords = 5
	// binCount is how many minima a sketch has.
	binCount = 128
	// maxKeys is how many runs a maker names.
	maxKeys = 8

	binShift  = 64 - 7  // a run's bin is the highest 7 bits of its hash
	cells     = 1 << 15 // of hashes, to count the different ones
	cellShift = 64 - 15
	turn      = 13 // bits by which a run's hash is rotated for each word
)

// oftenUntil is the run from which on least hashes are seldom found: one in nine and fewer.
const oftenUntil = 1024

// A maker makes sketches. It is not for concurrent use. Its buffers are 10 KiB, and up to
// 3 MiB once there was a text of that many words without punctuation.
type maker struct {
	words  int
	least  [binCount]uint64   // the least hash of each bin, without the bits that say which
	places [binCount]uint32   // of the first run that has it: its first word
	seen   [cells / 64]uint64 // a bit for each cell of hashes with a run
	filled uint64             // cells with one of the first oftenUntil runs
	hash   uint64             // of the last four words
	hashes []uint64           // of words, those four first
}

// none is the value of a bin without a run.
const none = ^uint64(0)

// newMaker returns a maker.
func newMaker() *maker {
	m := &maker{hashes: make([]uint64, runWords-1, 512)}
	m.Reset()
	return m
}

// Reset makes ready for the next text.
func (m *maker) Reset() {
	m.words, m.hash = 0, 0
	for i := range m.least {
		m.least[i] = none
	}
	clear(m.hashes[:runWords-1])
	clear(m.seen[:])
	m.filled = 0
}

// Segments takes the latest segments of a scanner that counts units. Runs go on from one segment to
// the next.
//
// The hash of a run is the XOR of its words' hashes, each rotated by 13 bits for each word behind
// it (cyclic polynomial, Cohen, ACM TOIS 15, 1997). Its seven highest bits are its bin; the least
// of the others counts there.
func (m *maker) Segments(s *canon.Scanner) {
	m.hashes = s.AppendUnits(m.hashes[:runWords-1])
	n := len(m.hashes) - (runWords - 1)
	skip := min(max(runWords-1-m.words, 0), n) // words with which no run ends yet
	m.words += n
	h := m.hash
	in, out := m.hashes[runWords-1:][:n], m.hashes[:n]
	for _, word := range in[:skip] {
		h = bits.RotateLeft64(h, turn) ^ word
	}
	in, out = in[skip:], out[skip:]
	place := max(m.words-n-(runWords-1), 0) // of the first run here
	early := min(max(oftenUntil-place, 0), len(in))
	h = m.often(h, place, in[:early], out[:early])
	m.hash = m.seldom(h, place+early, in[early:], out[early:])
	copy(m.hashes[:runWords-1], m.hashes[n:])
}

// often takes the runs that end with the words of in, of which the first is at place; those of out
// leave them. h is the hash of the four words before. Least hashes are found often. It is a function of
// its own, as is seldom, so that all of a loop is in registers.
func (m *maker) often(h uint64, place int, in, out []uint64) uint64 {
	out = out[:len(in)]
	filled := m.filled
	for i, word := range in {
		h = bits.RotateLeft64(h, turn) ^ word
		bin, rest := h>>binShift, h<<(64-binShift)
		least, at := m.least[bin], m.places[bin]
		if rest < least { // without a jump: it would be unpredictable
			at = uint32(place + i)
		}
		m.least[bin], m.places[bin] = min(least, rest), at
		seen, bit := m.seen[h>>(cellShift+6)], h>>cellShift&63
		filled += 1 &^ (seen >> bit)
		m.seen[h>>(cellShift+6)] = seen | 1<<bit
		h ^= bits.RotateLeft64(out[i], turn*(runWords-1))
	}
	m.filled = filled
	return h
}

// seldom is often where least hashes are seldom found.
func (m *maker) seldom(h uint64, place int, in, out []uint64) uint64 {
	out = out[:len(in)]
	for i, word := range in {
		h = bits.RotateLeft64(h, turn) ^ word
		bin, rest := h>>binShift, h<<(64-binShift)
		if rest < m.least[bin] {
			m.least[bin], m.places[bin] = rest, uint32(place+i)
		}
		m.seen[h>>(cellShift+6)] |= 1 << (h >> cellShift & 63)
		h ^= bits.RotateLeft64(out[i], turn*(runWords-1))
	}
	return h
}

// Latest are the hashes of the words that Segments took last, valid until its next call.
func (m *maker) Latest() []uint64 { return m.hashes[runWords-1:] }

// Runs is how many runs the text has, repeated ones included: four less than it has
// words.
func (m *maker) Runs() int { return max(m.words-(runWords-1), 0) }

// Distinct is how many different runs the text has, by linear counting (Whang, Vander-Zanden, Taylor,
// ACM TODS 15, 1990): of cells on which they fall at random, so many are left empty. The standard error is
// below 1% up to 100,000 runs, and 4% at 260,000. If no cell is empty, it is Runs.
func (m *maker) Distinct() int {
	empty := cells - int(m.filled)
	if m.Runs() > oftenUntil {
		empty = cells
		for _, word := range m.seen {
			empty -= bits.OnesCount64(word)
		}
	}
	if empty == 0 {
		return m.Runs()
	}
	return min(int(drawn()[empty]), m.Runs())
}

// drawn returns, for each number of empty cells, how many different runs leave so many: to fill one
// more when k are empty takes cells/k. Whole numbers alone, so that every machine gets the same.
var drawn = sync.OnceValue(func() *[cells + 1]uint32 {
	var n [cells + 1]uint32
	sum := uint64(0) // in 2^-32
	for k := cells; k > 0; k-- {
		n[k] = uint32((sum + 1<<31) >> 32)
		sum += cells << 32 / uint64(k)
	}
	return &n
})

// AppendKeys appends the hashes of at most n runs: the least of their bins, and the least of
// those. Texts with most runs in common have most of these in common.
func (m *maker) AppendKeys(dst []uint64, n int) []uint64 {
	from := len(dst)
	for bin, least := range m.least {
		switch full := len(dst)-from == n; {
		case least == none, full && (n == 0 || dst[from+n-1]&^(binCount-1) <= least):
			continue
		case !full:
			dst = append(dst, 0)
		}
		at := len(dst) - 1
		for ; at > from && dst[at-1]&^(binCount-1) > least; at-- {
			dst[at] = dst[at-1]
		}
		dst[at] = least | uint64(bin)
	}
	return dst
}

// sketch brings the sketch of the text into s.
func (m *maker) Sketch(s *sketch) {
	*s = sketch{}
	for bin, least := range m.least {
		if least != none {
			s.set(bin, nibble(least))
		}
	}
}

// nibble returns the kept number of the least hash in a bin, 1 to 15. It comes from the hash's
// lowest bits, which are not those that make it the least.
func nibble(least uint64) uint64 {
	return 1 + least>>(64-binShift)&(1<<32-1)*15>>32
}
