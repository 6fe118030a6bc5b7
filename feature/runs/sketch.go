package runs

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// A Sketch has a number from 1 to 15 for each bin, or 0 if the text has no run in it: sixteen bins
// of four bits a word, the lowest first.
type Sketch [Bins / perWord]uint64

const (
	perWord = 16
	lows    = 0x1111_1111_1111_1111 // the lowest bit of each four
	values  = 15                    // of a bin with a run
)

func (s *Sketch) set(bin int, v uint64) { s[bin/perWord] |= v << (bin % perWord * 4) }

func (s *Sketch) at(bin int) uint64 { return s[bin/perWord] >> (bin % perWord * 4) & 15 }

// filled marks the lowest bit of every four bits that are not 0.
func filled(x uint64) uint64 {
	x |= x >> 2
	return (x | x>>1) & lows
}

// size is how many bins are not empty.
func (s *Sketch) size() (n int) {
	for _, x := range s {
		n += bits.OnesCount64(filled(x))
	}
	return n
}

// whole is the length in bytes of a sketch that says every bin.
const whole = Bins / 2

// Append appends the sketch to b, in the form of docs/format.md. It writes a mostly empty sketch by
// its filled bins, and any other by all bins.
func (s *Sketch) Append(b []byte) []byte {
	n := s.size()
	b = append(b, byte(n))
	if short := Bins/8 + (n+1)/2; short >= whole {
		for _, x := range s {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		return b
	}
	mask, from := len(b), len(b)+Bins/8
	var few [whole]byte // fewer are appended
	b = append(b, few[:Bins/8+(n+1)/2]...)
	i := 0
	for bin := range Bins {
		if v := s.at(bin); v != 0 {
			b[mask+bin/8] |= 1 << (bin % 8)
			b[from+i/2] |= byte(v << (i % 2 * 4))
			i++
		}
	}
	return b
}

var errSketch = errors.New("the sketch of a document is not what was written: the store is damaged, or another program's")

// Parse reads what Append has written at the beginning of b, and returns the rest.
func (s *Sketch) Parse(b []byte) (rest []byte, err error) {
	*s = Sketch{}
	if len(b) == 0 || b[0] > Bins {
		return b, errSketch
	}
	n := int(b[0])
	b = b[1:]
	length := min(whole, Bins/8+(n+1)/2)
	if len(b) < length {
		return b, errSketch
	}
	if length == whole {
		for i := range s {
			s[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	} else if !s.parseFew(n, b[:Bins/8], b[Bins/8:length]) {
		return b, errSketch
	}
	if s.size() != n {
		return b, errSketch
	}
	return b[length:], nil
}

// parseFew reads the numbers of the n bins in the mask. It reports whether there are as many, and
// whether the unused part of the last byte is 0.
func (s *Sketch) parseFew(n int, mask, numbers []byte) bool {
	i := 0
	for bin := range Bins {
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

// An Overlap is the part common to two documents, as far as their sketches show: a fraction giving
// how many runs of each stand in the other. It is exact arithmetic on whole numbers, so every
// machine gets the same result.
type Overlap struct {
	Num, Den uint64 // of documents of at most 2^40 runs Num < 2^52, Den < 2^12
}

// Compare estimates the overlap of two documents of a and b runs.
//
// Of the n bins in which either has a run, raw have equal numbers in both, and both
// is in how many each has one. Two different minima have equal numbers by chance
// once in 15, so the Jaccard similarity is estimated by
//
//	J = (raw - both/15) / ((1 - 1/15) n) = (15 raw - both) / (14 n)
//
// and the runs in common by J (a + b) / (1 + J), which is Num / Den.
func (s *Sketch) Compare(t *Sketch, a, b uint64) Overlap {
	raw, both, either := s.count(t)
	j := uint64(max(values*raw-both, 0))
	return Overlap{Num: j * (a + b), Den: uint64((values-1)*either) + j}
}

// count returns in how many bins both have equal numbers, both have one, and either has.
func (s *Sketch) count(t *Sketch) (raw, both, either int) {
	for i, x := range s {
		y := t[i]
		fx, fy := filled(x), filled(y)
		both += bits.OnesCount64(fx & fy)
		either += bits.OnesCount64(fx | fy)
		raw += bits.OnesCount64(fx & fy &^ filled(x^y))
	}
	return raw, both, either
}

// Contains reports whether 80% of the runs of s, a document of a runs, stand beyond doubt
// in t, one of b runs. If it were just 80%, the Jaccard similarity would be 4a / (a + 5b),
// and a bin would agree with the probability
//
//	p = J + (1 - J)/15 = (57a + 5b) / (15a + 75b)
//
// More than three standard errors above that leave one chance in 700.
func (s *Sketch) Contains(t *Sketch, a, b uint64) bool {
	raw, _, either := s.count(t)
	p := float64(57*a+5*b) / float64(15*a+75*b)
	n := float64(either)
	above := float64(raw) - float64(n*p)
	return above > 0 && float64(above*above) > float64(9*n)*float64(p*(1-p))
}

// Share is the common share of a document of n runs, 0 to 1.
func (o Overlap) Share(n uint64) float64 {
	of := o.Den * n
	if of == 0 {
		return 0
	}
	return min(1, float64(o.Num)/float64(of))
}
