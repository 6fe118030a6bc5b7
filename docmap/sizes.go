package docmap

import "github.com/firstseen/firstseen/docmap/sorted"

// sizes are what the division of runs and of the work depends on. They are the
// same for all tables but those of tests, which reach with small tables what
// takes a large one otherwise.
type sizes struct {
	division sorted.Division
	// low and high are how many runs of levels 0 and 1, and of those above,
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

// fanIn is how many runs of a level become one of the next.
func (z *sizes) fanIn(level int) int {
	if level < 2 {
		return z.low
	}
	return z.high
}

// window is how many flushes lie between two merges of a level.
func (z *sizes) window(level int) int {
	n := 1
	for l := range level + 1 {
		n *= z.fanIn(l)
	}
	return n
}

// pace is the share of a merge to do after each flush. The next merge of the
// same level cannot start for a window of flushes; this one is done after three
// quarters of it. So the work of a flush is bounded and even: each level under way
// adds four thirds of what the flush itself has written.
func (z *sizes) pace(level int) float64 { return 4.0 / 3 / float64(z.window(level)) }
