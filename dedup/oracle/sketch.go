package oracle

import "math/big"

// readSketch reads what a sketch says of a text's runs, as docs/format.md has it: how
// many there are and, of twenty or more, of each of 128 bins a number from 1 to 15, or
// 0 for none.
func readSketch(data []byte) (runs int64, bins []int) {
	if len(data) == 0 {
		return 0, nil
	}
	at, shift := 0, 0
	for more := true; more; at++ {
		runs |= int64(data[at]&0x7f) << shift
		shift += 7
		more = data[at] >= 0x80
	}
	if runs < fewestRuns {
		return runs, nil
	}
	filled := int(data[at])
	data = data[at+1:]
	half := func(from, i int) int { return int(data[from+i/2]) >> (i % 2 * 4) & 15 }
	bins = make([]int, 128)
	if 16+(filled+1)/2 >= 64 {
		for i := range bins {
			bins[i] = half(0, i)
		}
		return runs, bins
	}
	n := 0
	for i := range bins {
		if data[i/8]>>(i%8)&1 == 1 {
			bins[i] = half(16, n)
			n++
		}
	}
	return runs, bins
}

// estimate is the arithmetic of rule 13, in fractions: the share of d that stands in
// e, and the share of the longer of both that is common.
func estimate(d, e document) (contained, longer float64) {
	var raw, both, either int64
	for i, x := range d.sketch {
		y := e.sketch[i]
		if x != 0 || y != 0 {
			either++
		}
		if x != 0 && y != 0 {
			both++
			if x == y {
				raw++
			}
		}
	}
	if either == 0 {
		return 0, 0
	}
	c := big.NewRat(1, 15)
	above := new(big.Rat).Sub(big.NewRat(raw, 1), new(big.Rat).Mul(c, big.NewRat(both, 1)))
	below := new(big.Rat).Mul(new(big.Rat).Sub(big.NewRat(1, 1), c), big.NewRat(either, 1))
	jaccard := new(big.Rat).Quo(above, below)
	if jaccard.Sign() < 0 {
		jaccard.SetInt64(0)
	}
	common := new(big.Rat).Mul(jaccard, big.NewRat(d.runs+e.runs, 1))
	common.Quo(common, new(big.Rat).Add(big.NewRat(1, 1), jaccard))
	share := func(of int64) float64 {
		q, _ := new(big.Rat).Quo(common, big.NewRat(of, 1)).Float64()
		return min(q, 1)
	}
	return share(d.runs), share(max(d.runs, e.runs))
}
