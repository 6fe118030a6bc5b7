package segments

import (
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/method"
)

// A chooser keeps the first n distinct features in the order of compare. It collects up to 2n, or
// more if n is small, and then discards all but n. So a text of a million segments costs little
// more than one pass. From then on it knows the last feature that could be chosen.
type chooser struct {
	n         int
	features  []method.Feature
	spare     []method.Feature // with the same capacity
	ranks     []uint64
	counts    [widthLimit + 2]uint16
	last      method.Feature // the n-th so far
	full      bool           // last is valid
	truncated bool           // a distinct feature was discarded
}

func newChooser(n int) chooser {
	size := max(2*n, 128)
	return chooser{
		n:        n,
		features: make([]method.Feature, 0, size),
		spare:    make([]method.Feature, 0, size),
		ranks:    make([]uint64, 0, size),
	}
}

func (c *chooser) reset() {
	c.features = c.features[:0]
	c.full, c.truncated = false, false
}

// compare orders features by descending Width, then by Order, and occurrences of one segment by
// position. The secret Key matters only for segments constructed to have equal Orders.
func compare(a, b method.Feature) int {
	return cmp.Or(
		cmp.Compare(b.Width, a.Width),
		cmp.Compare(a.Order, b.Order),
		cmp.Compare(a.Key, b.Key),
		cmp.Compare(a.Start, b.Start),
	)
}

// wants reports whether a segment of that width may be chosen. If not, it need not be hashed.
func (c *chooser) wants(width int) bool {
	if c.full && uint32(width) < c.last.Width {
		c.truncated = true
		return false
	}
	return true
}

// wantsOrder reports whether to add a segment accepted by wants. One with the Order of the last may
// be a repeat or a different segment.
func (c *chooser) wantsOrder(width int, order uint64) bool {
	if !c.full || uint32(width) > c.last.Width || order <= c.last.Order {
		return true
	}
	c.truncated = true
	return false
}

func (c *chooser) add(f method.Feature) {
	c.features = append(c.features, f)
	if len(c.features) == cap(c.features) {
		c.compact()
	}
}

// compact sorts the features and drops repeats and all after the n-th.
func (c *chooser) compact() {
	if !c.sortByRank() {
		slices.SortFunc(c.features, compare)
		c.features = slices.CompactFunc(c.features, func(a, b method.Feature) bool {
			return a.Key == b.Key && a.Width == b.Width
		})
	}
	if len(c.features) > c.n {
		c.features = c.features[:c.n]
		c.truncated = true
	}
	if len(c.features) == c.n {
		c.last, c.full = c.features[c.n-1], true
	}
}

// A rank orders features by one number: the width, the bits of the order that fit, and the index.
// The index keeps the first occurrence of a segment first.
const (
	widthBits  = 9
	widthLimit = 1<<widthBits - 1
	placeMask  = 1<<12 - 1

	_ = uint(widthLimit - canon.MaxWidth) // each width fits
)

// sortByRank sorts and drops repeats like compare, in a fifth of the time, and drops features
// narrower than the n-th. It reports false, with the features unchanged, if a rank cannot
// distinguish two of them.
func (c *chooser) sortByRank() bool {
	c.rank()
	sorted := c.spare[:0]
	for from, to := 0, 0; from < len(c.ranks); from = to {
		if len(sorted) >= c.n {
			c.truncated = true
			break
		}
		to = int(c.counts[c.ranks[from]>>(64-widthBits)])
		ranks := c.ranks[from:to] // of one width
		if len(ranks) > 1 {
			slices.Sort(ranks)
		}
		for i, rank := range ranks {
			f := c.features[rank&placeMask]
			if i > 0 && (rank^ranks[i-1])&^placeMask == 0 {
				if last := &sorted[len(sorted)-1]; f.Order != last.Order || f.Key != last.Key {
					return false
				}
				continue
			}
			sorted = append(sorted, f)
		}
	}
	c.features, c.spare = sorted, c.features
	return true
}

// rank fills ranks by a counting sort, since widths are few. counts then has the end of each width.
func (c *chooser) rank() {
	wide, narrow := uint32(0), uint32(widthLimit)
	for _, f := range c.features {
		wide, narrow = max(wide, f.Width), min(narrow, f.Width)
	}
	clear(c.counts[widthLimit-wide:])
	for _, f := range c.features {
		c.counts[widthLimit-f.Width+1]++
	}
	for i := widthLimit - wide + 1; i <= widthLimit-narrow; i++ {
		c.counts[i] += c.counts[i-1]
	}
	c.ranks = c.ranks[:len(c.features)]
	for i, f := range c.features {
		place := &c.counts[widthLimit-f.Width]
		c.ranks[*place] = uint64(widthLimit-f.Width)<<(64-widthBits) | f.Order>>widthBits&^placeMask | uint64(i)
		*place++
	}
}

// result writes the chosen features to dst and clears its other fields.
func (c *chooser) result(dst *method.Sketch) {
	c.compact()
	*dst = method.Sketch{Features: append(dst.Features[:0], c.features...), Truncated: c.truncated, Data: dst.Data[:0]}
}
