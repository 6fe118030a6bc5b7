package twostage

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
)

// A bins counts the bins of two sketches: equal, different, and filled in the first alone.
type bins struct{ equal, other, first int }

// sketches returns two sketches with these bins.
func (b bins) sketches(t *testing.T) (d, e sketch) {
	var first, second []byte // as sketch.Append writes them, one number per bin
	for i := range binCount {
		x, y := byte(1+i%15), byte(1+i%15)
		switch {
		case i < b.equal:
		case i < b.equal+b.other:
			y = 1 + (x+3)%15
		case i < b.equal+b.other+b.first:
			y = 0
		default:
			x, y = 0, 0
		}
		first, second = append(first, x), append(second, y)
	}
	return parsed(t, first), parsed(t, second)
}

// parsed returns the sketch with these numbers.
func parsed(t *testing.T, numbers []byte) (s sketch) {
	t.Helper()
	mask, packed, n := make([]byte, 16), make([]byte, 64), 0
	for i, v := range numbers {
		if v > 0 {
			mask[i/8] |= 1 << (i % 8)
			packed[n/2] |= v << (n % 2 * 4)
			n++
		}
	}
	b := append([]byte{byte(n)}, append(mask, packed[:(n+1)/2]...)...)
	if 16+(n+1)/2 >= 64 {
		b = b[:1]
		for i := 0; i < len(numbers); i += 2 {
			b = append(b, numbers[i]|numbers[i+1]<<4)
		}
	}
	if _, err := s.Parse(b); err != nil {
		t.Fatal(err)
	}
	return s
}

// same has all bins in common, for a Jaccard similarity of 1.
var same = bins{equal: 128}

// A document has segments of these units, each weighing two less, other units, and run keys.
type document struct {
	units []uint32
	other uint64
	keys  int
	runs  uint64
	// truncated reports that there are more segments.
	truncated bool
}

func (d document) sketch(s sketch) *method.Sketch {
	set := &method.Sketch{Whole: 77, Units: d.other, Leads: d.keys, Truncated: d.truncated}
	for i, u := range d.units {
		set.Features = append(set.Features, method.Feature{Key: uint64(i) + 1, Order: 3 * uint64(i), Width: uint32(90 - i), Units: u})
		set.Units += uint64(u)
	}
	for i := range d.keys {
		set.Features = append(set.Features, method.Feature{Key: uint64(i) + 1000, Order: uint64(i)})
	}
	k := known{runs: d.runs, distinct: d.runs, sketch: s}
	set.Data = k.append(nil)
	return set
}

// A meeting is a document and its relation to an earlier one.
type meeting struct {
	d      document
	runs   uint64 // of the earlier document
	bins   bins
	shared int  // leading segments shared
	keys   int  // run keys shared
	common int  // trailing segments that are common
	of     bool // whether the earlier document has these too
	t      float64
	places []int // of the bins' runs in the text, lowest bin first; nil for none
}

// judge reports whether the earlier document is selected, and returns the finding.
func (m *meeting) judge(t *testing.T) (selected bool, f method.Finding) {
	t.Helper()
	j := NewJudge(method.Rules{Threshold: m.t})
	first, second := m.bins.sketches(t)
	earlier := m.d
	earlier.runs = m.runs
	j.Load(earlier.sketch(second))
	record := j.Record(nil)
	d := m.d.sketch(first)
	for _, at := range m.places {
		d.Data = binary.LittleEndian.AppendUint32(d.Data, uint32(at))
	}
	j.Load(d)
	found := m.found(j)
	selected = len(j.Select(nil, found)) > 0
	f, err := j.Compare(&found.Candidates[0], record)
	if err != nil {
		t.Fatal(err)
	}
	return selected, f
}

func (m *meeting) found(j method.Judge) *method.Found {
	c := method.Candidate{Num: 1}
	for i := range m.shared {
		c.Shared = append(c.Shared, uint32(i))
		c.Weight += j.Weight(i)
	}
	for i := range m.keys {
		c.Shared = append(c.Shared, uint32(len(m.d.units)+i))
	}
	f := &method.Found{}
	for i := len(m.d.units) - m.common; i < len(m.d.units); i++ {
		f.Common = append(f.Common, uint32(i))
		if m.of {
			c.CommonWeight += j.Weight(i)
		}
	}
	f.Candidates = []method.Candidate{c}
	return f
}

// ten returns ten segments that weigh 10 each, of 200 units: four are a fifth.
func ten(runs uint64) document {
	return document{units: slices.Repeat([]uint32{12}, 10), other: 80, keys: 8, runs: runs}
}

// TestWhoIsCompared checks the limits of rule 6.
func TestWhoIsCompared(t *testing.T) {
	three := document{units: []uint32{12, 12, 12}, other: 64, runs: 100}
	below := ten(100)
	below.other++
	// The first five segments have 60 units, so the threshold of a third is 20.
	prefix := document{units: []uint32{12, 12, 12, 12, 12, 400, 400}, runs: 100}
	for _, c := range []struct {
		name string
		m    meeting
		want bool
	}{
		{"a fifth", meeting{d: ten(100), shared: 4, t: .9}, true},
		{"less than a fifth", meeting{d: below, shared: 4, t: .9}, false},
		{"three run keys", meeting{d: ten(100), keys: 3, t: .9}, true},
		{"two run keys", meeting{d: ten(100), keys: 2, t: .9}, true},
		{"one run key", meeting{d: ten(100), keys: 1, t: .9}, false},
		{"one run key and a segment", meeting{d: ten(100), keys: 1, shared: 1, t: .9}, false},
		{"the threshold, less than a fifth", meeting{d: three, shared: 1, t: .1}, true},
		{"less than the threshold", meeting{d: three, shared: 1, t: .11}, false},
		{"the threshold of the first five", meeting{d: prefix, shared: 2, t: 1. / 3}, true},
		{"less of the first five", meeting{d: prefix, shared: 2, t: .34}, false},
		{"half with common ones", meeting{d: ten(100), shared: 1, common: 9, of: true, t: .9}, true},
		{"half, none of it common", meeting{d: document{units: []uint32{102, 12}, other: 86, runs: 100}, common: 1, of: true, t: .9}, false},
		{"half by common ones alone", meeting{d: document{units: []uint32{22, 102}, other: 76, runs: 100}, common: 1, of: true, t: .9}, true},
		{"less than half with common ones", meeting{d: below, shared: 1, common: 9, of: true, t: .9}, false},
		{"common ones of others", meeting{d: ten(100), shared: 1, common: 9, t: .9}, false},
		{"nothing of a text without segments", meeting{d: document{other: 0, runs: 100}, t: .9}, false},
	} {
		c.m.runs, c.m.bins = 100, same
		if got, _ := c.m.judge(t); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestNumbersOfTheDecision checks the limits of rules 13 and 14. If all bins are equal, documents
// of a and b runs have (a+b)/2 in common.
func TestNumbersOfTheDecision(t *testing.T) {
	// J = 4/11, so documents of 100 and 200 runs have 80 in common: C is .8, M is .4.
	in := bins{equal: 8, first: 14}
	const kept, related, removed = method.Unrelated, method.Related, method.Copy
	menu := document{units: append(slices.Repeat([]uint32{12}, 20), 20, 60), other: 0, runs: 320}
	// C is .42 for pages of one length; .29 is the share that sketches must find for .75 × .65.
	confirmed := bins{equal: 40, other: 88}
	// longer returns M of documents of a and b runs with this number of equal bins, of 128.
	longer := func(equal, a, b float64) float64 {
		j := (15*equal - 128) / (14 * 128)
		return j * (a + b) / (1 + j) / max(a, b)
	}
	// About half, a third and a quarter of 100 runs are in common with 201.
	half, third, little3 := bins{equal: 31, other: 97}, bins{equal: 24, other: 104}, bins{equal: 19, other: 109}
	sample := menu                            // its segments are the longest of many
	sample.truncated, sample.runs = true, 590 // 236 words are common or shared
	longest := sample
	longest.runs++
	fewer := document{units: append(slices.Repeat([]uint32{12}, 12), 20, 28), runs: 192}
	eighth := document{units: append(slices.Repeat([]uint32{12}, 20), 40), other: 40, runs: 320}
	less := eighth
	less.other++
	explains := document{units: append(slices.Repeat([]uint32{12}, 20), 60), runs: 300}
	little := explains
	little.other++
	for _, c := range []struct {
		name  string
		m     meeting
		want  method.Relation
		score float64
	}{
		{"the threshold, by segments", meeting{d: ten(100), runs: 20, bins: same, shared: 4, t: .6}, removed, .6},
		{"less", meeting{d: ten(101), runs: 20, bins: same, shared: 4, t: .6}, kept, 121. / 202},
		{"by run keys", meeting{d: ten(100), runs: 20, bins: same, keys: 3, t: .6}, removed, .6},
		{"by run keys, less", meeting{d: ten(100), runs: 20, bins: same, keys: 3, t: .61}, kept, .6},
		{"a part common", meeting{d: ten(100), runs: 30, bins: same, shared: 4, common: 2, t: .6}, removed, .65},
		{"a part common, less", meeting{d: ten(100), runs: 29, bins: same, shared: 4, common: 2, t: .6}, related, .645},
		{"a part common, by run keys", meeting{d: ten(100), runs: 30, bins: same, keys: 3, common: 2, t: .6}, removed, .65},
		{"a part common, by run keys, less", meeting{d: ten(100), runs: 29, bins: same, keys: 3, common: 2, t: .6}, related, .645},
		{"most common", meeting{d: ten(100), runs: 60, bins: same, keys: 3, common: 9, t: .6}, removed, .8},
		{"most common, less", meeting{d: ten(100), runs: 59, bins: same, keys: 3, common: 9, t: .6}, related, .795},
		{"most common, a higher threshold", meeting{d: ten(100), runs: 60, bins: same, keys: 3, common: 9, t: .81}, kept, .8},
		{"by common ones", meeting{d: ten(100), runs: 20, bins: same, shared: 1, common: 9, of: true, t: .6}, removed, .6},
		{"by common ones, less", meeting{d: ten(100), runs: 20, bins: same, shared: 1, common: 9, of: true, t: .61}, kept, .6},
		{"by run keys and common ones", meeting{d: ten(100), runs: 20, bins: same, keys: 3, shared: 1, common: 9, of: true, t: .6}, removed, .6},
		{"by a low threshold", meeting{d: ten(100), runs: 60, bins: same, shared: 2, t: .1}, removed, .8},
		{"by a low threshold, less", meeting{d: ten(100), runs: 59, bins: same, shared: 2, t: .1}, related, .795},
		{"contained", meeting{d: ten(100), runs: 200, bins: in, shared: 4, t: .6}, removed, .8},
		{"contained, less", meeting{d: ten(101), runs: 200, bins: in, shared: 4, t: .6}, related, 4. / 15 * 301 / 200},
		{"contained, less than a higher threshold", meeting{d: ten(100), runs: 200, bins: in, shared: 4, t: .81}, kept, .4},
		{"contained, by run keys", meeting{d: ten(100), runs: 200, bins: in, keys: 3, t: .6}, removed, .8},
		{"more than twice as long", meeting{d: ten(100), runs: 201, bins: half, shared: 4, t: .6}, kept, .2},
		{"more than twice as long, by segments", meeting{d: ten(100), runs: 201, bins: third, shared: 10, t: .5}, removed, .5},
		{"more than twice as long, by segments, sketches say no", meeting{d: ten(100), runs: 201, bins: little3, shared: 10, t: .5}, related, .5},
		{"three times as long, contained", meeting{d: ten(100), runs: 300, bins: bins{equal: 42, other: 86}, shared: 4, t: .6}, removed, .8},
		{"three times as long, less", meeting{d: ten(100), runs: 300, bins: bins{equal: 41, other: 87}, shared: 4, t: .6}, kept, .2},
		{"three times as long, nearly all segments", meeting{d: ten(100), runs: 300, bins: bins{equal: 39, other: 89}, shared: 9, t: .6}, removed, .8},
		{"three times as long, nearly all segments, less", meeting{d: ten(100), runs: 300, bins: bins{equal: 38, other: 90}, shared: 9, t: .6}, kept, .45},
		{"three times as long, not nearly all", meeting{d: ten(100), runs: 300, bins: bins{equal: 41, other: 87}, shared: 8, t: .6}, kept, .4},
		{"four times as long", meeting{d: ten(100), runs: 400, bins: bins{equal: 37, other: 91}, shared: 4, t: .6}, removed, .8},
		{"four times as long, less", meeting{d: ten(100), runs: 400, bins: bins{equal: 36, other: 92}, shared: 4, t: .6}, kept, .2},
		{"more than four times as long", meeting{d: ten(100), runs: 401, bins: same, shared: 4, t: .6}, kept, .2},
		{"more than four times as long, sketches say no", meeting{d: ten(100), runs: 401, bins: bins{other: 128}, shared: 10, t: .5}, removed, .5},
		{"too short", meeting{d: ten(19), runs: 19, bins: same, shared: 4, t: .6}, kept, .2},
		{"a shorter one too short", meeting{d: ten(20), runs: 19, bins: same, shared: 4, t: .6}, kept, .2},
		{"just long enough", meeting{d: ten(20), runs: 20, bins: same, shared: 4, t: .6}, removed, 1},
		{"segments say yes, sketches no", meeting{d: ten(100), runs: 100, bins: bins{other: 128}, shared: 10, t: .5}, related, 0},
		{"a menu", meeting{d: menu, runs: 256, bins: confirmed, shared: 13, common: 2, t: .6}, removed, .65},
		{"a menu, a longer page", meeting{d: menu, runs: 400, bins: confirmed, shared: 13, common: 2, t: .6}, removed, .65},
		{"a menu, too short a page", meeting{d: menu, runs: 255, bins: confirmed, shared: 13, common: 2, t: .6}, kept, longer(40, 320, 255)},
		{"a menu, too long a page", meeting{d: menu, runs: 401, bins: confirmed, shared: 13, common: 2, t: .6}, kept, longer(40, 320, 401)},
		{"a menu, less than the threshold", meeting{d: menu, runs: 320, bins: confirmed, shared: 13, common: 2, t: .66}, kept, longer(40, 1, 1)},
		{"a menu, .25 + .75 × .6 of the page", meeting{d: menu, runs: 320, bins: confirmed, shared: 12, common: 2, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, .2 + .8 × .65 of the page", meeting{d: explains, runs: 300, bins: confirmed, shared: 13, common: 1, t: .6}, removed, .65},
		{"a menu, less of the page", meeting{d: little, runs: 300, bins: confirmed, shared: 13, common: 1, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, ten segments", meeting{d: fewer, runs: 192, bins: confirmed, shared: 10, common: 2, t: .6}, removed, 10. / 12},
		{"a menu, nine segments", meeting{d: fewer, runs: 192, bins: confirmed, shared: 9, common: 2, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, an eighth", meeting{d: eighth, runs: 320, bins: confirmed, shared: 16, common: 1, t: .6}, removed, .8},
		{"a menu, less than an eighth", meeting{d: less, runs: 320, bins: confirmed, shared: 16, common: 1, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, much text outside of segments", meeting{d: eighth, runs: 320, bins: confirmed, shared: 15, common: 1, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, enough of the rest", meeting{d: menu, runs: 320, bins: bins{equal: 29, other: 99}, shared: 13, common: 2, t: .6}, removed, .65},
		{"a long page, a fifth of it", meeting{d: sample, runs: 590, bins: bins{equal: 22, other: 106}, shared: 13, common: 2, t: .6}, removed, .65},
		{"a long page, less", meeting{d: sample, runs: 590, bins: bins{equal: 21, other: 107}, shared: 13, common: 2, t: .6}, kept, longer(21, 1, 1)},
		{"a long page, two fifths of it", meeting{d: sample, runs: 590, bins: confirmed, shared: 13, common: 2, t: .6}, removed, .65},
		{"a long page, less than two fifths", meeting{d: longest, runs: 591, bins: confirmed, shared: 13, common: 2, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, too little of the rest", meeting{d: menu, runs: 320, bins: bins{equal: 28, other: 100}, shared: 13, common: 2, t: .6}, kept, longer(28, 1, 1)},
	} {
		_, f := c.m.judge(t)
		if f.Relation != c.want || math.Abs(f.Score-c.score) > 1e-15 {
			t.Errorf("%s: %+v, want relation %d, score %v", c.name, f, c.want, c.score)
		}
	}
}

// TestNewPassage keeps a copy by sketches for one long passage that the earlier document lacks. As
// much new text in many places does not keep it. Rule 9 ignores new passages.
func TestNewPassage(t *testing.T) {
	inOnePiece, allOver := make([]int, binCount), make([]int, binCount)
	for i := range inOnePiece {
		inOnePiece[i], allOver[i] = 10*i, 10*(i*37%binCount)
	}
	most := bins{equal: 80, other: 48} // .75 in common, the last 3 of 8 bins new
	long := document{units: slices.Repeat([]uint32{100}, 13), runs: 1280}
	menu := document{units: append(slices.Repeat([]uint32{60}, 18), 100, 120), runs: 1280}
	for _, c := range []struct {
		name string
		m    meeting
		want method.Relation
		new  method.Passage
	}{
		{"in one piece", meeting{d: long, bins: most, places: inOnePiece}, method.Related, method.Passage{From: 778, To: 1284, Of: 1284}},
		{"all over", meeting{d: long, bins: most, places: allOver}, method.Copy, method.Passage{}},
		{"places unknown", meeting{d: long, bins: most}, method.Copy, method.Passage{}},
		{"no copy anyway", meeting{d: long, bins: bins{equal: 50, other: 78}, places: inOnePiece}, method.Unrelated, method.Passage{}},
		{"two menus", meeting{d: menu, bins: most, places: inOnePiece, common: 2}, method.Copy, method.Passage{}},
	} {
		c.m.runs, c.m.shared, c.m.t = c.m.d.runs, 13, .6
		if c.name == "no copy anyway" {
			c.m.shared, c.m.keys = 2, 0
		}
		if _, f := c.m.judge(t); f.Relation != c.want || f.New != c.new {
			t.Errorf("%s: %+v, want relation %d, new %v", c.name, f, c.want, c.new)
		}
	}
}

// TestFindings checks all fields: by sketches, by segments, and with too little comparable.
func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name string
		m    meeting
		want method.Finding
	}{
		{"by sketches", meeting{d: ten(100), runs: 60, bins: same, shared: 4, t: .6}, method.Finding{
			Relation: method.Copy, Score: .8, Share: .2, Comparable: 10, Features: 10, Contained: .8, Estimated: true,
		}},
		{"related by sketches", meeting{d: ten(100), runs: 150, bins: bins{equal: 8, first: 14}, shared: 4, t: .6}, method.Finding{
			Relation: method.Related, Score: 4. / 15 * 250 / 150, Share: 4. / 15 * 2.5, Comparable: 10, Features: 10, Contained: 4. / 15 * 2.5, Estimated: true,
		}},
		{"by segments", meeting{d: ten(100), runs: 401, bins: same, shared: 10, t: .5}, method.Finding{
			Relation: method.Copy, Score: .5, Share: .5, Comparable: 10, Features: 10, Contained: .5,
		}},
	} {
		if _, f := c.m.judge(t); !cmp.Equal(f, c.want, near) {
			t.Errorf("%s:\n%s", c.name, cmp.Diff(c.want, f))
		}
	}
}

var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-15 })

// TestScoreSegments checks that neither run keys nor sketches count if each segment counts one.
func TestScoreSegments(t *testing.T) {
	j := NewJudge(method.Rules{Threshold: .5, Score: method.ScoreSegments})
	s := ten(100).sketch(sketch{})
	j.Load(s)
	record := j.Record(nil)
	if j.Whole() != 10 || j.Weight(0) != 1 || j.Weight(10) != 0 || j.Size(10) != 0 {
		t.Error(j.Whole(), j.Weight(0), j.Weight(10), j.Size(10))
	}
	seen := make([]bool, 18)
	for i := range 8 {
		seen[10+i] = true
	}
	if j.MayReach(seen) {
		t.Error("run keys are asked for")
	}
	c := method.Candidate{Shared: []uint32{0, 1, 2, 3, 4, 10, 11, 12}, Weight: 5}
	if f, err := j.Compare(&c, record); err != nil || f.Estimated || f.Relation != method.Copy || f.Score != .5 {
		t.Errorf("%+v, %v", f, err)
	}
	few := method.Candidate{Shared: []uint32{0, 10, 11, 12}, Weight: 1, CommonWeight: 9}
	if got := j.Select(nil, &method.Found{Candidates: []method.Candidate{few, c}}); !slices.Equal(got, []int{1}) {
		t.Errorf("selected %v", got)
	}
}

// TestMayReach checks rule 4: y marks the seen of ten segments and eight run keys.
func TestMayReach(t *testing.T) {
	j := NewJudge(method.Rules{Threshold: .9})
	j.Load(ten(100).sketch(sketch{}))
	for _, c := range []struct {
		seen string
		want bool
	}{
		{"nnnnnnnnnn nnnnnnnn", false},
		{"nnnynnnynn nynnnnnn", false},
		{"nnnynnnynn nynnnnyn", true},
		{"nnnyynnynn nnnnnnnn", false},
		{"nnnyynnyny nnnnnnnn", true},
		{"nnnnnnnnnn nynnnnnn", false},
		{"nnnnnnnnnn nynnnnny", true},
	} {
		var marks []bool
		for _, r := range strings.ReplaceAll(c.seen, " ", "") {
			marks = append(marks, r == 'y')
		}
		if got := j.MayReach(marks); got != c.want {
			t.Errorf("%s: %v", c.seen, got)
		}
	}
	j = NewJudge(method.Rules{Threshold: .3})
	j.Load(document{units: []uint32{12, 12, 12, 12, 12, 900}, runs: 100}.sketch(sketch{}))
	if !j.MayReach([]bool{true, true, false, false, false, false}) || j.MayReach([]bool{true, false, false, false, false, false}) {
		t.Error("of the first five segments two weigh a third")
	}
}

// TestMadeByHand checks that a sketch without Data has no runs, so segments decide.
func TestMadeByHand(t *testing.T) {
	j := NewJudge(method.Rules{Threshold: .5})
	s := document{units: slices.Repeat([]uint32{12}, 10)}.sketch(sketch{})
	s.Data = nil
	j.Load(s)
	record := j.Record(nil)
	c := method.Candidate{Shared: []uint32{0, 1, 2, 3, 4, 5}, Weight: 60}
	if f, err := j.Compare(&c, record); err != nil || f.Relation != method.Copy || f.Estimated || f.Contained != .5 {
		t.Errorf("%+v, %v", f, err)
	}
	if same, n, err := j.Same(record); !same || n != 10 || err != nil {
		t.Error(same, n, err)
	}
}

// TestDamagedRecord checks that a record of a wrong length is refused.
func TestDamagedRecord(t *testing.T) {
	for _, runs := range []uint64{0, 19, 20, 1 << 40} {
		j := NewJudge(method.Rules{Threshold: .5})
		first, _ := same.sketches(t)
		j.Load(ten(runs).sketch(first))
		record := j.Record([]byte("before"))[6:]
		c := method.Candidate{Shared: []uint32{0}, Weight: 10}
		if _, err := j.Compare(&c, record); err != nil {
			t.Errorf("%d runs: %v", runs, err)
		}
		for n := range record {
			if f, err := j.Compare(&c, record[:n]); err == nil {
				t.Errorf("%d runs: %d of %d bytes are %+v", runs, n, len(record), f)
			}
		}
		if f, err := j.Compare(&c, append(record, 0)); err == nil {
			t.Errorf("%d runs: a byte more is %+v", runs, f)
		}
	}
	var k known
	var s method.Sketch
	NewExtractor(segments.Scheme{}, 0).Extract(&s, []byte(strings.Repeat(english(40)+". ", 30)))
	for n := range s.Data { // truncated data has all places or none
		if places, err := k.parse(s.Data[:n], true); err == nil && len(places) > 0 && len(places) != k.sketch.Places() {
			t.Errorf("%d of %d bytes have %d of places", n, len(s.Data), len(places))
		}
	}
	tooMany := known{runs: 1<<40 + 1}
	if _, err := k.parse(tooMany.append(nil), false); err == nil {
		t.Error("more runs than any text has")
	}
	defer func() {
		if recover() == nil {
			t.Error("a sketch of another method was loaded")
		}
	}()
	NewJudge(method.Rules{}).Load(&method.Sketch{Data: []byte("other")})
}

func TestNoAllocation(t *testing.T) {
	e, j := NewExtractor(segments.Scheme{}, 0), NewJudge(method.Rules{Threshold: .5})
	text := []byte(strings.Repeat(english(40)+". "+chinese(40)+"。", 30))
	var s method.Sketch
	e.Extract(&s, text)
	j.Load(&s)
	record, data := j.Record(nil), make([]byte, 0, 256)
	c := method.Candidate{Shared: []uint32{0, 1, uint32(s.Parts())}, Weight: j.Weight(0) + j.Weight(1)}
	found := &method.Found{Candidates: []method.Candidate{c}, Common: []uint32{2}}
	seen, selected := make([]bool, len(s.Features)), make([]int, 0, 1)
	allocs := testing.AllocsPerRun(20, func() {
		e.Extract(&s, text)
		j.Load(&s)
		j.MayReach(seen)
		selected = j.Select(selected[:0], found)
		if _, err := j.Compare(&c, record); err != nil {
			panic(err)
		}
		data = j.Record(data[:0])
	})
	if allocs > 0 {
		t.Errorf("%v allocations a document", allocs)
	}
}
