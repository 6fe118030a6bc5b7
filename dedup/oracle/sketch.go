package oracle

import (
	"math/big"

	"github.com/firstseen/firstseen/feature"
)

// The second stage: rules 12 to 14.

// comparedWith is rule 12.
func (o *Oracle) comparedWith(d document, set *feature.Sketch, c *claim) bool {
	whole := o.whole(set)
	c.leadsAll = c.withCommon > c.weight && 2*c.withCommon >= whole
	if isFifth(c.weight, whole) || c.runKeys >= 3 || o.reaches(quotient(c.weight, whole)) || c.leadsAll {
		return true
	}
	for n := fewest; n < len(d.features); n++ {
		var weight int64
		for _, i := range c.shared {
			if i < n {
				weight += o.weight(d.features[i])
			}
		}
		if o.reaches(quotient(weight, o.size(d.features[:n]))) {
			return true
		}
	}
	return false
}

func isFifth(weight, whole int64) bool { return weight > 0 && 5*weight >= whole }

// removalBySketch is rules 12 to 14.
func (o *Oracle) removalBySketch(d document, set *feature.Sketch, c claim) float64 {
	t := o.rules.Threshold
	if !c.compared {
		return -1
	}
	score := c.longer
	if c.contained >= .8 && o.reaches(c.contained) {
		score = c.contained
	}
	common := quotient(o.common(d), o.whole(set))
	asked := max(t, .8)
	if isFifth(c.weight, o.whole(set)) || c.runKeys >= 3 {
		asked = min(common+float64((1-common)*t), asked)
	}
	if c.leadsAll {
		asked = t
	}
	if score >= asked {
		return score
	}
	return o.removalOutsideCommon(d, set, c)
}

// removalOutsideCommon is rule 14.
func (o *Oracle) removalOutsideCommon(d document, set *feature.Sketch, c claim) float64 {
	var uncommon int64
	for _, f := range d.features {
		if !o.isCommon(f.Key) {
			uncommon += o.weight(f)
		}
	}
	e, whole := o.docs[c.num-1], o.whole(set)
	score := quotient(c.weight, uncommon)
	share := quotient(o.common(d), whole)
	if 8*o.common(d) >= whole && len(c.shared) >= 10 && o.reaches(score) && share+float64((1-share)*score) >= .72 && c.contained >= .6*(1-share)*score &&
		5*min(d.runs, e.runs) >= 4*max(d.runs, e.runs) {
		return score
	}
	return -1
}

// common is the size of the common segments.
func (o *Oracle) common(d document) (size int64) {
	for _, f := range d.features {
		if o.isCommon(f.Key) {
			size += o.size([]feature.Feature{f})
		}
	}
	return size
}

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
