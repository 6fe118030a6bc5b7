package segments

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/feature/method"
)

// sketchOf returns a sketch with segments of these units, the widest first, and other units.
func sketchOf(other uint64, units ...uint32) *method.Sketch {
	s := &method.Sketch{Whole: 77, Units: other}
	for i, u := range units {
		s.Features = append(s.Features, method.Feature{Key: uint64(i) + 1, Order: 3 * uint64(i), Width: uint32(90 - i), Units: u})
		s.Units += uint64(u)
	}
	return s
}

func truncated(s *method.Sketch) *method.Sketch {
	s.Truncated = true
	return s
}

// candidate returns a candidate that shares the features at these positions.
func candidate(j *Judge, positions ...uint32) *method.Candidate {
	c := &method.Candidate{Num: 1, Shared: positions}
	for _, i := range positions {
		c.Weight += j.Weight(int(i))
	}
	return c
}

func TestCompare(t *testing.T) {
	ten := sketchOf(0, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12) // each weighs 10, of 120 units
	for name, c := range map[string]struct {
		score  method.Score
		of     *method.Sketch
		shared []uint32
		want   method.Finding
	}{
		"nothing":         {0, ten, nil, method.Finding{}},
		"less":            {0, ten, []uint32{0, 1, 2, 3, 4}, method.Finding{Score: 50. / 120}},
		"exactly":         {0, ten, []uint32{0, 1, 2, 3, 4, 5}, method.Finding{Relation: method.Copy, Score: .5}},
		"by number":       {method.ScoreSegments, ten, []uint32{0, 1, 2, 3, 4}, method.Finding{Relation: method.Copy, Score: .5}},
		"by number, less": {method.ScoreSegments, ten, []uint32{0, 1, 2, 3}, method.Finding{Score: .4}},
		"short pieces":    {0, sketchOf(1, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12), []uint32{0, 1, 2, 3, 4, 5}, method.Finding{Score: 60. / 121}},
		"more than are chosen": {
			0, truncated(sketchOf(1, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12)),
			[]uint32{0, 1, 2, 3, 4, 5},
			method.Finding{Relation: method.Copy, Score: .5},
		},
	} {
		j := &Judge{Rules: method.Rules{Threshold: .5, Score: c.score}}
		j.Load(c.of)
		got := j.CompareRecord(candidate(j, c.shared...), &Record{Features: 50})
		c.want.Contained, c.want.Features = c.want.Score, 50
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestWhole(t *testing.T) {
	for name, c := range map[string]struct {
		score  method.Score
		sketch *method.Sketch
		want   uint64
	}{
		"with short pieces":            {0, sketchOf(7, 5, 4), 16},
		"of the chosen":                {0, truncated(sketchOf(7, 5, 4)), 9},
		"segments":                     {method.ScoreSegments, sketchOf(7, 5, 4), 2},
		"nothing but short pieces":     {0, sketchOf(7), 7},
		"nothing but that, by segment": {method.ScoreSegments, sketchOf(7), 0},
	} {
		j := &Judge{Rules: method.Rules{Threshold: .5, Score: c.score}}
		if j.Load(c.sketch); j.Whole() != c.want {
			t.Errorf("%s: %d, want %d", name, j.Whole(), c.want)
		}
	}
	j := &Judge{Rules: method.Rules{}}
	if j.Load(sketchOf(0, 1, 2, 5)); j.Weight(0) != 0 || j.Weight(1) != 0 || j.Weight(2) != 3 || j.Size(0) != 1 {
		t.Error("weights of 1, 2 and 5 units:", j.Weight(0), j.Weight(1), j.Weight(2))
	}
}

func TestMayReach(t *testing.T) {
	j := &Judge{Rules: method.Rules{Threshold: .5}}
	j.Load(sketchOf(36, 12, 12, 12, 12, 12, 12, 12)) // each weighs 10, of 120 units
	for seen, want := range map[string]bool{
		"nnnnnnn": false,
		"yyyyynn": false,
		"nnyyyyy": false,
		"nyyyyyy": true,
		"yyyyyyn": true,
		"yyyyyyy": true,
	} {
		var marks []bool
		for _, c := range seen {
			marks = append(marks, c == 'y')
		}
		if got := j.MayReach(marks); got != want {
			t.Errorf("%s: %v", seen, got)
		}
	}
	got := j.Select(nil, &method.Found{Candidates: []method.Candidate{{Weight: 10}, {Weight: 60}, {Weight: 59}, {Weight: 61}}})
	if !slices.Equal(got, []int{1, 3}) {
		t.Errorf("selected %v of those that weigh 10, 60, 59, 61 of 120", got)
	}
}
