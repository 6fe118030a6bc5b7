package similarity

import (
	"math"
	"math/bits"
)

// MaxSteps is how long a measure may take that grows with the product of two lengths, some
// ten seconds in the worst case. What needs more is not measured.
const MaxSteps = 1 << 29

// LCS returns 2·LCS/(n+m) over units, 0 to 1, however long it takes.
func LCS(a, b *Text) float64 {
	share, _ := LCSWithin(a, b, math.MaxInt64)
	return share
}

// LCSWithin is LCS, if it takes no more than the given steps; otherwise ok is false. It takes at
// most n·m/64 steps in the bit-parallel algorithm of Hyyrö, "Bit-Parallel LCS-length Computation
// Revisited" (2004). It takes far fewer if most units are rare: only the words of the row that a
// unit changes are touched. Copies are cheap, because their common beginning and end are set aside.
// Long texts are gone through by their differences.
func LCSWithin(a, b *Text, steps int64) (share float64, ok bool) {
	all := len(a.units) + len(b.units)
	if all == 0 {
		return 1, true
	}
	x, y, same := middle(a.units, b.units)
	if len(x) > len(y) {
		x, y = y, x
	}
	length, ok := lcsLength(x, y, steps)
	if !ok {
		differences, found := diagonals(x, y, false, steps)
		if !found {
			return 0, false
		}
		length = (len(x) + len(y) - differences) / 2
	}
	return 2 * float64(same+length) / float64(all), true
}

// middle returns the rest of x and y without their common beginning and end, and the number of
// units in those.
func middle[T comparable](x, y []T) (_, _ []T, same int) {
	n := min(len(x), len(y))
	for same < n && x[same] == y[same] {
		same++
	}
	x, y = x[same:], y[same:]
	end := 0
	for n -= same; end < n && x[len(x)-1-end] == y[len(y)-1-end]; {
		end++
	}
	return x[:len(x)-end], y[:len(y)-end], same + end
}

// lcsLength is the length of the longest common subsequence of x and y. After each unit of y, bit i
// of row is 0 if one more unit of x[:i+1] than of x[:i] is found.
func lcsLength(x, y []uint64, steps int64) (length int, ok bool) {
	where := positions(x)
	row := make([]uint64, (len(x)+63)/64)
	for i := range row {
		row[i] = ^uint64(0)
	}
	for _, u := range y {
		if steps -= step(row, where[u]); steps < 0 {
			return 0, false
		}
	}
	length = 64 * len(row)
	for _, word := range row {
		length -= bits.OnesCount64(word)
	}
	return length, true
}

// standing says at which places of one word of the row a unit stands.
type standing struct {
	word int
	bits uint64
}

// positions maps every unit to its positions, in order.
func positions[T comparable](units []T) map[T][]standing {
	where := make(map[T][]standing, len(units)/4)
	for i, u := range units {
		found := where[u]
		if last := len(found) - 1; last >= 0 && found[last].word == i/64 {
			found[last].bits |= 1 << (i % 64)
		} else {
			where[u] = append(found, standing{i / 64, 1 << (i % 64)})
		}
	}
	return where
}

// step computes row = (row + (row AND match)) OR (row AND NOT match); match has the bits of found.
// Words without a match change only while a carry comes in. It returns the number of words it went
// over, plus one.
func step(row []uint64, found []standing) (words int64) {
	carry, next := uint64(0), 0
	words = 1 + int64(len(found))
	for _, f := range found {
		more := int64(0)
		carry, more = ripple(row[next:f.word], carry)
		words += more
		v := row[f.word]
		var sum uint64
		sum, carry = bits.Add64(v, v&f.bits, carry)
		row[f.word] = sum | v&^f.bits
		next = f.word + 1
	}
	_, more := ripple(row[next:], carry)
	return words + more
}

// ripple carries through words that have no match, and returns what comes out, and how
// many there were. A word of ones stays as it is and hands the carry on; any other keeps
// it.
func ripple(row []uint64, carry uint64) (out uint64, words int64) {
	if carry == 0 {
		return 0, 0
	}
	for i, v := range row {
		if v != ^uint64(0) {
			row[i] = v | (v + 1)
			return 0, int64(i) + 1
		}
	}
	return 1, int64(len(row))
}
