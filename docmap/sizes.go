package docmap

import "github.com/firstseen/firstseen/docmap/sorted"

// sizes determine the division of runs and of the work. All tables have the same, except in
// tests, which need fewer documents with smaller ones.
type sizes struct {
	division sorted.Division
	// low and high are the numbers of runs of levels 0 and 1, and of those above, that
	// become one.
	low, high int
	// sliceBytes bounds the values in one transaction of a flush or merge.
	sliceBytes int
}

// Of runs: more at a time would write less and leave more runs to look into. Low
// runs are few keys and many runs; from level 2 on, 100 million keys a run, merging
// four at a time cost the tenth million of documents 4 µs each, and spares a
// look-up two runs of ten.
var defaultSizes = sizes{division: sorted.DefaultDivision, low: 4, high: 8, sliceBytes: 4 << 20}

// fanIn returns the number of runs of a level that become one of the next.
func (z *sizes) fanIn(level int) int {
	if level < 2 {
		return z.low
	}
	return z.high
}

// window returns the number of flushes between two merges of a level.
func (z *sizes) window(level int) int {
	n := 1
	for l := range level + 1 {
		n *= z.fanIn(l)
	}
	return n
}

// pace returns the share of a merge to do after each flush. The next merge of the same level
// starts no sooner than a window of flushes later; this one is done after three quarters of that.
// So the work of a flush is bounded and even: each level under way adds four thirds of the
// flush's own writing.
func (z *sizes) pace(level int) float64 { return 4.0 / 3 / float64(z.window(level)) }
