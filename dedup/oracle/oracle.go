// Package oracle decides by the letter of docs/design.md, with maps and nothing
// else: no filter, no runs, no early answer. It is slow and plain on purpose.
// Tests and the bench hold package dedup against it, on every field of a result.
package oracle

import (
	"sort"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
)

// kept is a document in the output.
type kept struct {
	id       string
	features []feature.Feature
	cut      *feature.Feature // its last chosen segment, when it has more
}

// Oracle is an exact deduper in memory.
type Oracle struct {
	rules   dedup.Rules
	docs    []kept
	holders map[uint64][]uint32 // segment → numbers of the first documents holding it
	texts   map[uint64]uint32   // whole text → the document
}

// New returns an empty oracle. rules.Threshold must be set.
func New(rules dedup.Rules) *Oracle {
	return &Oracle{rules: rules, holders: map[uint64][]uint32{}, texts: map[uint64]uint32{}}
}

// Decide judges a document and remembers it if it is kept.
func (o *Oracle) Decide(id string, set *feature.Set) dedup.Result {
	r := o.judge(set)
	r.SameID = r.Of.Num != 0 && r.Of.ID == id
	if r.Kept {
		o.remember(id, set)
	}
	return r
}

func (o *Oracle) remember(id string, set *feature.Set) {
	k := kept{id: id, features: append([]feature.Feature(nil), set.Features...)}
	if set.Truncated {
		k.cut = &k.features[len(k.features)-1]
	}
	o.docs = append(o.docs, k)
	num := uint32(len(o.docs))
	for _, f := range set.Features {
		if len(o.holders[f.Key]) < docmap.MaxHolders {
			o.holders[f.Key] = append(o.holders[f.Key], num)
		}
	}
	if _, ok := o.texts[set.Whole]; !ok {
		o.texts[set.Whole] = num
	}
}

// weigh adds up the weight of the features for which held is true: of a segment
// of n words, the n-2 runs of three words in it.
func (o *Oracle) weigh(features []feature.Feature, held func(feature.Feature) bool) (weight uint64, count int) {
	for _, f := range features {
		if held(f) {
			count++
			if f.Units > 2 {
				weight += uint64(f.Units) - 2
			}
		}
	}
	if o.rules.Score == dedup.ScoreSegments {
		weight = uint64(count)
	}
	return weight, count
}

// evidence reports whether source holds f, and f says something about sources.
func (o *Oracle) evidence(source uint32, f feature.Feature) bool {
	holders := o.holders[f.Key]
	if len(holders) >= docmap.MaxHolders {
		return false
	}
	for _, h := range holders {
		if h == source || source == 0 {
			return true
		}
	}
	return false
}

// comparable returns the features of a document that are at or above the cut-off
// of source in the order of choice: longest first, then by Order.
func (o *Oracle) comparable(features []feature.Feature, source uint32) []feature.Feature {
	cut := o.docs[source-1].cut
	if cut == nil {
		return features
	}
	var above []feature.Feature
	for _, f := range features {
		if f.Width > cut.Width || f.Width == cut.Width && f.Order <= cut.Order {
			above = append(above, f)
		}
	}
	return above
}

// total is the size that shares over the comparable features refer to.
func (o *Oracle) total(set *feature.Set, comparable []feature.Feature) uint64 {
	if o.rules.Score == dedup.ScoreSegments {
		return uint64(len(comparable))
	}
	if len(comparable) == len(set.Features) && !set.Truncated {
		return set.Units
	}
	var words uint64
	for _, f := range comparable {
		words += uint64(f.Units)
	}
	return words
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (o *Oracle) judge(set *feature.Set) dedup.Result {
	n := len(set.Features)
	r := dedup.Result{Kept: true, Segments: n}
	if num, ok := o.texts[set.Whole]; ok {
		k := o.docs[num-1]
		r.Verdict, r.Kept, r.Exact = dedup.Duplicate, false, true
		r.Of = dedup.Source{Num: num, ID: k.id, Shared: n, Weight: o.total(set, set.Features)}
		r.Score, r.Seen, r.OfSegments, r.Comparable = 1, 1, len(k.features), n
		return r
	}
	sources := o.sources(set)
	union, _ := o.weigh(set.Features, func(f feature.Feature) bool { return o.evidence(0, f) })
	seen := ratio(union, o.total(set, set.Features))
	var witness, relation dedup.Result
	for _, s := range sources {
		comparable := o.comparable(set.Features, s.Num)
		p := len(comparable)
		c := dedup.Result{Of: s, Comparable: p, OfSegments: len(o.docs[s.Num-1].features)}
		c.Score = ratio(s.Weight, o.total(set, set.Features))
		if c.Score >= o.rules.Threshold && (p == n || p >= 5 && 2*p >= n) {
			if c.Score > witness.Score {
				witness = c
			}
			continue
		}
		c.Score = ratio(s.Weight, o.total(set, comparable))
		if c.Score >= o.rules.Threshold && (p >= 5 || seen >= o.rules.Threshold) && c.Score > relation.Score {
			relation = c
		}
	}
	switch {
	case witness.Of.Num != 0:
		r = witness
		r.Verdict = dedup.Duplicate
	case seen >= o.rules.Threshold && len(sources) > 1:
		r.Verdict, r.Kept, r.Comparable = dedup.Mosaic, !o.rules.RemoveMosaics, n
	case relation.Of.Num != 0:
		r = relation
		r.Verdict, r.Kept = dedup.Related, true
	default:
		return r
	}
	r.Segments, r.Seen = n, seen
	o.explain(set, sources, &r)
	return r
}

// sources returns all earlier documents sharing evidence with the document, in
// order of arrival.
func (o *Oracle) sources(set *feature.Set) []dedup.Source {
	numbers := map[uint32]bool{}
	for _, f := range set.Features {
		for _, h := range o.holders[f.Key] {
			if o.evidence(h, f) {
				numbers[h] = true
			}
		}
	}
	var sources []dedup.Source
	for num := range numbers {
		s := dedup.Source{Num: num, ID: o.docs[num-1].id}
		s.Weight, s.Shared = o.weigh(set.Features, func(f feature.Feature) bool { return o.evidence(num, f) })
		sources = append(sources, s)
	}
	sort.Slice(sources, func(a, b int) bool { return sources[a].Num < sources[b].Num })
	return sources
}

func (o *Oracle) explain(set *feature.Set, sources []dedup.Source, r *dedup.Result) {
	for i, f := range set.Features {
		if o.evidence(r.Of.Num, f) {
			r.SharedSegments = append(r.SharedSegments, i)
		}
	}
	sort.SliceStable(sources, func(a, b int) bool { return sources[a].Weight > sources[b].Weight })
	for _, s := range sources {
		if s.Num != r.Of.Num && len(r.Also) < dedup.MaxAlso {
			r.Also = append(r.Also, s)
		}
	}
	if r.Verdict == dedup.Mosaic {
		r.Score = ratio(sources[0].Weight, o.total(set, set.Features))
	}
}
