package similarity

import (
	"math"
	"math/bits"
	"slices"
)

// MaxSteps is how long a measure may take that grows with the product of two lengths, some
// ten seconds in the worst case. What needs more is not measured.
const MaxSteps = 1 << 29

// LCSWithin returns 2·LCS/(n+m) over units, 0 to 1. ok is false if it takes more than the given steps.
// They are at most n·m/64 in the bit-parallel algorithm of Hyyrö, "Bit-Parallel LCS-length Computation
// Revisited" (2004). It takes far fewer if most units are rare: only the words of the row that a unit
// changes are touched. Copies are cheap, because their common beginning and end are set aside. Long
// texts are gone through by their differences.
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

// middle returns the rest of x and y without their common beginning and end, and the number of
// units in those.
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

// lcsLength is the length of the longest common subsequence of x and y. After each unit of y, bit i
// of row is 0 if one more unit of x[:i+1] than of x[:i] is found.
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

// standing says at which places of one word of the row a unit stands.
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
// Words without a match change only while a carry comes in. It returns the number of words it went
// over, plus one.
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

// ripple carries through words that have no match, and returns what comes out, and how
// many there were. A word of ones stays as it is and hands the carry on; any other keeps
// it.
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

// EditWithin is 1 − d/max(n,m). d is the Levenshtein distance of two texts of n and m characters:
// the number of characters to insert, remove or replace to turn one into the other. The characters
// are those of the units, in lower case. One space stands between two units if neither is a CJK
// character; so punctuation and spacing do not count. Two texts without a unit are alike. ok is
// false if it would take more steps than the given ones.
//
// Short texts go through Myers' bit-parallel algorithm, "A fast bit-vector algorithm for
// approximate string matching based on dynamic programming" (1999), in the form for long patterns
// of Hyyrö (2003): n·m/64 steps. Long ones go along the diagonals (Ukkonen, 1985): some n + d²
// steps.
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

// characters are those that an edit distance counts.
func characters(s string) (all []rune) {
	wide := true // the last unit was a CJK character
	for unit := range Units(s) {
		first := len(all)
		for _, r := range unit {
			all = append(all, r)
		}
		before := wide
		if wide = classOf(all[first])&alone != 0; !wide && !before {
			all = slices.Insert(all, first, ' ')
		}
	}
	return all
}

// column is a word of a column of the matrix. Bit i of up is 1 if the distance grows by one from
// row i-1 to row i; bit i of down is 1 if it falls.
type column struct{ up, down uint64 }

// levenshtein is the distance of x and y; x is the shorter. Along y one column of the matrix is
// kept, 64 rows a word.
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
		in := 1 // the first row is the number of characters of y
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

// advance goes to the next character of y: equal are the rows whose character it is, in
// the difference that comes from the word above; it returns the one at the row of top.
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
// turn x into y. For each number of edits it goes along every diagonal as far as these edits reach.
// ok is false if that takes more steps.
func diagonals[T comparable](x, y []T, replace bool, steps int64) (edits int, ok bool) {
	end := len(y) - len(x)            // the diagonal on which both end; on k, j = i+k
	var before, now []int             // how far x is gone through on each diagonal, see below
	const unreached = math.MinInt / 2 // before any row that can be
	for edits = 0; ; edits++ {
		// Diagonal k stands at k+edits+2. Two at each end are never reached.
		now = slices.Grow(now[:0], 2*edits+5)[:2*edits+5]
		for i := range now {
			now[i] = unreached
		}
		for k := max(-edits, -len(x)); k <= min(edits, len(y)); k++ {
			i := 0
			if edits > 0 {
				at := k + edits + 1 // in before
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
