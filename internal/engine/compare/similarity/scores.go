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
