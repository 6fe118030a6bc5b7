package passages

import (
	"cmp"
	"slices"
)

// A Stretch is a sequence of words of a text that occurs in an earlier one.
type Stretch struct {
	From, To int  // its first word, and the one after its last
	Of       int  // its first word in the earlier text
	Document int  // lower if earlier
	Inner    bool // the earlier text was not read; the stretch may extend further at both ends
}

// manyChains limits the chains between two texts. With more, those within stretches already found
// are skipped: a sentence repeated in both has the product of its repetitions.
const manyChains = 256

// AppendRead appends the stretches of least words or more around the chains of d in e, the hashes of
// two texts' words. It compares them one by one, in the chains too. It reports whether all chains of
// several picks are in both texts; if not, e has probably changed since its picks were stored.
func AppendRead(dst []Stretch, d, e []uint32, document int, chains []Chain, least int) (_ []Stretch, faithful bool) {
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

// around returns the longest stretch that includes the i-th word of d, if it equals the j-th of e.
func around(d, e []uint32, i, j int) (Stretch, bool) {
	if i >= len(d) || j >= len(e) || d[i] != e[j] {
		return Stretch{}, false
	}
	from, to := 0, 1
	for i+from > 0 && j+from > 0 && d[i+from-1] == e[j+from-1] {
		from--
	}
	for i+to < len(d) && j+to < len(e) && d[i+to] == e[j+to] {
		to++
	}
	return Stretch{From: i + from, To: i + to, Of: j + from}, true
}

// Cover returns disjoint stretches, in order, that cover the same words. Of the stretches that
// begin at or before the end so far, it takes the one that ends last, without the words already
// covered. Ties go to the earliest document, and there to the leftmost stretch.
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
		}
		cover, end = append(cover, best), best.To
	}
	return cover
}
