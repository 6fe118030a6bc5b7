package feature

import "slices"

// A chooser keeps the n first of the distinct features it is given, in the
// order of compare. It gathers up to 2n, or more where n is small, and then
// throws all but n away, so that a text of a million segments costs little more
// than looking at each; from then on it knows the last that could be chosen.
type chooser struct {
	n         int
	features  []Feature
	last      Feature // the n-th so far
	full      bool    // last is known
	truncated bool    // something distinct was thrown away
}

func newChooser(n int) chooser {
	return chooser{n: n, features: make([]Feature, 0, max(2*n, 128))}
}

func (c *chooser) reset() {
	c.features = c.features[:0]
	c.full, c.truncated = false, false
}

// compare orders features: the widest first, then by key, and occurrences of
// one segment by position.
func compare(a, b Feature) int {
	switch {
	case a.Width != b.Width:
		return int(b.Width) - int(a.Width)
	case a.Key != b.Key:
		if a.Key < b.Key {
			return -1
		}
		return 1
	}
	return int(int64(a.Start) - int64(b.Start))
}

// wants reports whether a segment of that width may be chosen; if not, it need
// not be hashed.
func (c *chooser) wants(width int) bool {
	if c.full && uint32(width) < c.last.Width {
		c.truncated = true
		return false
	}
	return true
}

// wantsKey reports whether to add a segment that wants let pass.
func (c *chooser) wantsKey(width int, key uint64) bool {
	if !c.full || uint32(width) > c.last.Width || key < c.last.Key {
		return true
	}
	c.truncated = c.truncated || key > c.last.Key
	return false
}

func (c *chooser) add(f Feature) {
	c.features = append(c.features, f)
	if len(c.features) == cap(c.features) {
		c.compact()
	}
}

// compact sorts, drops repeats, and drops what comes after the n-th.
func (c *chooser) compact() {
	slices.SortFunc(c.features, compare)
	c.features = slices.CompactFunc(c.features, func(a, b Feature) bool {
		return a.Key == b.Key && a.Width == b.Width
	})
	if len(c.features) > c.n {
		c.features = c.features[:c.n]
		c.truncated = true
	}
	if len(c.features) == c.n {
		c.last, c.full = c.features[c.n-1], true
	}
}

// result writes what was chosen to dst and leaves the other fields zero.
func (c *chooser) result(dst *Set) {
	c.compact()
	*dst = Set{Features: append(dst.Features[:0], c.features...), Truncated: c.truncated}
}
