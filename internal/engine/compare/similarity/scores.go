package similarity

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/canon"
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

const (
	// A run has leastRun letters, and one more for each time that the earlier text doubles from
	// plainRuns letters on, since a longer text has more runs by chance. So a tenth to a fifth of an
	// unrelated English text stands in one of 3,000 to 1,000,000 letters. By runs of eight in all,
	// it would be a tenth to nine tenths. Longer runs than these lose scans and edited sentences.
	leastRun  = 8
	plainRuns = 4096
	maxRun    = 24 // a run is compared as three words of eight letters

	// stride is the number of letters from one earlier run in the table to the next. Filling the
	// table takes most of the time.
	stride = 2
)

// runIn returns the length of the runs to look for in an earlier text of that many letters.
func runIn(letters int) int { return min(leastRun+bits.Len(uint(letters/plainRuns)), maxRun) }

// Stands returns the share, 0 to 1, of the later text's letters that stand in the earlier one: those
// of runs of letters that the earlier one has too, wherever they are. Letters are folded, without
// spaces, as in the sketches (canon.Scanner.AppendLetters). So a wrong letter takes a few letters
// with it, and new text all of its own. What comes twice counts twice. A text without letters has
// none there.
//
// Unlike the sketches it compares all letters. It takes linear time, and 6 to 10 bytes for each letter
// of the earlier text.
func Stands(later, earlier []byte) float64 {
	f := finders.Get().(*finder)
	defer finders.Put(f)
	f.later, f.earlier = f.letters(f.later[:0], later), f.letters(f.earlier[:0], earlier)
	if len(f.later) == 0 {
		return 0
	}
	return float64(f.count(runIn(len(f.earlier)))) / float64(len(f.later))
}

// A finder finds the runs of letters that two texts have in common. It is used again.
type finder struct {
	scanner        *canon.Scanner
	later, earlier []byte   // letters
	table          []uint32 // places of runs by their hashes, from 1; open addressing
}

var finders = sync.Pool{New: func() any {
	f := &finder{scanner: canon.NewScanner()}
	f.scanner.CountUnits()
	return f
}}

// letters appends the letters of a text to dst.
func (f *finder) letters(dst, text []byte) []byte {
	f.scanner.Reset(text)
	pieces := 0
	for {
		step := f.scanner.Next()
		if step == canon.Piece {
			if pieces++; pieces%canon.Together > 0 {
				continue
			}
		}
		dst = f.scanner.AppendLetters(dst)
		f.scanner.ForgetSegments()
		if step == canon.End {
			return dst
		}
	}
}

// count returns the number of later letters in stretches of n letters or more that are among the
// earlier ones. Of a stretch of exactly n letters, it finds one in stride. Of a longer one it may lose
// the first and the last letter, if the earlier text has parts of it more than once.
func (f *finder) count(n int) (letters int) {
	x, y := f.later, f.earlier
	f.reset(len(y) / stride)
	for i := 0; i+n <= len(y); i += stride {
		if slot, at := f.find(y[i:], n); at < 0 {
			f.table[slot] = uint32(i + 1)
		}
	}
	end := 0 // of the letters counted
	for i := 0; i+n <= len(x); i++ {
		_, at := f.find(x[i:], n)
		if at < 0 {
			continue
		}
		first, next := i, i+n
		for ; first > end && first-i+at > 0 && x[first-1] == y[first-1-i+at]; first-- {
		}
		for ; next < len(x) && next-i+at < len(y) && x[next] == y[next-i+at]; next++ {
		}
		letters += next - max(first, end)
		i, end = next-n, next // the runs before are found
	}
	return letters
}

// reset empties the table for that many runs. At most half of the slots are taken, so a search mostly
// ends at once; with a quarter, more of the table is outside of the caches.
func (f *finder) reset(runs int) {
	f.table = slices.Grow(f.table[:0], 2<<bits.Len(uint(runs)))[:2<<bits.Len(uint(runs))]
	clear(f.table)
}

// find returns the place of an earlier run in the table that is equal to the first n letters of run, or
// -1 and the slot for it.
func (f *finder) find(run []byte, n int) (slot, at int) {
	y := f.earlier
	first, middle, last := load(run), load(run[n/2-4:]), load(run[n-8:])
	high, low := bits.Mul64(first^factors[0], last^factors[1])
	mask := uint64(len(f.table) - 1)
	for slot := (high ^ low ^ middle*factors[2]) >> 32 & mask; ; slot = (slot + 1) & mask {
		at := int(f.table[slot]) - 1
		if at < 0 || load(y[at:]) == first && load(y[at+n-8:]) == last && load(y[at+n/2-4:]) == middle {
			return int(slot), at
		}
	}
}

func load(letters []byte) uint64 { return binary.LittleEndian.Uint64(letters) }
