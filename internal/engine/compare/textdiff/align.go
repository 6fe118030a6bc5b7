package textdiff

import (
	"slices"
	"sort"
	"strings"
)

// longestRun is the number of units in the runs that become anchors, if found once in both texts.
const longestRun = 5

// align returns the position in b of each unit of a, both in order, or -1. It is the patience diff:
// runs that occur once in both texts divide them. Without such anchors it tries shorter runs.
func align(a, b []string) []int {
	m := &matcher{a: a, b: b, match: slices.Repeat([]int{-1}, len(a))}
	m.region(0, len(a), 0, len(b), longestRun)
	return m.match
}

type matcher struct {
	a, b  []string
	match []int
}

// region aligns a[a0:a1] and b[b0:b1] by runs of n units.
func (m *matcher) region(a0, a1, b0, b1, n int) {
	for a0 < a1 && b0 < b1 && m.a[a0] == m.b[b0] {
		m.match[a0] = b0
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && m.a[a1-1] == m.b[b1-1] {
		a1, b1 = a1-1, b1-1
		m.match[a1] = b1
	}
	anchors := m.anchors(a0, a1, b0, b1, n)
	if len(anchors) == 0 {
		if n > 2 {
			m.region(a0, a1, b0, b1, 2)
		}
		return
	}
	for _, at := range anchors {
		m.region(a0, at[0], b0, at[1], n)
		m.match[at[0]] = at[1]
		a0, b0 = at[0]+1, at[1]+1
	}
	m.region(a0, a1, b0, b1, n)
}

// anchors returns the starts of the most runs that occur once in each region, in the same order.
func (m *matcher) anchors(a0, a1, b0, b1, n int) [][2]int {
	inA, inB := once(m.a[a0:a1], n), once(m.b[b0:b1], n)
	var both [][2]int
	for run, i := range inA {
		if j, ok := inB[run]; ok && i >= 0 && j >= 0 {
			both = append(both, [2]int{a0 + i, b0 + j})
		}
	}
	slices.SortFunc(both, func(x, y [2]int) int { return x[0] - y[0] })
	return increasing(both)
}

// once maps every run of n units to its start, or to -1 if it occurs again.
func once(units []string, n int) map[string]int {
	at := map[string]int{}
	for i := 0; i+n <= len(units); i++ {
		run := runOf(units[i : i+n])
		if _, again := at[run]; again {
			at[run] = -1
		} else {
			at[run] = i
		}
	}
	return at
}

func runOf(units []string) string { return strings.Join(units, " ") }

// increasing returns the longest subsequence whose second numbers increase, as the first do.
func increasing(pairs [][2]int) [][2]int {
	var ends []int // by length, less one: the pair that ends such a subsequence lowest
	before := make([]int, len(pairs))
	for i, p := range pairs {
		length := sort.Search(len(ends), func(l int) bool { return pairs[ends[l]][1] >= p[1] })
		before[i] = -1
		if length > 0 {
			before[i] = ends[length-1]
		}
		if length == len(ends) {
			ends = append(ends, i)
		}
		ends[length] = i
	}
	var found [][2]int
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			found = append(found, pairs[i])
		}
	}
	slices.Reverse(found)
	return found
}
