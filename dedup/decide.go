package dedup

import (
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/feature"
)

// minComparable is from how many segments on a number of them says something. So
// many of a document's must be comparable with an earlier one known only down to
// its cut-off for the share over them to count: of fewer, one long passage quoted
// is most.
const minComparable = 5

// Score says what a share is a share of.
type Score uint8

const (
	// ScoreText weighs a segment by the runs of three words it holds: shares
	// are shares of text. A word is a feature.Feature unit.
	ScoreText Score = iota
	// ScoreSegments counts every segment as one, the slide's rule.
	ScoreSegments
)

// judge holds one document as the decision sees it. Its buffers are reused.
//
// With both scores the decision is the same arithmetic over weights. Features come
// longest first, in the order that decides which are chosen, so what can be
// compared with an earlier document known only down to its cut-off is always a
// prefix of them.
type judge struct {
	rules    Rules
	set      *feature.Set
	prefix   []uint64 // prefix[p] is the size of the first p features
	whole    uint64   // the size of the document
	asked    []int    // the features looked up, in order
	pairs    []uint64 // one source<<32 | feature for each posting that is evidence
	sources  []Source
	strong   []int // of the sources, those that could reach the threshold alone
	shared   []int
	also     []Source
	postings postings // of the features looked up
	read     records
}

// load makes set the document under judgement.
func (j *judge) load(set *feature.Set) {
	j.set = set
	j.prefix = append(j.prefix[:0], 0)
	for i := range set.Features {
		j.prefix = append(j.prefix, j.prefix[i]+j.size(i))
	}
	j.whole = j.prefix[len(set.Features)]
	if j.rules.Score == ScoreText && !set.Truncated {
		j.whole = set.Units
	}
}

// boundary is how many of the runs of three words that a text has for each of its
// words lie across the ends of a segment. They are lost with either neighbour, so
// a segment of n words vouches for n-2 of the text's. Weighing it so, a document
// of many short lines, half of which recur, is not half a copy. Measured on the
// labelled sets in docs/quality.md, against a weight of n: false removals 1.6% to
// 0.4% of edited news, 8 to 0 of manual pages.
const boundary = 2

// weight is what the i-th feature counts as shared.
func (j *judge) weight(i int) uint64 {
	if j.rules.Score == ScoreSegments {
		return 1
	}
	return uint64(max(j.set.Features[i].Units, boundary) - boundary)
}

// size is what the i-th feature counts in the whole.
func (j *judge) size(i int) uint64 {
	if j.rules.Score == ScoreSegments {
		return 1
	}
	return uint64(j.set.Features[i].Units)
}

// denominator is the size that shares over the first p features refer to: all of
// the document's text, short pieces included, only when all of its segments are
// comparable.
func (j *judge) denominator(p int) uint64 {
	if p == len(j.set.Features) {
		return j.whole
	}
	return j.prefix[p]
}

func (j *judge) reaches(weight uint64, p int) bool {
	return Share(weight, j.denominator(p)) >= j.rules.Threshold
}

// share is exact to the last bit while both are below 2^53: a quotient that equals
// the decimal number given as the threshold is the same double.
func Share(weight, of uint64) float64 {
	if of == 0 {
		return 0
	}
	return float64(weight) / float64(of)
}

// mayReach reports whether a document whose features the filter has seen as
// marked could be anything but Unique. seen has no false negatives and the table
// can only refute, so a no is final and no disk is touched. The question is asked
// of every prefix that an earlier document's cut-off could leave comparable.
func (j *judge) mayReach(seen []bool) bool {
	n := len(j.set.Features)
	var weight uint64
	for i := range n {
		if seen[i] {
			weight += j.weight(i)
		}
		if p := i + 1; (p >= minComparable || p == n) && j.reaches(weight, p) {
			return true
		}
	}
	return false
}

// comparable returns how many of the document's features could be among those
// chosen from d: all of them, or those at or above d's cut-off.
func (j *judge) comparable(d *Record) int {
	features := j.set.Features
	if d.CutWidth == 0 {
		return len(features)
	}
	p, _ := slices.BinarySearchFunc(features, d, func(f feature.Feature, d *Record) int {
		if f.Width > d.CutWidth || f.Width == d.CutWidth && f.Order <= d.CutKey {
			return -1
		}
		return 1
	})
	return p
}

// enough reports whether p comparable features justify a removal.
func (j *judge) enough(p int) bool {
	n := len(j.set.Features)
	return p == n || p >= minComparable && 2*p >= n
}

// gather groups the postings of the features looked up by source, in order of
// arrival. A feature that MaxHolders documents hold is common: no evidence. It
// returns the weight that all sources hold together.
func (j *judge) gather() (union uint64) {
	j.pairs, j.sources = j.pairs[:0], j.sources[:0]
	for a, i := range j.asked {
		docs := j.postings.of(a)
		if len(docs) == 0 || len(docs) >= MaxHolders {
			continue
		}
		union += j.weight(i)
		for _, doc := range docs {
			j.pairs = append(j.pairs, uint64(doc)<<32|uint64(i))
		}
	}
	slices.Sort(j.pairs)
	for _, pair := range j.pairs {
		num := uint32(pair >> 32)
		if last := len(j.sources) - 1; last < 0 || j.sources[last].Num != num {
			j.sources = append(j.sources, Source{Num: num})
		}
		s := &j.sources[len(j.sources)-1]
		s.Shared++
		s.Weight += j.weight(int(uint32(pair)))
	}
	return union
}

// candidate is a source that reaches the threshold alone.
type candidate struct {
	source     int // position in judge.sources, -1 for none
	score      float64
	comparable int
	segments   int // of the source
}

// verdict decides from the postings of the features looked up: what one source
// brings about goes before what all bring about together.
func (j *judge) verdict(table Store, r *Result) error {
	r.Seen = Share(j.gather(), j.whole)
	witness, relation, err := j.alone(table)
	switch {
	case err != nil:
		return err
	case witness.source >= 0:
		r.Verdict = Duplicate
		return j.explain(table, witness, r)
	case relation.source >= 0:
		r.Verdict = Related
		return j.explain(table, relation, r)
	case r.Seen >= j.rules.Threshold:
		r.Verdict = Mosaic
		return j.explain(table, candidate{source: -1, comparable: len(j.set.Features)}, r)
	}
	// Of a unique document the share seen is not told: where the table was
	// not asked it is unknown.
	r.Seen = 0
	return nil
}

// alone finds the best of the sources that reach the threshold alone, of those
// that justify a removal and of the others. The table is asked for the cut-off of
// only those whose weight could suffice over the fewest segments that count.
func (j *judge) alone(table Store) (witness, relation candidate, err error) {
	witness.source, relation.source = -1, -1
	if err := j.fetch(table); err != nil {
		return witness, relation, err
	}
	for at, i := range j.strong {
		weight := j.sources[i].Weight
		doc, err := ParseRecord(j.read.data[at])
		if err != nil {
			return witness, relation, fmt.Errorf("document %d: %w", j.sources[i].Num, err)
		}
		p := j.comparable(&doc)
		over := j.weightOver(j.sources[i].Num, p)
		whole := j.reaches(weight, len(j.set.Features))
		switch {
		case whole && j.enough(p):
			witness = better(witness, candidate{i, Share(weight, j.whole), p, doc.Features})
		case whole || p >= minComparable && j.reaches(over, p):
			relation = better(relation, candidate{i, Share(over, j.denominator(p)), p, doc.Features})
		}
	}
	return witness, relation, nil
}

// fetch reads what is stored of the sources whose weight could suffice.
func (j *judge) fetch(table Store) error {
	floor := min(minComparable, len(j.set.Features))
	j.strong, j.read.nums = j.strong[:0], j.read.nums[:0]
	for i := range j.sources {
		if j.reaches(j.sources[i].Weight, floor) {
			j.strong = append(j.strong, i)
			j.read.nums = append(j.read.nums, j.sources[i].Num)
		}
	}
	return j.read.read(table)
}

// weightOver is the weight that a source holds of the first p features: all it
// holds, unless the keys of two different segments are equal.
func (j *judge) weightOver(num uint32, p int) (weight uint64) {
	at, _ := slices.BinarySearch(j.pairs, uint64(num)<<32)
	for _, pair := range j.pairs[at:] {
		if pair >= uint64(num)<<32|uint64(p) {
			break
		}
		weight += j.weight(int(uint32(pair)))
	}
	return weight
}

// better prefers the larger share and, on a tie, the earlier document: sources
// are visited in order of arrival.
func better(best, c candidate) candidate {
	if best.source < 0 || c.score > best.score {
		return c
	}
	return best
}

// explain fills in whom the document repeats, and with which segments.
func (j *judge) explain(table Store, c candidate, r *Result) error {
	r.Score, r.Comparable, r.OfSegments = c.score, c.comparable, c.segments
	var of uint32
	if c.source >= 0 {
		r.Of = j.sources[c.source]
		of = r.Of.Num
	}
	r.SharedSegments = j.sharedWith(of)
	slices.SortStableFunc(j.sources, heavierFirst)
	for _, s := range j.sources {
		if s.Num != of && len(r.Also) < MaxAlso {
			r.Also = append(r.Also, s)
		}
	}
	if c.source < 0 && len(r.Also) > 0 {
		r.Score = Share(r.Also[0].Weight, j.whole)
	}
	return j.nameSources(table, r)
}

func heavierFirst(a, b Source) int {
	switch {
	case a.Weight > b.Weight:
		return -1
	case a.Weight < b.Weight:
		return 1
	}
	return int(a.Num) - int(b.Num)
}

// sharedWith lists the features that the source num holds, or any source when
// num is 0, longest first.
func (j *judge) sharedWith(num uint32) []int {
	j.shared = j.shared[:0]
	for _, pair := range j.pairs {
		if num == 0 || uint32(pair>>32) == num {
			j.shared = append(j.shared, int(uint32(pair)))
		}
	}
	slices.Sort(j.shared)
	j.shared = slices.Compact(j.shared)
	return j.shared
}

// nameSources asks the store for the ids of the sources.
func (j *judge) nameSources(table Store, r *Result) error {
	j.read.nums = j.read.nums[:0]
	if r.Of.Num != 0 {
		j.read.nums = append(j.read.nums, r.Of.Num)
	}
	for i := range r.Also {
		j.read.nums = append(j.read.nums, r.Also[i].Num)
	}
	if err := j.read.read(table); err != nil {
		return err
	}
	ids := j.read.ids
	if r.Of.Num != 0 {
		r.Of.ID, ids = string(ids[0]), ids[1:]
	}
	for i := range r.Also {
		r.Also[i].ID = string(ids[i])
	}
	return nil
}
