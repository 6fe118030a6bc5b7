package similarity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
}

// Of measures a pair. If f is nil, all units weigh the same.
func Of(a, b *Text, f *Frequencies) (s Scores) {
	if f == nil {
		f = &Frequencies{}
	}
	s.Jaccard, s.Containment = Jaccard(a, b)
	s.Contained, s.Cosine, s.Hamming = Contained(a, b), Cosine(a, b, f), Hamming(a, b)
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

// Verified holds if 80% of the later text stands in the earlier one. It also holds if 80% of both
// are the same in order and a few words in a row are too. Tables of numbers reach that share
// without a common line. Its score is the share that holds.
var Verified = Condition{Score: "verified"}

const (
	verifiedShare   = 0.8 // of the later text's shingles, or of both texts by LCS
	verifiedJaccard = 0.3 // least Jaccard similarity for the LCS to decide
)

// verified measures Verified. Shingles settle most pairs, in a tenth of the time of an LCS.
func verified(later, earlier *Text) (value float64, holds, ok bool) {
	n, m, both := countShingles(later, earlier)
	contained := containedShare(n, both)
	if contained >= verifiedShare || float64(both) < verifiedJaccard*float64(n+m-both) {
		return contained, contained >= verifiedShare, true
	}
	a, b := float64(later.Units()), float64(earlier.Units())
	if 2*min(a, b) < verifiedShare*(a+b) { // an LCS cannot reach it either
		return contained, false, true
	}
	lcs, measured := LCSWithin(later, earlier, MaxSteps)
	return lcs, measured && lcs >= verifiedShare, measured
}

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
func (c Condition) Measure(later, earlier *Text) (value float64, holds, ok bool) {
	ok = true
	switch c.Score {
	case Verified.Score:
		return verified(later, earlier)
	case "lcs":
		value, ok = LCSWithin(later, earlier, MaxSteps)
	case "edit":
		value, ok = EditWithin(later, earlier, MaxSteps)
	case "jaccard":
		value, _ = Jaccard(later, earlier)
	case "containment":
		_, value = Jaccard(later, earlier)
	case "contained":
		value = Contained(later, earlier)
	}
	return value, ok && value >= c.Least, ok
}
