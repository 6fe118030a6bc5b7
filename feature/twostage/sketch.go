package twostage

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/firstseen/firstseen/feature/letters"
	"github.com/firstseen/firstseen/feature/method"
)

// A sketch serves to estimate the share of text that two documents have in common. It has a number
// from 1 to 15 for each bin, or 0 for an empty bin. A word has sixteen bins of four bits, the
// lowest first.
type sketch [letters.Bins / perWord]uint64

// sketchOf returns the sketch of the text that m read last.
func sketchOf(m *letters.Maker) (s sketch) {
	for bin := range letters.Bins {
		number, _ := m.Bin(bin)
		s.set(bin, number)
	}
	return s
}

const (
	perWord = 16
	lows    = 0x1111_1111_1111_1111 // the lowest bit of each four
	values  = 15                    // of a filled bin
)

func (s *sketch) set(bin int, v uint64) { s[bin/perWord] |= v << (bin % perWord * 4) }

func (s *sketch) at(bin int) uint64 { return s[bin/perWord] >> (bin % perWord * 4) & 15 }

// filled returns the lowest bit of every four bits that are not 0.
func filled(x uint64) uint64 {
	x |= x >> 2
	return (x | x>>1) & lows
}

func (s *sketch) size() (n int) {
	for _, x := range s {
		n += bits.OnesCount64(filled(x))
	}
	return n
}

// whole is the length in bytes of a sketch that lists every bin.
const whole = letters.Bins / 2

// Append appends the sketch to b as described in docs/format.md. A sparse sketch lists only filled
// bins.
func (s *sketch) Append(b []byte) []byte {
	n := s.size()
	b = append(b, byte(n))
	if short := letters.Bins/8 + (n+1)/2; short >= whole {
		for _, x := range s {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		return b
	}
	mask, from := len(b), len(b)+letters.Bins/8
	var few [whole]byte // an upper bound
	b = append(b, few[:letters.Bins/8+(n+1)/2]...)
	i := 0
	for bin := range letters.Bins {
		if v := s.at(bin); v != 0 {
			b[mask+bin/8] |= 1 << (bin % 8)
			b[from+i/2] |= byte(v << (i % 2 * 4))
			i++
		}
	}
	return b
}

// Parse reads a sketch, written by Append, at the start of b. It returns the rest of b.
func (s *sketch) Parse(b []byte) (rest []byte, err error) {
	*s = sketch{}
	if len(b) == 0 || b[0] > letters.Bins {
		return b, errRecord
	}
	n := int(b[0])
	b = b[1:]
	length := min(whole, letters.Bins/8+(n+1)/2)
	if len(b) < length {
		return b, errRecord
	}
	if length == whole {
		for i := range s {
			s[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	} else if !s.parseFew(n, b[:letters.Bins/8], b[letters.Bins/8:length]) {
		return b, errRecord
	}
	if s.size() != n {
		return b, errRecord
	}
	return b[length:], nil
}

// parseFew reads the n bins marked in mask. It reports whether their number is n and an unused half
// byte is 0.
func (s *sketch) parseFew(n int, mask, numbers []byte) bool {
	i := 0
	for bin := range letters.Bins {
		if mask[bin/8]>>(bin%8)&1 == 0 {
			continue
		}
		if i == n {
			return false
		}
		s.set(bin, uint64(numbers[i/2]>>(i%2*4)&15))
		i++
	}
	return i == n && (n%2 == 0 || numbers[n/2]>>4 == 0)
}

// An overlap is the estimated number of runs that two documents have in common, as a fraction.
// Integer arithmetic gives the same result on every machine.
type overlap struct {
	Num, Den uint64 // for documents of at most 2^40 runs, Num < 2^52 and Den < 2^12
}

// Compare estimates the overlap of two documents of a and b runs.
//
// Of the n bins filled in s or t, both is the number filled in s and t, and raw the number with
// equal values. Two different minima have equal numbers with a probability of 1/15. The estimated
// Jaccard similarity is therefore
//
//	J = (raw - both/15) / ((1 - 1/15) n) = (15 raw - both) / (14 n)
//
// The runs in common are J (a + b) / (1 + J), which is Num / Den.
func (s *sketch) Compare(t *sketch, a, b uint64) overlap {
	raw, both, either := s.count(t)
	j := uint64(max(values*raw-both, 0))
	return overlap{Num: j * (a + b), Den: uint64((values-1)*either) + j}
}

// count returns the number of bins with equal numbers, filled in both, and filled in either.
func (s *sketch) count(t *sketch) (raw, both, either int) {
	for i, x := range s {
		y := t[i]
		fx, fy := filled(x), filled(y)
		both += bits.OnesCount64(fx & fy)
		either += bits.OnesCount64(fx | fy)
		raw += bits.OnesCount64(fx & fy &^ filled(x^y))
	}
	return raw, both, either
}

// Contains reports whether t, a document of b runs, contains 80% of the a runs of s beyond doubt.
// At exactly 80% the Jaccard similarity would be 4a / (a + 5b), and a bin would agree with the
// probability
//
//	p = J + (1 - J)/15 = (57a + 5b) / (15a + 75b)
//
// It requires more than three standard errors above that, which leaves one chance in 700.
func (s *sketch) Contains(t *sketch, a, b uint64) bool {
	raw, _, either := s.count(t)
	p := float64(57*a+5*b) / float64(15*a+75*b)
	n := float64(either)
	above := float64(raw) - float64(n*p)
	return above > 0 && float64(above*above) > float64(9*n)*float64(p*(1-p))
}

// Share returns the common share of a document of n runs, 0 to 1.
func (o overlap) Share(n uint64) float64 {
	return min(1, method.Share(o.Num, o.Den*n))
}

// The limits for finding text missing from another document by its sketch (docs/design.md, rule
// 8). A bin holds if both documents have the same value. Scattered edits thin out these bins
// evenly; a passage missing entirely leaves a gap.
const (
	window     = 10 // neighbouring bins in text order
	newAtMost  = 2  // maximum number that hold in a new window
	heldAtMost = 5  // one part in heldAtMost of a stretch may hold
	frameBins  = 16 // a stretch shows that the rest is a frame from this number of bins on,
	frameShare = 8  // and above one part in frameShare of the document
	newBins    = 24 // it makes the document no copy from this number on,
	newShare   = 4  // and above one part in newShare
	placeBytes = 4
)

// appendPlaces appends, for each filled bin, lowest first, the letter at which its least run begins,
// u32. Only the document under judgement needs it.
func appendPlaces(dst []byte, m *letters.Maker) []byte {
	for bin := range letters.Bins {
		if number, place := m.Bin(bin); number != 0 {
			dst = binary.LittleEndian.AppendUint32(dst, place)
		}
	}
	return dst
}

// Places returns the length of the output of appendPlaces for this sketch.
func (s *sketch) Places() int { return placeBytes * s.size() }

// places holds the bins of a document in text order. It is reusable.
type places struct {
	sorted []uint64 // place<<8 | bin
	runs   uint64
}

// Sort loads the output of appendPlaces for a document with the given sketch and number of runs.
func (p *places) Sort(s *sketch, b []byte, runs uint64) {
	p.sorted, p.runs = p.sorted[:0], runs
	for bin := range uint64(letters.Bins) {
		if s.at(int(bin)) != 0 {
			p.sorted = append(p.sorted, uint64(binary.LittleEndian.Uint32(b[placeBytes*len(p.sorted):]))<<8|bin)
		}
	}
	slices.Sort(p.sorted)
}

// A stretch is a passage of a document that is new compared with another, From to To, in half runs.
type stretch struct {
	method.Passage
	bins int
}

// New returns the widest stretch of s that is new compared with t, the first on a tie, or none. p
// belongs to s.
func (p *places) New(s, t *sketch) (widest stretch) {
	var held [letters.Bins + 1]int // for each bin, the number of earlier bins that hold
	for i := range p.sorted {
		held[i+1] = held[i]
		if bin := int(p.sorted[i] & 0xff); s.at(bin) == t.at(bin) {
			held[i+1]++
		}
	}
	isNew := func(i int) bool { return i+window <= len(p.sorted) && held[i+window]-held[i] <= newAtMost }
	for first := 0; first < len(p.sorted); first++ {
		if !isNew(first) {
			continue
		}
		end := first + window
		for next := first + 1; next < end; next++ {
			if isNew(next) {
				end = next + window
			}
		}
		found := stretch{method.Passage{From: p.edge(first), To: p.edge(end), Of: 2 * p.runs}, end - first}
		if heldAtMost*(held[end]-held[first]) <= found.bins && found.To-found.From > widest.To-widest.From {
			widest = found
		}
		first = end - 1
	}
	return widest
}

// spans reports whether a stretch has that number of bins and more than one part in share of the
// document.
func (s *stretch) spans(bins int, share uint64) bool {
	return s.bins >= bins && share*(s.To-s.From) > s.Of
}

// letters returns the stretch in letters. The middle of a run is its fourth letter.
func (s *stretch) letters() method.Passage {
	l := method.Passage{From: (s.From + letters.Run) / 2, To: (s.To + letters.Run) / 2, Of: s.Of/2 + letters.Run - 1}
	if s.From == 0 {
		l.From = 0
	}
	if s.To == s.Of {
		l.To = l.Of
	}
	return l
}

// edge returns the boundary of a stretch before the i-th bin, in half runs. It lies midway between
// the bin's run and the one before, or at an end of the text.
func (p *places) edge(i int) uint64 {
	switch i {
	case 0:
		return 0
	case len(p.sorted):
		return 2 * p.runs
	}
	return p.sorted[i-1]>>8 + p.sorted[i]>>8 + 1
}
