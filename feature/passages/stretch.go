package passages

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/feature/units"
)

// A Stretch is a row of words of a text that stands in an earlier one.
type Stretch struct {
	From, To int  // its first word, and the one behind its last
	Of       int  // its first word in the earlier text
	Document int  // the earlier text: a lower number is earlier
	Inner    bool // the earlier text was not read: the stretch may go on at both ends
	// OfStart and OfEnd are its place in the earlier text, in code points; both 0 if not known.
	OfStart, OfEnd int
}

// locate finds the place of a stretch in the earlier text.
func (s *Stretch) locate(e *units.Text) {
	s.OfStart, s.OfEnd = e.Points(e.Range(s.Of, s.Of+s.To-s.From))
}

// manyChains is from how many chains between two texts on those within a stretch found before are
// left out: a sentence repeated in both has the product of its repetitions.
const manyChains = 256

// AppendRead appends the stretches of least words or more that the chains of d in e lead to. Both
// texts are compared form by form, the chains too. It reports whether all chains of several picks are
// in both: else e is hardly the text that was remembered.
func AppendRead(dst []Stretch, d, e *units.Text, document int, chains []Chain, least int) (_ []Stretch, faithful bool) {
	from, faithful := len(dst), true
	for _, c := range chains {
		if len(chains) > manyChains && slices.ContainsFunc(dst[from:], func(o Stretch) bool { return o.From <= c.From && c.From+c.Words <= o.To }) {
			continue
		}
		for done := 0; done < c.Words; {
			s, ok := around(d, e, c.From+done, c.Of+done)
			faithful = faithful && (ok && s.To >= c.From+c.Words || c.Picks == 1)
			if !ok || slices.ContainsFunc(dst[from:], func(o Stretch) bool { return o.From == s.From && o.Of == s.Of }) {
				done = max(done+1, s.To-c.From)
				continue
			}
			if done = s.To - c.From + 1; s.To-s.From >= least {
				s.Document = document
				dst = append(dst, s)
			}
		}
	}
	return dst, faithful
}

// around returns the longest stretch with the i-th word of d, if the j-th of e is the same.
func around(d, e *units.Text, i, j int) (Stretch, bool) {
	same := func(i, j int) bool {
		return i >= 0 && j >= 0 && i < d.Len() && j < e.Len() && bytes.Equal(d.Form(i), e.Form(j))
	}
	if !same(i, j) {
		return Stretch{}, false
	}
	from, to := 0, 1
	for same(i+from-1, j+from-1) {
		from--
	}
	for same(i+to, j+to) {
		to++
	}
	return Stretch{From: i + from, To: i + to, Of: j + from}, true
}

// AppendInner appends the chains of least words or more as stretches: for an earlier text that cannot
// be read.
func AppendInner(dst []Stretch, document int, chains []Chain, least int) []Stretch {
	for _, c := range chains {
		if c.Words >= least {
			dst = append(dst, Stretch{From: c.From, To: c.From + c.Words, Of: c.Of, Document: document, Inner: true})
		}
	}
	return dst
}

// Cover returns disjoint stretches, in order, that together have all words of the given ones. Of those
// that begin at or before the end so far, the one that ends last is next, without the words before
// that end. Of several the earliest document's is, in it the leftmost.
func Cover(stretches []Stretch) []Stretch {
	slices.SortFunc(stretches, func(a, b Stretch) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Of, b.Of))
	})
	var cover []Stretch
	end := 0
	for i := 0; i < len(stretches); {
		best, limit := stretches[i], max(end, stretches[i].From)
		for ; i < len(stretches) && stretches[i].From <= limit; i++ {
			s := stretches[i]
			if cmp.Or(cmp.Compare(best.To, s.To), cmp.Compare(s.Document, best.Document), cmp.Compare(s.Of-s.From, best.Of-best.From)) < 0 {
				best = s
			}
		}
		if best.To <= end {
			continue
		}
		if skip := end - best.From; skip > 0 {
			best.From, best.Of = end, best.Of+skip
			best.OfStart, best.OfEnd = 0, 0
		}
		cover, end = append(cover, best), best.To
	}
	return cover
}
