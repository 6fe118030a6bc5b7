package similarity

import (
	"math"
	"math/bits"
	"slices"
)

// MaxSteps limits measures that grow with the product of two lengths, to some ten seconds in the
// worst case. Pairs that need more are not measured.
const MaxSteps = 1 << 29

// LCSWithin returns 2·LCS/(n+m) over units, 0 to 1. ok is false if it takes more than the given
// steps. These are at most n·m/64 in the bit-parallel algorithm of Hyyrö, "Bit-Parallel LCS-length
// Computation Revisited" (2004). If most units are rare it takes far fewer, because a unit changes
// few words of the row. Copies are cheap, because their common beginning and end are set aside.
// Long texts are compared by their differences.
func LCSWithin(a, b *Text, steps int64) (share float64, ok bool) {
	all := len(a.units) + len(b.units)
	if all == 0 {
		return 1, true
	}
	x, y, same := middle(a.units, b.units)
	if len(x) > len(y) {
		x, y = y, x
	}
	length, ok := lcsLength(x, y, steps)
	if !ok {
		differences, found := diagonals(x, y, false, steps)
		if !found {
			return 0, false
		}
		length = (len(x) + len(y) - differences) / 2
	}
	return 2 * float64(same+length) / float64(all), true
}

// middle returns x and y without their common beginning and end, and the number of units removed.
func middle[T comparable](x, y []T) (_, _ []T, same int) {
	n := min(len(x), len(y))
	for same < n && x[same] == y[same] {
		same++
	}
	x, y = x[same:], y[same:]
	end := 0
	for n -= same; end < n && x[len(x)-1-end] == y[len(y)-1-end]; {
		end++
	}
	return x[:len(x)-end], y[:len(y)-end], same + end
}

// lcsLength returns the length of the longest common subsequence of x and y. After each unit of y,
// bit i of row is 0 if x[:i+1] has one more unit in common with y than x[:i].
func lcsLength(x, y []uint64, steps int64) (length int, ok bool) {
	where := positions(x)
	row := slices.Repeat([]uint64{^uint64(0)}, (len(x)+63)/64)
	for _, u := range y {
		if steps -= step(row, where[u]); steps < 0 {
			return 0, false
		}
	}
	length = 64 * len(row)
	for _, word := range row {
		length -= bits.OnesCount64(word)
	}
	return length, true
}

// standing holds the places of a unit within one word of the row.
type standing struct {
	word int
	bits uint64
}

// positions maps every unit to its positions, in order.
func positions[T comparable](units []T) map[T][]standing {
	where := make(map[T][]standing, len(units)/4)
	for i, u := range units {
		found := where[u]
		if last := len(found) - 1; last >= 0 && found[last].word == i/64 {
			found[last].bits |= 1 << (i % 64)
		} else {
			where[u] = append(found, standing{i / 64, 1 << (i % 64)})
		}
	}
	return where
}

// step computes row = (row + (row AND match)) OR (row AND NOT match); match has the bits of found.
// Words without a match change only with a carry. It returns the number of words visited plus one.
func step(row []uint64, found []standing) (words int64) {
	carry, next := uint64(0), 0
	words = 1 + int64(len(found))
	for _, f := range found {
		more := int64(0)
		carry, more = ripple(row[next:f.word], carry)
		words += more
		v := row[f.word]
		var sum uint64
		sum, carry = bits.Add64(v, v&f.bits, carry)
		row[f.word] = sum | v&^f.bits
		next = f.word + 1
	}
	_, more := ripple(row[next:], carry)
	return words + more
}

// ripple carries through words that have no match, and returns the carry out and the number of
// words visited. A word of ones passes the carry on unchanged; any other absorbs it.
func ripple(row []uint64, carry uint64) (out uint64, words int64) {
	if carry == 0 {
		return 0, 0
	}
	for i, v := range row {
		if v != ^uint64(0) {
			row[i] = v | (v + 1)
			return 0, int64(i) + 1
		}
	}
	return 1, int64(len(row))
}

// EditWithin returns 1 − d/max(n,m) for two texts of n and m characters and their Levenshtein
// distance d. This is the number of characters to insert, remove or replace to turn one into the
// other. The characters are those of the units, in lower case. A space stands between two units
// unless one is a single letter, such as a CJK character. So punctuation and spacing do not count.
// Two texts without units are alike. ok is false if it takes more than the given steps.
//
// Short texts take n·m/64 steps in Myers' bit-parallel algorithm, in Hyyrö's form for long patterns
// (2003). See "A fast bit-vector algorithm for approximate string matching based on dynamic
// programming" (1999). Long texts take some n + d² steps along diagonals (Ukkonen, 1985).
func EditWithin(a, b *Text, steps int64) (share float64, ok bool) {
	all, other := characters(a.text), characters(b.text)
	longest := max(len(all), len(other))
	if longest == 0 {
		return 1, true
	}
	x, y, _ := middle(all, other)
	if len(x) > len(y) {
		x, y = y, x
	}
	var distance int
	if words := int64(len(x)+63) / 64; words == 0 || int64(len(y)) <= steps/words {
		distance = levenshtein(x, y)
	} else if distance, ok = diagonals(x, y, true, steps); !ok {
		return 0, false
	}
	return 1 - float64(distance)/float64(longest), true
}

// characters returns the characters that an edit distance counts.
func characters(s string) (all []rune) {
	wide := true // the last unit takes no space
	for unit := range Units(s) {
		first := len(all)
		all = append(all, []rune(unit)...)
		before := wide
		if wide = classOf(all[first])&alone != 0; !wide && !before {
			all = slices.Insert(all, first, ' ')
		}
	}
	return all
}

// column is a word of a column of the matrix. Bit i of up is 1 if the distance grows by one from
// row i-1 to row i. Bit i of down is 1 if it falls by one.
type column struct{ up, down uint64 }

// levenshtein returns the distance of x, the shorter, and y. It keeps one column, 64 rows a word.
func levenshtein(x, y []rune) (distance int) {
	if len(x) == 0 {
		return len(y)
	}
	where := positions(x)
	words := slices.Repeat([]column{{up: ^uint64(0)}}, (len(x)+63)/64)
	distance = len(x)
	last := uint64(1) << ((len(x) - 1) % 64)
	for _, r := range y {
		found := where[r]
		in := 1 // the distance in the first row grows with y
		for i := range words {
			equal := uint64(0)
			if len(found) > 0 && found[0].word == i {
				equal, found = found[0].bits, found[1:]
			}
			top := uint64(1) << 63
			if i == len(words)-1 {
				top = last
			}
			in = words[i].advance(equal, in, top)
		}
		distance += in
	}
	return distance
}

// advance moves to the next character of y. equal marks the rows with this character, and in is the
// difference from the word above. It returns the difference at the row of top.
func (c *column) advance(equal uint64, in int, top uint64) (out int) {
	diagonal := equal | c.down
	if in < 0 {
		equal |= 1
	}
	same := ((equal & c.up) + c.up) ^ c.up | equal
	more, less := c.down|^(same|c.up), c.up&same
	switch {
	case more&top != 0:
		out = 1
	case less&top != 0:
		out = -1
	}
	more, less = more<<1, less<<1
	switch {
	case in > 0:
		more |= 1
	case in < 0:
		less |= 1
	}
	c.up, c.down = less|^(diagonal|more), more&diagonal
	return out
}

// diagonals returns the number of elements to insert or remove, or with replace also to replace, to
// turn x into y. For each number of edits it follows every diagonal as far as they reach. ok is
// false if it takes more than the given steps.
func diagonals[T comparable](x, y []T, replace bool, steps int64) (edits int, ok bool) {
	end := len(y) - len(x)            // diagonal on which both end; on diagonal k, j = i+k
	var before, now []int             // number of elements of x passed on each diagonal, see below
	const unreached = math.MinInt / 2 // less than any row
	for edits = 0; ; edits++ {
		// Diagonal k has index k+edits+2. Two entries at each end are never reached.
		now = slices.Grow(now[:0], 2*edits+5)[:2*edits+5]
		for i := range now {
			now[i] = unreached
		}
		for k := max(-edits, -len(x)); k <= min(edits, len(y)); k++ {
			i := 0
			if edits > 0 {
				at := k + edits + 1 // index in before
				i = max(before[at-1], before[at+1]+1)
				if replace {
					i = max(i, before[at]+1)
				}
			}
			i = min(i, len(x), len(y)-k)
			from := i
			for i < len(x) && i+k < len(y) && i+k >= 0 && x[i] == y[i+k] {
				i++
			}
			now[k+edits+2] = i
			if steps -= int64(i-from) + 1; steps < 0 {
				return 0, false
			}
			if k == end && i == len(x) {
				return edits, true
			}
		}
		before, now = now, before
	}
}
