package eval

import (
	"context"

	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// A removal is false if its text is unlike the witness's: both measures are below these.
const (
	falseJaccard     = 0.3
	falseContainment = 0.5
)

// A removal is grey if a fifth of its text or more is new. Its LCS score is below AlikeLCS, and the
// witness contains less than greyContained of it.
const greyContained = 0.8

// A removal is long if one stretch that the witness lacks has this share of it or more.
const longStretch = 0.2

// A Likeness measures how alike a removal and its witness are, each 0 to 1.
type Likeness struct {
	Jaccard, Containment float64 // of shingles; of the smaller in the larger
	Contained            float64 // of the removal in the witness
	LCS                  float64
	Stretch              float64 // of the removal, the longest that a longest common subsequence of words leaves out
}

// IsFalse reports whether the texts have too little in common.
func (l *Likeness) IsFalse() bool {
	return l.Jaccard < falseJaccard && l.Containment < falseContainment
}

// IsGrey reports whether a fifth of the removal or more is new.
func (l *Likeness) IsGrey() bool { return l.LCS < AlikeLCS && l.Contained < greyContained }

// IsLong reports whether a fifth of the removal or more is new, in one stretch.
func (l *Likeness) IsLong() bool { return l.Stretch >= longStretch }

// An Outcome is the effect of a rule on a set.
type Outcome struct {
	Witness          map[int]int // removed document → its witness
	Size             int64       // bytes stored
	Mosaics, Related int
}

// Decide decides all documents by a rule, in order.
func (s *Set) Decide(ctx context.Context, rule Rule) (*Outcome, error) {
	o := &Outcome{Witness: map[int]int{}}
	for i, doc := range s.Docs {
		witness, removed, err := rule.Decide(doc)
		if err != nil {
			return nil, err
		}
		if removed {
			o.Witness[i] = witness
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	o.Size = rule.Size()
	if p, ok := rule.(*Program); ok {
		o.Mosaics, o.Related = p.mosaics, p.related
	}
	return o, nil
}

// kept counts the documents in the output.
func (s *Set) kept(o *Outcome) int { return len(s.Docs) - len(o.Witness) }

// Figures measures the effect of the rule on the set.
func (s *Set) Figures(o *Outcome, rule string) *Figures {
	r := &Figures{
		Corpus: s.Name, Rule: rule, Documents: len(s.Docs), Removed: len(o.Witness),
		Mosaics: o.Mosaics, Related: o.Related,
		Bytes: float64(o.Size) / float64(max(s.kept(o), 1)),
	}
	s.countRemovals(o, r)
	s.countPairs(o, r)
	return r
}

func (s *Set) countRemovals(o *Outcome, r *Figures) {
	if s.Frame != nil {
		r.Frame = new(int)
	}
	for doc := range s.Docs { // in order, for means that are equal to the last bit
		witness, removed := o.Witness[doc]
		if !removed {
			continue
		}
		l := s.Alike(doc, witness)
		r.False += count(s.IsFalse(doc, witness, &l))
		r.Grey += count(l.IsGrey())
		r.Long += count(l.IsLong())
		if s.Frame != nil {
			*r.Frame += count(s.IsFrame(doc, witness, &l))
		}
		n := float64(len(o.Witness))
		r.Jaccard += l.Jaccard / n
		r.Containment += l.Containment / n
		r.LCS += l.LCS / n
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// IsFalse reports whether a removal is false.
func (s *Set) IsFalse(doc, witness int, l *Likeness) bool {
	if s.Origin != nil {
		return s.Origin[doc] != s.Origin[witness]
	}
	return l.IsFalse()
}

// IsFrame reports whether a removal is of another page in the same frame.
func (s *Set) IsFrame(doc, witness int, l *Likeness) bool {
	return s.Frame != nil && l.IsGrey() && s.Frame(s.Docs[doc].ID, s.Docs[witness].ID)
}

// Alike measures a removal exactly, and keeps the result.
func (s *Set) Alike(doc, witness int) Likeness {
	key := [2]int{doc, witness}
	if l, ok := s.measured[key]; ok {
		return l
	}
	a, b := similarity.New(s.Docs[doc].Text), similarity.New(s.Docs[witness].Text)
	l := Likeness{Contained: similarity.Contained(a, b)}
	l.LCS, _ = similarity.LCSWithin(a, b, similarity.MaxSteps) // 0 for texts that are too long and too different
	l.Jaccard, l.Containment = similarity.Jaccard(a, b)
	l.Stretch = longestNew(s.Docs[doc].Text, s.Docs[witness].Text)
	s.measured[key] = l
	return l
}

// countPairs counts the results of the labelled pairs.
func (s *Set) countPairs(o *Outcome, r *Figures) {
	copies := s.copies(o)
	r.LeftOf = map[string][2]int{}
	for i := range s.Pairs {
		p := &s.Pairs[i]
		earlier, later := s.Of(p)
		witness, removed := o.Witness[later]
		if p.Alike {
			r.Alike++
			r.Found += count(removed && copies.of(witness) == copies.of(earlier))
			left := count(s.IsLeft(o, p))
			r.Left += left
			of := r.LeftOf[p.Label]
			r.LeftOf[p.Label] = [2]int{of[0] + left, of[1] + 1}
		}
		if p.Negative() {
			r.Negatives++
			r.NegativesRemoved += count(removed && witness == earlier)
		}
	}
}

// IsLeft reports whether both documents of a pair stay in the output.
func (s *Set) IsLeft(o *Outcome, p *Pair) bool {
	earlier, later := s.Of(p)
	_, first := o.Witness[earlier]
	_, second := o.Witness[later]
	return !first && !second
}

// copies joins alike documents, by the labels or by removals.
func (s *Set) copies(o *Outcome) clusters {
	c := newClusters(len(s.Docs))
	for i := range s.Pairs {
		if s.Pairs[i].Alike {
			c.join(s.Of(&s.Pairs[i]))
		}
	}
	for doc, witness := range o.Witness {
		if s.Alike(doc, witness).LCS >= AlikeLCS {
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

// all returns the cluster of each document.
func (c clusters) all() []int {
	of := make([]int, len(c))
	for i := range c {
		of[i] = c.of(i)
	}
	return of
}
