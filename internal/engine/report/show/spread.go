package show

import (
	"cmp"
	"hash/fnv"
	"maps"
	"path"
	"slices"

	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// spreadKind is the kind of examples from all over the report.
const spreadKind = "spread"

const (
	maxSpread = 16      // examples shown
	maxPlaces = 1 << 12 // candidates held
)

// place is a part of the report, with at most one example.
type place struct {
	verdict string
	step    int // tenths of the score
	file    string
}

// spread holds one example of each place of a report: the one with the lowest hash. So examples
// come from the whole report, and the same report has the same examples.
type spread map[place]candidate

type candidate struct {
	Example
	place
	hash uint64
}

func (s spread) add(l *lines.Line) {
	if l.Verdict == "unique" {
		return
	}
	at := place{verdictOf(l), min(int(l.Score*10+1e-9), 9), l.File}
	last, known := s[at]
	if !known && len(s) == maxPlaces {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(whereOf(l) + "\n" + l.ID))
	if hash := h.Sum64(); !known || hash < last.hash {
		s[at] = candidate{exampleOf(spreadKind, l), at, hash}
	}
}

// choose returns examples not shown yet, of the least used verdicts, scores, files and id folders.
func (s spread) choose(shown []Example) (chosen []Example) {
	left := slices.SortedFunc(maps.Values(s), func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.Where, b.Where))
	})
	left = slices.DeleteFunc(left, func(c candidate) bool {
		return slices.ContainsFunc(shown, func(e Example) bool { return e.Where == c.Where && e.ID == c.ID })
	})
	used := map[any]int{}
	for len(left) > 0 && len(chosen) < maxSpread {
		best := 0
		for i := range left {
			if left[i].uses(used) < left[best].uses(used) {
				best = i
			}
		}
		for _, trait := range left[best].traits() {
			used[trait]++
		}
		chosen = append(chosen, left[best].Example)
		left = slices.Delete(left, best, best+1)
	}
	slices.SortStableFunc(chosen, func(a, b Example) int { return cmp.Compare(a.Score, b.Score) })
	return chosen
}

// traits returns the traits in which examples should differ.
func (c *candidate) traits() [4]any {
	return [4]any{"verdict " + c.verdict, c.step, "folder " + path.Dir(c.ID), "file " + c.file}
}

func (c *candidate) uses(used map[any]int) (n int) {
	for _, trait := range c.traits() {
		n += used[trait]
	}
	return n
}
