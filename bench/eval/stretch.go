package eval

import (
	"math/bits"
	"slices"

	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// maxAligned is the largest product of the lengths of two texts in units that are aligned: 512 MiB.
const maxAligned = 1 << 32

// longestNew returns the share, 0 to 1, of the later text in its longest stretch of units outside of a
// longest common subsequence with the earlier one. It is 0 if the texts are too long. Of several
// subsequences, it takes the one that matches latest in the later text, after all that both begin or
// end with.
func longestNew(later, earlier string) float64 {
	x, y := slices.Collect(similarity.Units(later)), slices.Collect(similarity.Units(earlier))
	all := len(x)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	if len(x) == 0 || len(x)*len(y) > maxAligned {
		return 0
	}
	rows := alignment(x, y)
	longest, end := 0, len(x) // of the open stretch
	i, j := len(x), len(y)
	for i > 0 && j > 0 {
		lane, bit := (i-1)/64, uint64(1)<<((i-1)%64)
		switch {
		case rows[j][lane]&bit != 0:
			i--
		case rows[j-1][lane]&bit == 0:
			j--
		default:
			longest = max(longest, end-i)
			i, j = i-1, j-1
			end = i
		}
	}
	return float64(max(longest, end)) / float64(all)
}

// alignment returns a row of bits for each unit of y, behind the first. A bit is 0 where the longest
// common subsequence of x up to its unit is longer than without that unit (Hyyrö, 2004).
func alignment(x, y []string) [][]uint64 {
	n := (len(x) + 63) / 64
	match := map[string][]uint64{}
	for i, u := range x {
		if match[u] == nil {
			match[u] = make([]uint64, n)
		}
		match[u][i/64] |= 1 << (i % 64)
	}
	rows := make([][]uint64, len(y)+1)
	rows[0] = slices.Repeat([]uint64{^uint64(0)}, n)
	none := make([]uint64, n)
	for j, u := range y {
		m := match[u]
		if m == nil {
			m = none
		}
		rows[j+1] = make([]uint64, n)
		carry := uint64(0)
		for l, v := range rows[j] {
			var sum uint64
			sum, carry = bits.Add64(v, v&m[l], carry)
			rows[j+1][l] = sum | v&^m[l]
		}
	}
	return rows
}
