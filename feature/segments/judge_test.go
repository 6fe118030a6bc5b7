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
	complete := Record{Features: 10}
	cut := func(n int) Record { // complete down to the n-th of ten
		f := ten.Features[n-1]
		return Record{Features: 50, CutWidth: f.Width, CutOrder: f.Order}
	}
	for name, c := range map[string]struct {
		score  method.Score
		of     Record
		shared []uint32
		want   method.Finding
	}{
		"nothing":               {0, complete, nil, method.Finding{Comparable: 10, Features: 10}},
		"less":                  {0, complete, []uint32{0, 1, 2, 3, 4}, method.Finding{Score: 50. / 120, Share: 50. / 120, Comparable: 10, Features: 10}},
		"exactly":               {0, complete, []uint32{0, 1, 2, 3, 4, 5}, method.Finding{Relation: method.Copy, Score: .5, Share: .5, Comparable: 10, Features: 10}},
		"by number":             {method.ScoreSegments, complete, []uint32{0, 1, 2, 3, 4}, method.Finding{Relation: method.Copy, Score: .5, Share: .5, Comparable: 10, Features: 10}},
		"over the comparable":   {0, cut(5), []uint32{0, 1, 2}, method.Finding{Relation: method.Related, Score: .25, Share: .5, Comparable: 5, Features: 50}},
		"too few comparable":    {0, cut(4), []uint32{0, 1, 2}, method.Finding{Score: .25, Share: 30. / 48, Comparable: 4, Features: 50}},
		"a key beyond":          {0, cut(5), []uint32{0, 1, 7}, method.Finding{Score: .25, Share: 20. / 60, Comparable: 5, Features: 50}},
		"half comparable":       {method.ScoreSegments, cut(5), []uint32{0, 1, 2, 3, 4}, method.Finding{Relation: method.Copy, Score: .5, Share: 1, Comparable: 5, Features: 50}},
		"whole, few comparable": {method.ScoreSegments, cut(4), []uint32{0, 1, 2, 3, 9}, method.Finding{Relation: method.Related, Score: .5, Share: 1, Comparable: 4, Features: 50}},
	} {
		j := NewJudge(method.Rules{Threshold: .5, Score: c.score})
		j.Load(ten)
		got, err := j.Compare(candidate(j, c.shared...), c.of.Append(nil))
		c.want.Contained = c.want.Score
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	j := NewJudge(method.Rules{Threshold: .5})
	j.Load(ten)
	for _, record := range [][]byte{{1}, append(complete.Append(nil), 0)} {
		if _, err := j.Compare(candidate(j, 1), record); err == nil {
			t.Errorf("%x was compared", record)
		}
	}
}

// TestHalfComparable loads eleven segments, the first five of them heavy. Five comparable segments
// are less than half, six are more.
func TestHalfComparable(t *testing.T) {
	eleven := sketchOf(0, 42, 42, 42, 42, 42, 12, 12, 12, 12, 12, 12)
	for n, want := range map[int]method.Relation{5: method.Related, 6: method.Copy} {
		j := NewJudge(method.Rules{Threshold: .5})
		j.Load(eleven)
		last := eleven.Features[n-1]
		r := Record{Features: 50, CutWidth: last.Width, CutOrder: last.Order}
		if f, err := j.Compare(candidate(j, 0, 1, 2, 3, 4), r.Append(nil)); err != nil || f.Relation != want || f.Comparable != n || f.Score < .5 {
			t.Errorf("%d of 11: %+v, %v", n, f, err)
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
		j := NewJudge(method.Rules{Threshold: .5, Score: c.score})
		if j.Load(c.sketch); j.Whole() != c.want {
			t.Errorf("%s: %d, want %d", name, j.Whole(), c.want)
		}
	}
	j := NewJudge(method.Rules{})
	if j.Load(sketchOf(0, 1, 2, 5)); j.Weight(0) != 0 || j.Weight(1) != 0 || j.Weight(2) != 3 || j.Size(0) != 1 {
		t.Error("weights of 1, 2 and 5 units:", j.Weight(0), j.Weight(1), j.Weight(2))
	}
}

func TestMayReach(t *testing.T) {
	j := NewJudge(method.Rules{Threshold: .5})
	j.Load(sketchOf(500, 12, 12, 12, 12, 12, 12, 12))
	for seen, want := range map[string]bool{
		"ynnnnnn": false,
		"yyynnnn": true, // of the first five
		"yynnnny": false,
		"nnnnnnn": false,
		"nyyyyyy": true,
	} {
		var marks []bool
		for _, c := range seen {
			marks = append(marks, c == 'y')
		}
		if got := j.MayReach(marks); got != want {
			t.Errorf("%s: %v", seen, got)
		}
	}
	got := j.Select(nil, &method.Found{Candidates: []method.Candidate{{Weight: 10, CommonWeight: 50}, {Weight: 30}, {Weight: 29}, {Weight: 31}}})
	if !slices.Equal(got, []int{1, 3}) {
		t.Errorf("selected %v of those that weigh 10, 30, 29, 31 of 60", got)
	}
}

func TestSame(t *testing.T) {
	j := NewJudge(method.Rules{Threshold: .5})
	record := func(s *method.Sketch) []byte {
		j.Load(s)
		return j.Record(nil)
	}
	other := sketchOf(0, 1, 2, 3)
	other.Whole++
	few, five, six, cut := sketchOf(0, 1, 2, 3), sketchOf(0, 1, 2, 3, 4, 5), sketchOf(0, 1, 2, 3, 4, 5, 6), truncated(sketchOf(0, 1, 2, 3))
	for _, c := range []struct {
		a, b *method.Sketch
		want bool
	}{
		{few, few, true},
		{few, sketchOf(0, 9), true},
		{few, other, false},
		{few, five, false},
		{five, five, true},
		{five, six, false},
		{cut, cut, true},
		{cut, few, false},
		{cut, truncated(sketchOf(0, 1, 2)), false},
	} {
		data := record(c.a)
		j.Load(c.b)
		same, features, err := j.Same(data)
		if same != c.want || features != len(c.a.Features) || err != nil {
			t.Errorf("%d segments and %d: %v, %d, %v", len(c.a.Features), len(c.b.Features), same, features, err)
		}
	}
	if same, _, err := j.Same(nil); same || err == nil {
		t.Error("nothing stored is the same text")
	}
}
