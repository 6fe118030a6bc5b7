package main

import (
	"context"

	"github.com/firstseen/firstseen/alike"
	"github.com/firstseen/firstseen/bench/peers"
)

// A removal is false when its text is not like the witness's: both measures below
// these.
const (
	falseJaccard     = 0.3
	falseContainment = 0.5
)

// A removal is grey when a fifth of its text or more is new: it is less than
// alikeLCS like its witness, and less than greyContained of it stands there.
const greyContained = 0.8

// likeness is how alike a removal and its witness are, each 0 to 1.
type likeness struct {
	jaccard, containment float64 // of shingles; of the smaller in the larger
	contained            float64 // of the removal in the witness
	lcs                  float64
}

func (l *likeness) isFalse() bool {
	return l.jaccard < falseJaccard && l.containment < falseContainment
}

func (l *likeness) isGrey() bool { return l.lcs < alikeLCS && l.contained < greyContained }

// outcome is what a rule did to a set.
type outcome struct {
	witness          map[int]int // removed document → its witness
	size             int64       // bytes remembered
	mosaics, related int
}

func (s *labelled) decide(ctx context.Context, rule peers.Rule) (*outcome, error) {
	o := &outcome{witness: map[int]int{}}
	for i, doc := range s.docs {
		witness, removed, err := rule.Decide(doc)
		if err != nil {
			return nil, err
		}
		if removed {
			o.witness[i] = witness
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	o.size = rule.Size()
	if p, ok := rule.(*program); ok {
		o.mosaics, o.related = p.mosaics, p.related
	}
	return o, nil
}

// kept is how many documents are in the output.
func (s *labelled) kept(o *outcome) int { return len(s.docs) - len(o.witness) }

// figures measures what a rule did to the set.
func (s *labelled) figures(o *outcome, rule string) *figures {
	r := &figures{
		Corpus: s.name, Rule: rule, Documents: len(s.docs), Removed: len(o.witness),
		Mosaics: o.mosaics, Related: o.related,
		Bytes: float64(o.size) / float64(max(s.kept(o), 1)),
	}
	s.countRemovals(o, r)
	s.countPairs(o, r)
	return r
}

func (s *labelled) countRemovals(o *outcome, r *figures) {
	if s.frame != nil {
		r.Frame = new(int)
	}
	for doc := range s.docs { // in order, so that the means are the same to the last bit
		witness, removed := o.witness[doc]
		if !removed {
			continue
		}
		l := s.alike(doc, witness)
		r.False += count(s.isFalse(doc, witness, &l))
		r.Grey += count(l.isGrey())
		if s.frame != nil {
			*r.Frame += count(s.isFrame(doc, witness, &l))
		}
		n := float64(len(o.witness))
		r.Jaccard += l.jaccard / n
		r.Containment += l.containment / n
		r.LCS += l.lcs / n
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *labelled) isFalse(doc, witness int, l *likeness) bool {
	if s.origin != nil {
		return s.origin[doc] != s.origin[witness]
	}
	return l.isFalse()
}

func (s *labelled) isFrame(doc, witness int, l *likeness) bool {
	return s.frame != nil && l.isGrey() && s.frame(s.docs[doc].ID, s.docs[witness].ID)
}

// alike measures a removal exactly, once.
func (s *labelled) alike(doc, witness int) likeness {
	key := [2]int{doc, witness}
	if l, ok := s.measured[key]; ok {
		return l
	}
	a, b := alike.New(s.docs[doc].Text), alike.New(s.docs[witness].Text)
	l := likeness{contained: alike.Contained(a, b), lcs: alike.LCS(a, b)}
	l.jaccard, l.containment = alike.Jaccard(a, b)
	s.measured[key] = l
	return l
}

// countPairs counts what became of the labelled pairs.
func (s *labelled) countPairs(o *outcome, r *figures) {
	copies := s.copies(o)
	r.LeftOf = map[string][2]int{}
	for i := range s.pairs {
		p := &s.pairs[i]
		earlier, later := s.of(p)
		witness, removed := o.witness[later]
		if p.alike {
			r.Alike++
			r.Found += count(removed && copies.of(witness) == copies.of(earlier))
			left := count(s.isLeft(o, p))
			r.Left += left
			of := r.LeftOf[p.label]
			r.LeftOf[p.label] = [2]int{of[0] + left, of[1] + 1}
		}
		if p.negative() {
			r.Negatives++
			r.NegativesRemoved += count(removed && witness == earlier)
		}
	}
}

// isLeft reports whether both documents of a pair stay in the output.
func (s *labelled) isLeft(o *outcome, p *pair) bool {
	earlier, later := s.of(p)
	_, first := o.witness[earlier]
	_, second := o.witness[later]
	return !first && !second
}

// copies joins the documents that are alike, by the labels or as removals.
func (s *labelled) copies(o *outcome) clusters {
	c := newClusters(len(s.docs))
	for i := range s.pairs {
		if s.pairs[i].alike {
			c.join(s.of(&s.pairs[i]))
		}
	}
	for doc, witness := range o.witness {
		if s.alike(doc, witness).lcs >= alikeLCS {
			c.join(doc, witness)
		}
	}
	return c
}

// clusters is a union-find over documents.
type clusters []int

func newClusters(n int) clusters {
	c := make(clusters, n)
	for i := range c {
		c[i] = i
	}
	return c
}

func (c clusters) of(i int) int {
	for c[i] != i {
		c[i] = c[c[i]]
		i = c[i]
	}
	return i
}

func (c clusters) join(i, j int) { c[c.of(i)] = c.of(j) }
