package alike

import "math/bits"

// LCS returns 2·LCS/(n+m) over units, 0 to 1: the length of the longest common
// subsequence in the bit-parallel algorithm of Hyyrö, "Bit-Parallel LCS-length
// Computation Revisited" (2004). Copies are cheap, for what both begin and end with
// is set aside. For the rest it takes at most n·m/64 steps, and far fewer where most
// units are rare: only the words of the row are touched that a unit changes.
func LCS(a, b *Text) float64 {
	all := len(a.units) + len(b.units)
	if all == 0 {
		return 1
	}
	x, y, same := middle(a.units, b.units)
	if len(x) > len(y) {
		x, y = y, x
	}
	return 2 * float64(same+lcsLength(x, y)) / float64(all)
}

// middle is what is left of x and y without their common beginning and end, and how
// many units those have.
func middle(x, y []uint32) (_, _ []uint32, same int) {
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

// lcsLength is the length of the longest common subsequence of x and y. After each
// unit of y, bit i of row is 0 where one more unit of x[:i+1] than of x[:i] is found.
func lcsLength(x, y []uint32) int {
	where := positions(x)
	row := make([]uint64, (len(x)+63)/64)
	for i := range row {
		row[i] = ^uint64(0)
	}
	for _, u := range y {
		step(row, where[u])
	}
	length := 64 * len(row)
	for _, word := range row {
		length -= bits.OnesCount64(word)
	}
	return length
}

// standing says at which places of one word of the row a unit stands.
type standing struct {
	word int
	bits uint64
}

// positions maps every unit to where it stands, in order.
func positions(units []uint32) map[uint32][]standing {
	where := make(map[uint32][]standing, len(units)/4)
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

// step computes row = (row + (row AND match)) OR (row AND NOT match), where match has
// the bits of found. Words without a match change only while a carry comes in.
func step(row []uint64, found []standing) {
	carry, next := uint64(0), 0
	for _, f := range found {
		carry = ripple(row[next:f.word], carry)
		v := row[f.word]
		var sum uint64
		sum, carry = bits.Add64(v, v&f.bits, carry)
		row[f.word] = sum | v&^f.bits
		next = f.word + 1
	}
	ripple(row[next:], carry)
}

// ripple carries through words that have no match, and returns what comes out. A word
// of ones stays as it is and hands the carry on; any other keeps it.
func ripple(row []uint64, carry uint64) uint64 {
	if carry == 0 {
		return 0
	}
	for i, v := range row {
		if v != ^uint64(0) {
			row[i] = v | (v + 1)
			return 0
		}
	}
	return 1
}
