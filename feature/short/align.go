package short

import (
	"math/bits"
	"slices"
)

// A hunk is a difference between two texts: words of the later text, and those of the earlier one that
// stand there instead. One of the two may be empty.
type hunk struct {
	x0, x1, y0, y1 int
}

const (
	lanes = maxWords / 64
	slots = 256
)

// A row has a bit for each word of the later text. It is 0 where the longest common subsequence of the
// words up to there is longer than without that word.
type row [lanes]uint64

// An aligner finds a longest common subsequence of the words of two texts, 64 words of the later one at
// a time (Hyyrö, Bit-parallel LCS-length computation revisited, 2004).
type aligner struct {
	rows  [maxWords + 1]row
	first [slots]uint16    // last word of x of each slot of the hashes, from 1
	next  [maxWords]uint16 // the one before it in the slot, or 0
	hunks []hunk
}

// align returns the hunks between the words of x, which were loaded, and y, in order. Of several longest common subsequences
// it takes the one that matches latest in x, after the words that both begin and end with.
func (a *aligner) align(x, y []word) []hunk {
	from, to := 0, 0 // words in common at the start and at the end
	for from < min(len(x), len(y)) && x[from].hash == y[from].hash {
		from++
	}
	for to < min(len(x), len(y))-from && x[len(x)-1-to].hash == y[len(y)-1-to].hash {
		to++
	}
	a.hunks = a.hunks[:0]
	i, j := len(x)-to, len(y)-to
	a.fill(x, y[from:j], from, i)
	endX, endY := i, j // of the hunk that is open
	for i > from && j > from {
		lane, bit := (i-1)/64, uint64(1)<<((i-1)%64)
		switch {
		case a.rows[j-from][lane]&bit != 0:
			i--
		case a.rows[j-from-1][lane]&bit == 0:
			j--
		default:
			a.add(i, endX, j, endY)
			i, j = i-1, j-1
			endX, endY = i, j
		}
	}
	a.add(from, endX, from, endY)
	slices.Reverse(a.hunks)
	return a.hunks
}

func (a *aligner) add(x0, x1, y0, y1 int) {
	if x0 < x1 || y0 < y1 {
		a.hunks = append(a.hunks, hunk{x0, x1, y0, y1})
	}
}

// fill computes a row for each word of y, behind the first, which is that of no words. Only the words of
// x from one to another, exclusive, match.
func (a *aligner) fill(x, y []word, from, to int) {
	n := (len(x) + 63) / 64
	a.rows[0] = row{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	for j, w := range y {
		var match row
		for i := a.find(w.hash); i > 0; i = int(a.next[i-1]) {
			if i > from && i <= to && x[i-1].hash == w.hash {
				match[(i-1)/64] |= 1 << ((i - 1) % 64)
			}
		}
		v, next := &a.rows[j], &a.rows[j+1]
		carry := uint64(0)
		for l := range n {
			u := v[l] & match[l]
			var sum uint64
			sum, carry = bits.Add64(v[l], u, carry)
			next[l] = sum | v[l]&^u
		}
	}
}

// load prepares for the words of a later text.
func (a *aligner) load(x []word) {
	clear(a.first[:])
	for i, w := range x {
		slot := &a.first[w.hash%slots]
		a.next[i], *slot = *slot, uint16(i+1)
	}
}

func (a *aligner) find(hash uint64) int { return int(a.first[hash%slots]) }
