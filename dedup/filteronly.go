package dedup

import (
	"math"
	"slices"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// chanceLimit bounds the chance of a wrong verdict without a table, which could refute the filter's
// false positives. Below one in a billion, ten million documents a day pass for months without a
// text wrongly removed.
const chanceLimit = 1e-9

// appendFilterKeys appends the keys of a document for a filter without a table.
func appendFilterKeys(dst []uint64, s *feature.Sketch) []uint64 {
	for i := range s.Parts() {
		dst = append(dst, s.Features[i].Key)
	}
	for i := range uint64(method.WholeKeys) {
		dst = append(dst, spread(s.Whole+i))
	}
	return dst
}

// spread is the finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that turns
// consecutive numbers into unrelated keys.
func spread(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// decideByFilter judges by the share of the document's text that was seen. It counts words, not
// runs of three as with a table. The threshold is higher, and nothing can show that the segments
// come from one document. rate is the filter's false positive rate.
func (c *decider) decideByFilter(rate float64) Result {
	n := c.sketch.Parts()
	r := Result{Kept: true, Segments: n}
	for i := range n {
		if c.seen[i] {
			r.Of.Weight += c.judge.Size(i)
			r.Of.Shared++
		}
	}
	r.Seen = method.Share(r.Of.Weight, c.judge.Whole())
	r.Exact = !slices.Contains(c.seen[n:], false) && math.Pow(rate, method.WholeKeys) < chanceLimit
	bySegments := r.Seen >= c.rules.Threshold && binomialTail(n, r.Of.Shared, rate) < chanceLimit
	if r.Exact || bySegments {
		r.Verdict, r.Kept = Duplicate, false
	}
	return r
}

// binomialTail returns the chance that at least hits of n keys never added are seen, each with
// probability rate. It is the sum over i from hits to n of C(n,i) rate^i (1-rate)^(n-i).
func binomialTail(n, hits int, rate float64) float64 {
	switch {
	case hits <= 0 || rate >= 1:
		return 1
	case rate <= 0:
		return 0
	}
	lnN, _ := math.Lgamma(float64(n + 1))
	var tail float64
	for i := hits; i <= n; i++ {
		lnI, _ := math.Lgamma(float64(i + 1))
		lnRest, _ := math.Lgamma(float64(n - i + 1))
		tail += math.Exp(lnN - lnI - lnRest + float64(i)*math.Log(rate) + float64(n-i)*math.Log1p(-rate))
	}
	return tail
}
