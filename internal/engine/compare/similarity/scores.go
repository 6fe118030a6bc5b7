package similarity

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

// Scores holds all measures of a pair, each 0 to 1, except Hamming, which is 0 to 64 bits. LCS and
// Edit are nil if measuring such long and different texts takes more than MaxSteps.
type Scores struct {
	Jaccard     float64  `json:"jaccard"`     // of the shingles of five units
	Containment float64  `json:"containment"` // of the smaller text's shingles in the other
	Contained   float64  `json:"contained"`   // of the first text's shingles in the second
	LCS         *float64 `json:"lcs"`         // 2·LCS/(n+m) over units
	Edit        *float64 `json:"edit"`        // 1 − distance/longer, over characters
	Cosine      float64  `json:"cosine"`      // of TF-IDF vectors over units
	Hamming     int      `json:"hamming"`     // of SimHash
	Stands      float64  `json:"stands"`      // of the first text's letters in the second, by [Stands]
}

// Of measures a pair. If f is nil, all units weigh the same.
func Of(a, b *Text, f *Frequencies) (s Scores) {
	if f == nil {
		f = &Frequencies{}
	}
	s.Jaccard, s.Containment = Jaccard(a, b)
	s.Contained, s.Cosine, s.Hamming = Contained(a, b), Cosine(a, b, f), Hamming(a, b)
	s.Stands = Stands([]byte(a.text), []byte(b.text))
	if lcs, ok := LCSWithin(a, b, MaxSteps); ok {
		s.LCS = &lcs
	}
	if edit, ok := EditWithin(a, b, MaxSteps); ok {
		s.Edit = &edit
	}
	return s
}

// A Condition is a score that two texts must reach, such as lcs>=0.8, or [Verified].
type Condition struct {
	Score string  // one of ConditionScores
	Least float64 // above 0 and at most 1
}

// Verified holds if 80% of the later text's letters stand in the earlier one, by [Stands]. So a fifth
// of the later text may be new, in one place or scattered.
var Verified = Condition{Score: "verified", Least: 0.8}

// ConditionScores lists the scores that a Condition can use.
var ConditionScores = []string{"contained", "containment", "edit", "jaccard", "lcs"}

// ParseCondition parses a condition: a score, >= and a number above 0 and at most 1.
func ParseCondition(s string) (c Condition, err error) {
	name, number, ok := strings.Cut(s, ">=")
	c.Score = strings.TrimSpace(name)
	if ok && slices.Contains(ConditionScores, c.Score) {
		if c.Least, err = strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && c.Least > 0 && c.Least <= 1 {
			return c, nil
		}
	}
	return Condition{}, fmt.Errorf("%q: want a score, >= and a share above 0 and at most 1, such as lcs>=0.8; scores are %s", s, strings.Join(ConditionScores, ", "))
}

func (c Condition) String() string {
	if c == Verified {
		return c.Score
	}
	return c.Score + ">=" + strconv.FormatFloat(c.Least, 'g', -1, 64)
}

// Measure returns the score of a later text against an earlier one, and whether the condition
// holds. ok is false if the texts are too long.
func (c Condition) Measure(later, earlier []byte) (value float64, holds, ok bool) {
	if c == Verified {
		value = Stands(later, earlier)
		return value, value >= c.Least, true
	}
	a, b := New(string(later)), New(string(earlier))
	ok = true
	switch c.Score {
	case "lcs":
		value, ok = LCSWithin(a, b, MaxSteps)
	case "edit":
		value, ok = EditWithin(a, b, MaxSteps)
	case "jaccard":
		value, _ = Jaccard(a, b)
	case "containment":
		_, value = Jaccard(a, b)
	case "contained":
		value = Contained(a, b)
	}
	return value, ok && value >= c.Least, ok
}

// Frequencies counts the documents that have a unit. For the zero value all units weigh the same.
type Frequencies struct {
	documents int
	in        map[uint64]int // by unit, for the counted units
}

// CountUnits returns Frequencies that count only the units of these texts. The memory depends on
// these texts alone, not on the documents added.
func CountUnits(texts ...*Text) *Frequencies {
	f := &Frequencies{in: map[uint64]int{}}
	for _, t := range texts {
		for _, u := range t.units {
			f.in[u] = 0
		}
	}
	return f
}

// Add counts a document.
func (f *Frequencies) Add(text string) {
	f.documents++
	seen := map[uint64]bool{}
	for unit := range Units(text) {
		u := maphash.String(seed, unit)
		if n, counted := f.in[u]; counted && !seen[u] {
			seen[u] = true
			f.in[u] = n + 1
		}
	}
}

// Documents returns the number of documents added.
func (f *Frequencies) Documents() int { return f.documents }

// Cosine returns the cosine of the TF-IDF vectors of two texts, 0 to 1. Each unit counts as often
// as it occurs, times its inverse document frequency. Two texts without units are alike.
func Cosine(a, b *Text, f *Frequencies) float64 {
	if len(a.units) == 0 && len(b.units) == 0 {
		return 1
	}
	x, y := counts(a.units), counts(b.units)
	xx, yy := f.product(x, x), f.product(y, y)
	if xx == 0 || yy == 0 {
		return 0
	}
	return min(1, f.product(x, y)/math.Sqrt(xx*yy))
}

// product sums over the sorted units, so that it is the same to the last bit within a process. The
// weight of a unit is its inverse document frequency, 1 + ln((1+N)/(1+df)), smoothed as if one more
// document had every unit.
func (f *Frequencies) product(x, y map[uint64]float64) (sum float64) {
	for _, u := range slices.Sorted(maps.Keys(x)) {
		w := 1 + math.Log(float64(1+f.documents)/float64(1+f.in[u]))
		sum += w * w * x[u] * y[u]
	}
	return sum
}

func counts(units []uint64) map[uint64]float64 {
	n := map[uint64]float64{}
	for _, u := range units {
		n[u]++
	}
	return n
}

// SimHash returns Charikar's fingerprint ("Similarity estimation techniques from rounding
// algorithms", 2002) of all runs of five units. Bit i is set if more than half of the runs' hashes
// have it. A run is hashed by the XXH3 of its units, in lower case with a zero byte after each.
// Fewer units form one run; a text without units has the fingerprint 0.
func SimHash(text string) (fingerprint uint64) {
	var ones [64]int
	var buf []byte
	units, runs := slices.Collect(Units(text)), 0
	for ; runs == 0 && len(units) > 0 || runs+ShingleUnits <= len(units); runs++ {
		buf = buf[:0]
		for _, u := range units[runs:min(runs+ShingleUnits, len(units))] {
			buf = append(append(buf, u...), 0)
		}
		h := xxh3.Hash(buf)
		for bit := range ones {
			ones[bit] += int(h >> bit & 1)
		}
	}
	for bit, n := range ones {
		if 2*n > runs {
			fingerprint |= 1 << bit
		}
	}
	return fingerprint
}

// Hamming returns the number of bits, of 64, in which the SimHash of two texts differs.
func Hamming(a, b *Text) int { return bits.OnesCount64(SimHash(a.text) ^ SimHash(b.text)) }
