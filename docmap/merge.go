package docmap

import (
	"math"
	"slices"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// mergeSpace advances each merge in progress by its share, and starts those that became possible.
func (t *Table) mergeSpace(space int) error {
	s := &t.spaces[space]
	for level := 0; level <= maxLevel(s.runs); level++ {
		if target := s.merging(level); target != nil {
			if err := t.advanceMerge(space, target, t.mergeShare(s, level, target.first)); err != nil {
				return err
			}
		}
		at, n := t.mergeable(s, level)
		if n == 0 {
			continue
		}
		if target := s.merging(level); target != nil {
			if err := t.advanceMerge(space, target, 1); err != nil {
				return err
			}
			at, n = t.mergeable(s, level)
		}
		if err := t.start(space, s.runs[at:at+n], level); err != nil {
			return err
		}
	}
	return nil
}

func maxLevel(runs []*run) int {
	level := 0
	for _, r := range runs {
		level = max(level, int(r.level))
	}
	return level
}

func (s *space) merging(level int) *run {
	for i, r := range s.runs {
		if int(r.level) == level+1 && i+1 < len(s.runs) && s.runs[i+1].target == r.id {
			return r
		}
	}
	return nil
}

// mergeable returns the position and number of adjacent runs to merge into one of the next level.
// These are fanIn runs of this level, or all runs of an ended slice of a window if none has a
// higher level. None is already being merged.
func (t *Table) mergeable(s *space, level int) (at, n int) {
	for at = 0; at < len(s.runs); at += n {
		last := t.head.win.last(s.runs[at].first, never)
		if last == never {
			break // its slice is open
		}
		n = 0
		for n < len(s.runs)-at && s.runs[at+n].first <= last {
			n++
		}
		if of := s.runs[at : at+n]; n > 1 && maxLevel(of) == level && !slices.ContainsFunc(of, (*run).busy) {
			return at, n
		}
	}
	n = 0
	for i, r := range s.runs[at:] {
		if n++; r.busy() || int(r.level) != level {
			n = 0
		}
		if n == t.sizes.fanIn(level) {
			return at + i + 1 - n, n
		}
	}
	return 0, 0
}

func (r *run) busy() bool { return r.target != 0 || r.high != math.MaxUint64 }

// mergeShare returns the share to do, after a flush, of the merge of runs from document first on.
// In an ended slice a merge takes half as many flushes as the slice had: more slices follow.
func (t *Table) mergeShare(s *space, level int, first uint32) float64 {
	pace := t.sizes.pace(level)
	last := t.head.win.last(first, never)
	if last == never {
		return pace
	}
	total := uint64(1)
	for _, r := range s.runs {
		if first <= r.first && r.last <= last {
			total += r.entries
		}
	}
	return max(pace, min(1, 2*float64(t.opt.MemtableKeys)/float64(total)))
}

// start begins a merge of runs and does its first share.
func (t *Table) start(of int, sources []*run, level int) error {
	from := space{runs: sources}
	info := runInfo{
		id: t.head.nextRun, level: uint8(level + 1), log: sorted.LogFor(from.entries()),
		first: sources[0].first, last: sources[len(sources)-1].last,
	}
	if info.first == 1 && t.tombstones.dead.n > 0 && t.tombstones.win.length == 0 {
		info.first = 0 // 0 stands for dead holders
	}
	return t.advanceMerge(of, &run{runInfo: info}, t.mergeShare(&t.spaces[of], level, info.first))
}

// A mergeStep is one transaction of a merge.
type mergeStep struct {
	t       *Table
	space   int
	target  *run   // a copy until the commit
	sources []*run // likewise
	from    uint64 // first bin of the target to write
	step    uint64 // target bins in the widest source bin
	fresh   bool   // the target is new
}

// advanceMerge moves the boundary of a merge by a share of the key space, in bounded transactions.
func (t *Table) advanceMerge(space int, target *run, share float64) error {
	for goal := uint64(0); ; {
		sl := t.newMergeStep(space, target)
		bins := sl.target.Bins()
		if goal == 0 {
			goal = sl.from + uint64(math.Ceil(share*float64(bins)))
			goal = min(bins, (goal+sl.step-1)/sl.step*sl.step)
		}
		if err := sl.run(goal); err != nil {
			return err
		}
		if err := t.pause(); err != nil {
			return err
		}
		target = sl.target
		if target.high == math.MaxUint64 || sl.target.BinOf(target.high)+1 >= goal {
			return nil
		}
	}
}

// newMergeStep prepares the next transaction, on copies that replace the originals on commit.
func (t *Table) newMergeStep(space int, target *run) *mergeStep {
	sl := &mergeStep{t: t, space: space}
	id := target.id
	at := slices.IndexFunc(t.spaces[space].runs, func(r *run) bool { return r.id == id })
	if sl.fresh = at < 0; sl.fresh {
		sl.target = t.sizes.newRun(target.runInfo)
	} else {
		c := *target
		sl.target = &c
		sl.from = c.BinOf(c.high) + 1
	}
	fewest := sl.target.Bins()
	for _, r := range t.spaces[space].runs {
		if r.target == id || sl.fresh && r.id != id && r.first >= target.first && r.last <= target.last {
			c := *r
			c.target = id
			sl.sources = append(sl.sources, &c)
			fewest = min(fewest, r.Bins())
		}
	}
	sl.step = sl.target.Bins() / fewest
	return sl
}

// run executes the transaction, at most up to target bin number goal.
func (sl *mergeStep) run(goal uint64) error {
	t := sl.t
	err := t.update(func(c *change) {
		if sl.fresh {
			c.head.nextRun = sl.target.id + 1
		}
		sl.move(c, goal)
		sl.install(c)
		t.putHeader(c, nil)
	})
	// bbolt has moved the neighbours of removed and added bins.
	for _, r := range append(sl.sources, sl.target) {
		r.Forget()
	}
	return err
}

// move writes target bins, in multiples of the widest source bin, and removes their sources.
func (sl *mergeStep) move(c *change, goal uint64) {
	r := sl.target
	before := r.entries
	from := space{runs: sl.sources, limit: sl.t.spaces[sl.space].limit, keep: sl.t.keep(sl.space, r.first, r.last)}
	// The source entries determine the number of bins that fill a transaction.
	left := r.Bins() - sl.from
	perBin := r.binBytes(from.entries(), left)
	bytes := sl.t.mostValues()
	if sl.t.opt.Stepwise {
		bytes = min(bytes, stepBytes)
	}
	n := max(1, uint64(bytes)/perBin/sl.step) * sl.step
	end := min(goal, sl.from+n)
	sl.t.writeBins(c, r, sl.from, end, perBin, math.MaxInt, &from)
	r.high = r.Highest(end - 1)
	c.head.merged += r.entries - before
	for _, src := range sl.sources {
		if c.err == nil {
			c.err = src.dropBelow(c, sl.t, r.high)
		}
	}
}

// dropBelow removes a source's bins up to key high. It counts their entries in the previous state.
func (r *run) dropBelow(c *change, t *Table, high uint64) error {
	if high == math.MaxUint64 {
		c.drop(r.bucket())
		return nil
	}
	s, err := t.reading()
	if err != nil {
		return err
	}
	for bin := r.BinOf(r.low); bin <= r.BinOf(high); bin++ {
		v, err := r.view(s, bin)
		if err != nil {
			return err
		}
		r.entries -= uint64(v.Len())
		c.delete(r.bucket(), binKey(bin))
	}
	r.low = high + 1
	return nil
}

// install replaces the table's runs with those of the step.
func (sl *mergeStep) install(c *change) {
	done := sl.target.high == math.MaxUint64
	if done {
		c.head.merges++
	}
	var runs []*run
	for _, r := range c.head.runs[sl.space] {
		i := slices.IndexFunc(sl.sources, func(c *run) bool { return c.id == r.id })
		switch {
		case r.id == sl.target.id:
		case i < 0:
			runs = append(runs, r)
		default:
			if i == 0 {
				runs = append(runs, sl.target)
			}
			if !done {
				runs = append(runs, sl.sources[i])
			}
		}
	}
	c.head.runs[sl.space] = runs
}
