// Package oracle decides by the letter of docs/design.md, "The decision", rule
// after rule, with lists and a map and nothing else: no filter, no table, no early
// answer, and no code of the deduper that it judges. It is slow and plain on
// purpose. Tests and the bench hold package dedup against it, on every field of
// a result.
package oracle

import (
	"math/big"
	"slices"
	"sort"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// The numbers in the rules.
const (
	common        = 8 // rule 6: kept documents under a key that is no evidence
	fewest        = 5 // rules 2, 8 and 9: segments whose number says something
	boundaryUnits = 2 // rule 3
	listed        = 8 // results: documents under also
)

// document is what was kept of one, rule 10.
type document struct {
	id       string
	features []feature.Feature
	whole    uint64
	cut      *feature.Feature // its last chosen segment, where it has more
}

// Oracle is an exact deduper in memory.
type Oracle struct {
	rules dedup.Rules
	docs  []document       // in order of arrival; numbers count from 1
	under map[uint64][]int // key → numbers of all kept documents under it
}

// New returns an empty oracle. rules.Threshold must be set.
func New(rules dedup.Rules) *Oracle {
	return &Oracle{rules: rules, under: map[uint64][]int{}}
}

// Decide judges a document and remembers it if it is kept.
func (o *Oracle) Decide(id string, set *feature.Sketch) dedup.Result {
	r := o.Check(id, set)
	if r.Kept {
		o.Remember(id, set)
	}
	return r
}

// Remember takes a document for kept, whatever the verdict on it would be.
func (o *Oracle) Remember(id string, set *feature.Sketch) {
	d := newDocument(id, set)
	o.docs = append(o.docs, d)
	num := len(o.docs)
	o.under[d.whole] = append(o.under[d.whole], num)
	for _, f := range d.features {
		if !slices.Contains(o.under[f.Key], num) {
			o.under[f.Key] = append(o.under[f.Key], num)
		}
	}
}

func newDocument(id string, set *feature.Sketch) document {
	d := document{id: id, features: slices.Clone(set.Features), whole: set.Whole}
	if set.Truncated {
		d.cut = &d.features[len(d.features)-1]
	}
	return d
}

// Check judges a document and remembers nothing.
func (o *Oracle) Check(id string, set *feature.Sketch) dedup.Result {
	d := newDocument(id, set)
	r := dedup.Result{Kept: true, Segments: len(d.features)}
	if num := o.exact(d); num != 0 {
		o.nameExact(set, num, &r)
	} else if claims := o.claims(set); !o.single(set, claims, &r) {
		o.together(set, claims, &r)
	}
	r.SameID = r.Of.Num != 0 && r.Of.ID == id
	return r
}

// first are the kept documents under a key that a table tells of.
func (o *Oracle) first(key uint64) []int {
	return o.under[key][:min(common, len(o.under[key]))]
}

// exact is rule 2: the number of the witness, or 0.
func (o *Oracle) exact(d document) int {
	for _, num := range o.first(d.whole) {
		e := o.docs[num-1]
		bothFew := len(e.features) < fewest && len(d.features) < fewest
		if e.whole == d.whole && sameCut(e.cut, d.cut) && (bothFew || len(e.features) == len(d.features)) {
			return num
		}
	}
	return 0
}

func sameCut(a, b *feature.Feature) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Width == b.Width && a.Order == b.Order
}

func (o *Oracle) nameExact(set *feature.Sketch, num int, r *dedup.Result) {
	n, e := len(set.Features), o.docs[num-1]
	r.Verdict, r.Kept, r.Exact, r.Score, r.Seen = dedup.Duplicate, false, true, 1, 1
	r.Of = dedup.Source{Num: uint32(num), ID: e.id, Shared: n, Weight: uint64(o.whole(set))}
	r.OfSegments, r.Comparable = len(e.features), n
}

// weight is rule 3.
func (o *Oracle) weight(f feature.Feature) int64 {
	if o.rules.Score == dedup.ScoreSegments {
		return 1
	}
	return max(0, int64(f.Units)-boundaryUnits)
}

// size is what segments count in a denominator.
func (o *Oracle) size(features []feature.Feature) (size int64) {
	for _, f := range features {
		if o.rules.Score == dedup.ScoreSegments {
			size++
		} else {
			size += int64(f.Units)
		}
	}
	return size
}

// whole is the denominator of rule 4.
func (o *Oracle) whole(set *feature.Sketch) int64 {
	if o.rules.Score == dedup.ScoreSegments || set.Truncated {
		return o.size(set.Features)
	}
	return int64(set.Units)
}

// A claim is what one earlier document holds of the one judged.
type claim struct {
	num        int
	shared     []int // positions of shared segments, rule 6
	weight     int64
	comparable []feature.Feature // rule 7
	over       int64             // weight of those that are shared
	score      float64           // rule 4, over the whole
	share      float64           // rule 7, over the comparable
}

// claims lists the documents that share a segment, in order of arrival.
func (o *Oracle) claims(set *feature.Sketch) []claim {
	shared := map[int][]int{}
	for i, f := range set.Features {
		if nums := o.first(f.Key); len(nums) < common {
			for _, num := range nums {
				shared[num] = append(shared[num], i)
			}
		}
	}
	var claims []claim
	for num, positions := range shared {
		c := claim{num: num, shared: positions, comparable: comparable(set, o.docs[num-1])}
		for _, i := range positions {
			c.weight += o.weight(set.Features[i])
			if slices.Contains(c.comparable, set.Features[i]) {
				c.over += o.weight(set.Features[i])
			}
		}
		c.score = quotient(c.weight, o.whole(set))
		c.share = c.score
		if len(c.comparable) < len(set.Features) {
			c.share = quotient(c.over, o.size(c.comparable))
		}
		claims = append(claims, c)
	}
	sort.Slice(claims, func(a, b int) bool { return claims[a].num < claims[b].num })
	return claims
}

// comparable is rule 7: what is at or above e's cut-off in the order of choice.
func comparable(set *feature.Sketch, e document) []feature.Feature {
	if e.cut == nil {
		return set.Features
	}
	var above []feature.Feature
	for _, f := range set.Features {
		if f.Width > e.cut.Width || f.Width == e.cut.Width && f.Order <= e.cut.Order {
			above = append(above, f)
		}
	}
	return above
}

// quotient is rule 11: the exact quotient, as the nearest double.
func quotient(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	q, _ := big.NewRat(a, b).Float64()
	return q
}

func (o *Oracle) reaches(share float64) bool { return share >= o.rules.Threshold }

// alone is rule 8.
func (o *Oracle) alone(c claim) bool {
	return o.reaches(c.score) || len(c.comparable) >= fewest && o.reaches(c.share)
}

// removes is the first verdict of rule 9.
func (o *Oracle) removes(c claim, of int) bool {
	n := len(c.comparable)
	return o.reaches(c.score) && (n == of || n >= fewest && 2*n >= of)
}

// single gives the verdicts that one document brings about: the first two of
// rule 9.
func (o *Oracle) single(set *feature.Sketch, claims []claim, r *dedup.Result) bool {
	var witness, relation *claim
	for i := range claims {
		c := &claims[i]
		if o.removes(*c, len(set.Features)) && (witness == nil || c.score > witness.score) {
			witness = c
		}
		if o.alone(*c) && (relation == nil || c.share > relation.share) {
			relation = c
		}
	}
	switch {
	case witness != nil:
		r.Verdict, r.Kept = dedup.Duplicate, false
		r.Score = witness.score
		o.name(*witness, claims, r)
	case relation != nil:
		r.Verdict = dedup.Related
		r.Score = relation.share
		o.name(*relation, claims, r)
	default:
		return false
	}
	r.Seen = o.seen(set, claims)
	return true
}

// together gives the verdict that only several documents bring about: the third
// of rule 9.
func (o *Oracle) together(set *feature.Sketch, claims []claim, r *dedup.Result) {
	seen := o.seen(set, claims)
	if !o.reaches(seen) {
		return
	}
	r.Verdict, r.Kept, r.Seen = dedup.Mosaic, !o.rules.RemoveMosaics, seen
	r.Comparable = len(set.Features)
	for i := range set.Features {
		if sharedByAny(claims, i) {
			r.SharedSegments = append(r.SharedSegments, i)
		}
	}
	for _, c := range claims {
		r.Score = max(r.Score, c.score)
	}
	r.Also = o.also(claims, 0)
}

// seen is the share that all documents together hold.
func (o *Oracle) seen(set *feature.Sketch, claims []claim) float64 {
	var weight int64
	for i, f := range set.Features {
		if sharedByAny(claims, i) {
			weight += o.weight(f)
		}
	}
	return quotient(weight, o.whole(set))
}

func sharedByAny(claims []claim, position int) bool {
	return slices.ContainsFunc(claims, func(c claim) bool { return slices.Contains(c.shared, position) })
}

func (o *Oracle) name(c claim, claims []claim, r *dedup.Result) {
	r.Of = o.source(c)
	r.OfSegments, r.Comparable = len(o.docs[c.num-1].features), len(c.comparable)
	r.SharedSegments = c.shared
	r.Also = o.also(claims, c.num)
}

// also lists the other documents, the heaviest first, then the earliest.
func (o *Oracle) also(claims []claim, but int) (also []dedup.Source) {
	others := slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return c.num == but })
	sort.SliceStable(others, func(a, b int) bool { return others[a].weight > others[b].weight })
	for _, c := range others[:min(listed, len(others))] {
		also = append(also, o.source(c))
	}
	return also
}

func (o *Oracle) source(c claim) dedup.Source {
	return dedup.Source{Num: uint32(c.num), ID: o.docs[c.num-1].id, Shared: len(c.shared), Weight: uint64(c.weight)}
}
