package contamination

import "maps"

// series stands for all series of runs that end at the same places of an item. These differ only in
// where they begin, so each but the longest is an end of it. The first, without runs, ends
// everywhere.
type series struct {
	next map[uint64]int // the series with one more run
	end  int            // the longest end that also stands elsewhere
	runs int            // of the longest
}

// seriesOf returns the series of an item's runs: the automaton of its parts (Blumer and others, "The
// smallest automaton recognizing the subwords of a text", 1985). There are at most two for each run,
// however often the item repeats it. Each takes some 250 bytes.
func seriesOf(words []word) []series {
	all := []series{{next: map[uint64]int{}, end: -1}}
	whole := 0
	for _, run := range runsOf(words) {
		before := whole
		whole = len(all)
		all = append(all, series{next: map[uint64]int{}, runs: all[before].runs + 1})
		before = extend(all, before, 0, run, whole)
		if before < 0 {
			continue
		}
		to := all[before].next[run]
		if all[to].runs > all[before].runs+1 { // its shorter ones now stand here, too
			shorter := series{next: maps.Clone(all[to].next), end: all[to].end, runs: all[before].runs + 1}
			all[to].end = len(all)
			all = append(all, shorter)
			extend(all, before, to, run, len(all)-1)
			to = len(all) - 1
		}
		all[whole].end = to
	}
	return all
}

// extend lets run lead to a new series, from the series at and its ends, as long as it led from
// there to old; 0 is nowhere. It returns the end from which it led elsewhere, or -1.
func extend(all []series, at, old int, run uint64, to int) int {
	for ; at >= 0 && all[at].next[run] == old; at = all[at].end {
		all[at].next[run] = to
	}
	return at
}
