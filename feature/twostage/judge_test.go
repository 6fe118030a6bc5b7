package twostage

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/feature/letters"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
)

// A bins counts the bins of two sketches: equal, different, and filled in the first alone.
type bins struct{ equal, other, first int }

// sketches returns two sketches with these bins.
func (b bins) sketches(t *testing.T) (d, e sketch) {
	var first, second []byte // as sketch.Append writes them, one number per bin
	for i := range letters.Bins {
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

// A document has segments of these units, each weighing two less and of three letters a unit, other
// units, and run keys.
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
		set.Features = append(set.Features, method.Feature{Key: uint64(i) + 1, Order: 3 * uint64(i), Width: 2 * u, Units: u})
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
	shared int // leading segments shared
	keys   int // run keys shared
	common int // trailing segments that are common
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
	for _, c := range []struct {
		name string
		m    meeting
		want bool
	}{
		{"a fifth", meeting{d: ten(100), shared: 4, t: .9}, true},
		{"less than a fifth", meeting{d: below, shared: 4, t: .9}, false},
		{"one run key", meeting{d: ten(100), keys: 1, t: .9}, true},
		{"one run key of a text without segments", meeting{d: document{other: 9, keys: 1, runs: 100}, keys: 1, t: .9}, true},
		{"the threshold, less than a fifth", meeting{d: three, shared: 1, t: .1}, true},
		{"less than the threshold", meeting{d: three, shared: 1, t: .11}, false},
		{"common ones", meeting{d: ten(100), shared: 1, common: 9, t: .9}, false},
		{"nothing", meeting{d: ten(100), t: .9}, false},
		{"nothing of a text without segments", meeting{d: document{other: 0, runs: 100}, t: .9}, false},
	} {
		c.m.runs, c.m.bins = 100, same
		if got, _ := c.m.judge(t); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestNumbersOfTheDecision checks the limits of rules 8 and 9. If all bins are equal, documents of a
// and b runs have (a+b)/2 in common.
func TestNumbersOfTheDecision(t *testing.T) {
	// J = 17/43, so documents of 100 and 200 runs have 85 in common: C is .85, M is .425.
	in := bins{equal: 17, first: 26}
	const kept, related, removed = method.Unrelated, method.Related, method.Copy
	// Pages with menus: a quarter of the text is common, and C is .417 for pages of one length. Thirteen
	// shared segments have 468 letters, of which sketches must find 281.
	menu := document{units: append(slices.Repeat([]uint32{12}, 20), 20, 60), runs: 960}
	confirmed := bins{equal: 40, other: 88}
	// longer returns M of documents of a and b runs with this number of equal bins, of 128.
	longer := func(equal, a, b float64) float64 {
		j := (15*equal - 128) / (14 * 128)
		return j * (a + b) / (1 + j) / max(a, b)
	}
	sample := menu // its segments are the longest of many
	sample.truncated, sample.runs = true, 1500
	fewer := document{units: append(slices.Repeat([]uint32{12}, 12), 20, 28), runs: 576}
	twelfth := document{units: append(slices.Repeat([]uint32{12}, 20), 24), other: 24, runs: 864}
	less := twelfth
	less.other++
	explains := document{units: append(slices.Repeat([]uint32{12}, 20), 60), runs: 900}
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
		{"most common, exactly a higher threshold", meeting{d: ten(100), runs: 70, bins: same, keys: 3, common: 9, t: .85}, removed, .85},
		{"most common, a low threshold", meeting{d: ten(100), runs: 18, bins: same, shared: 1, common: 9, t: .1}, removed, .59}, // .54 + .46 × .1
		{"most common, a low threshold, less", meeting{d: ten(100), runs: 17, bins: same, shared: 1, common: 9, t: .1}, related, .585},
		{"a low threshold", meeting{d: ten(1000), runs: 3000, bins: bins{equal: 13, other: 115}, shared: 4, t: .05}, related, longer(13, 1000, 3000)},
		{"contained", meeting{d: ten(100), runs: 200, bins: in, shared: 4, t: .6}, removed, .85},
		{"contained, less", meeting{d: ten(101), runs: 200, bins: in, shared: 4, t: .6}, related, 17. / 60 * 301 / 200},
		{"contained, exactly a higher threshold", meeting{d: ten(50), runs: 100, bins: bins{equal: 3, first: 4}, shared: 4, t: .9}, removed, .9},
		{"contained, less than a higher threshold", meeting{d: ten(100), runs: 200, bins: in, shared: 4, t: .86}, kept, .425},
		{"contained, by run keys", meeting{d: ten(100), runs: 200, bins: in, keys: 3, t: .6}, removed, .85},
		{"four times as long", meeting{d: ten(100), runs: 400, bins: bins{equal: 17, first: 66}, shared: 4, t: .6}, removed, .85},
		{"four times as long, less", meeting{d: ten(100), runs: 400, bins: bins{equal: 17, first: 67}, shared: 4, t: .6}, related, 17. / 101 * 500 / 400},
		{"four times as long, sketches say no", meeting{d: ten(100), runs: 400, bins: bins{other: 128}, shared: 10, t: .5}, related, 0},
		{"more than four times as long", meeting{d: ten(100), runs: 401, bins: same, shared: 4, t: .6}, kept, .2},
		{"more than four times as long, sketches say no", meeting{d: ten(100), runs: 401, bins: bins{other: 128}, shared: 10, t: .5}, removed, .5},
		{"without a sketch", meeting{d: ten(0), runs: 100, bins: same, shared: 4, t: .6}, kept, .2},
		{"an earlier one without a sketch", meeting{d: ten(100), runs: 0, bins: same, shared: 4, t: .6}, kept, .2},
		{"without sketches, by segments", meeting{d: ten(0), runs: 0, bins: same, shared: 10, t: .5}, removed, .5},
		{"segments say yes, sketches no", meeting{d: ten(100), runs: 100, bins: bins{other: 128}, shared: 10, t: .5}, related, 0},
		{"a menu", meeting{d: menu, runs: 960, bins: confirmed, shared: 13, common: 2, t: .6}, removed, .65},
		{"a menu, a longer page", meeting{d: menu, runs: 1200, bins: confirmed, shared: 13, common: 2, t: .6}, removed, .65},
		{"a menu, a shorter page", meeting{d: menu, runs: 768, bins: confirmed, shared: 13, common: 2, t: .6}, removed, .65},
		{"a menu, too long a page", meeting{d: menu, runs: 1201, bins: confirmed, shared: 13, common: 2, t: .6}, kept, longer(40, 960, 1201)},
		{"a menu, too short a page", meeting{d: menu, runs: 767, bins: confirmed, shared: 13, common: 2, t: .6}, kept, longer(40, 960, 767)},
		{"a menu, less than the threshold", meeting{d: menu, runs: 960, bins: confirmed, shared: 13, common: 2, t: .66}, kept, longer(40, 1, 1)},
		{"a menu, .25 + .75 × .6 of the page", meeting{d: menu, runs: 960, bins: confirmed, shared: 12, common: 2, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, .2 + .8 × .65 of the page", meeting{d: explains, runs: 900, bins: confirmed, shared: 13, common: 1, t: .6}, removed, .65},
		{"a menu, less of the page", meeting{d: little, runs: 900, bins: confirmed, shared: 13, common: 1, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, ten segments", meeting{d: fewer, runs: 576, bins: confirmed, shared: 10, common: 2, t: .6}, removed, 10. / 12},
		{"a menu, nine segments", meeting{d: fewer, runs: 576, bins: confirmed, shared: 9, common: 2, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, a twelfth", meeting{d: twelfth, runs: 864, bins: confirmed, shared: 16, common: 1, t: .6}, removed, .8},
		{"a menu, less than a twelfth", meeting{d: less, runs: 864, bins: confirmed, shared: 16, common: 1, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, much text outside of segments", meeting{d: twelfth, runs: 864, bins: confirmed, shared: 15, common: 1, t: .6}, kept, longer(40, 1, 1)},
		{"a menu, enough of the rest", meeting{d: menu, runs: 960, bins: bins{equal: 29, other: 99}, shared: 13, common: 2, t: .6}, removed, .65},
		{"a menu, too little of the rest", meeting{d: menu, runs: 960, bins: bins{equal: 28, other: 100}, shared: 13, common: 2, t: .6}, kept, longer(28, 1, 1)},
		{"a long page, a fifth of it", meeting{d: sample, runs: 1500, bins: bins{equal: 22, other: 106}, shared: 13, common: 2, t: .6}, removed, .65},
		{"a long page, less", meeting{d: sample, runs: 1500, bins: bins{equal: 21, other: 107}, shared: 13, common: 2, t: .6}, kept, longer(21, 1, 1)},
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
	inOnePiece, allOver := make([]int, letters.Bins), make([]int, letters.Bins)
	for i := range inOnePiece {
		inOnePiece[i], allOver[i] = 10*i, 10*(i*37%letters.Bins)
	}
	most := bins{equal: 80, other: 48} // .75 in common, the last 3 of 8 bins new
	long := document{units: slices.Repeat([]uint32{100}, 13), runs: 1280}
	menu := document{units: append(slices.Repeat([]uint32{20}, 18), 34, 40), runs: 1280}
	for _, c := range []struct {
		name string
		m    meeting
		want method.Relation
		new  method.Passage
	}{
		{"in one piece", meeting{d: long, bins: most, places: inOnePiece}, method.Related, method.Passage{From: 779, To: 1286, Of: 1286}},
		{"all over", meeting{d: long, bins: most, places: allOver}, method.Copy, method.Passage{}},
		{"places unknown", meeting{d: long, bins: most}, method.Copy, method.Passage{}},
		{"no copy anyway", meeting{d: long, bins: bins{equal: 50, other: 78}, places: inOnePiece}, method.Unrelated, method.Passage{}},
		{"two menus", meeting{d: menu, bins: most, places: inOnePiece, common: 2}, method.Copy, method.Passage{}},
	} {
		c.m.runs, c.m.shared, c.m.t = c.m.d.runs, 13, .6
		if c.name == "no copy anyway" {
			c.m.shared, c.m.keys = 2, 0
		}
		if _, f := c.m.judge(t); f.Relation != c.want || f.New != c.new || f.Thin {
			t.Errorf("%s: %+v, want relation %d, new %v", c.name, f, c.want, c.new)
		}
	}
}

// TestThin checks the limits beyond which a copy is a frame around a text of its own. Bins of 10 runs
// hold in the first part of the text but for every fourth, and none holds at the end but for two at
// its edge.
func TestThin(t *testing.T) {
	for _, c := range []struct {
		name       string
		equal, own int // bins that hold, and those at the end that do not
		runs       uint64
		want       bool
	}{
		{"16 bins", 92, 14, 1280, true},
		{"15 bins", 92, 13, 1280, false},
		{"16 bins, less than an eighth", 92, 14, 1360, false},
		{"24 bins, less than a quarter", 92, 22, 1280, true},
		{"a score of .85", 97, 16, 1280, false},
	} {
		places := make([]int, letters.Bins)
		at, scattered := 0, letters.Bins-c.equal-c.own // the last bins do not hold
		for bin := range c.equal {
			places[bin] = at
			if at++; bin%3 == 2 && scattered > 0 {
				scattered--
				places[c.equal+scattered] = at
				at++
			}
		}
		for i := range c.own {
			places[letters.Bins-1-i] = at + i
		}
		for bin := range places {
			places[bin] = 10*places[bin] + int(c.runs) - 1280
		}
		m := meeting{
			d: document{units: slices.Repeat([]uint32{100}, 13), runs: c.runs}, runs: c.runs,
			bins: bins{equal: c.equal, other: letters.Bins - c.equal}, shared: 13, t: .6, places: places,
		}
		if _, f := m.judge(t); f.Relation != method.Copy || f.Thin != c.want || f.New.To > 0 {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// TestFindings checks all fields: by sketches, and by segments.
func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name string
		m    meeting
		want method.Finding
	}{
		{"by sketches", meeting{d: ten(100), runs: 60, bins: same, shared: 4, t: .6}, method.Finding{
			Relation: method.Copy, Score: .8, Features: 10, Contained: .8, Estimated: true,
		}},
		{"for sure", meeting{d: ten(100), runs: 100, bins: same, shared: 4, t: .6}, method.Finding{
			Relation: method.Copy, Score: 1, Features: 10, Contained: 1, Estimated: true, Sure: true,
		}},
		{"related by sketches", meeting{d: ten(100), runs: 150, bins: bins{equal: 8, first: 14}, shared: 4, t: .6}, method.Finding{
			Relation: method.Related, Score: 4. / 15 * 250 / 150, Share: 4. / 15 * 2.5, Features: 10, Contained: 4. / 15 * 2.5, Estimated: true,
		}},
		{"related by segments alone", meeting{d: ten(100), runs: 100, bins: bins{other: 128}, shared: 10, t: .5}, method.Finding{
			Relation: method.Related, Share: .5, Features: 10, Estimated: true,
		}},
		{"by segments", meeting{d: ten(100), runs: 401, bins: same, shared: 10, t: .5}, method.Finding{
			Relation: method.Copy, Score: .5, Features: 10, Contained: .5,
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
	few := method.Candidate{Shared: []uint32{0, 10, 11, 12}, Weight: 1}
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
		{"nnnyynnynn nnnnnnnn", false},
		{"nnnyynnyny nnnnnnnn", true},
		{"nnnnnnnnnn nynnnnnn", true},
		{"nnnynnnynn nnnnnnny", true},
	} {
		var marks []bool
		for _, r := range strings.ReplaceAll(c.seen, " ", "") {
			marks = append(marks, r == 'y')
		}
		if got := j.MayReach(marks); got != c.want {
			t.Errorf("%s: %v", c.seen, got)
		}
	}
	j = NewJudge(method.Rules{Threshold: .1})
	j.Load(ten(100).sketch(sketch{}))
	seen := make([]bool, 18)
	if seen[3] = true; j.MayReach(seen) {
		t.Error("a segment of ten, half a tenth, may reach a tenth")
	}
	if seen[4] = true; !j.MayReach(seen) {
		t.Error("two segments of ten are a tenth")
	}
}

// TestMadeByHand checks that a sketch without Data has neither runs nor words, so segments decide.
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
	for _, runs := range []uint64{0, 1, 64, 1 << 40} {
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
	for name, damaged := range map[string]known{
		"more runs than any text has":  {runs: 1<<40 + 1},
		"more distinct runs than runs": {runs: 70, distinct: 71},
	} {
		if _, err := k.parse(damaged.append(nil)); err == nil {
			t.Error(name)
		}
	}
	if _, err := k.parse([]byte{0, 0, 3, 'a', 'b'}); err == nil {
		t.Error("fewer words than there should be")
	}
	j := NewJudge(method.Rules{Threshold: .5})
	s := method.Sketch{Data: (&known{runs: 3, words: []byte("some words")}).append(nil)}
	j.Load(&s)
	record := (&segments.Record{}).Append(nil)
	record = (&known{runs: 3, words: []byte{0xFE, 0}}).append(record)
	if f, err := j.Compare(&method.Candidate{}, record); err == nil {
		t.Errorf("damaged words are %+v", f)
	}
}

// TestDataOfAnotherMethod checks that Load panics at data that no Extractor made: callers that take
// sketches from others rely on it.
func TestDataOfAnotherMethod(t *testing.T) {
	var s method.Sketch
	NewExtractor(segments.Scheme{}, 0).Extract(&s, []byte(english(450)))
	loads := func(data []byte) (loads bool) {
		defer func() { loads = recover() == nil }()
		NewJudge(method.Rules{}).Load(&method.Sketch{Data: data})
		return true
	}
	if !loads(nil) || !loads(s.Data) || loads([]byte("other")) {
		t.Error("no data, those of an Extractor or others are taken wrongly")
	}
	var k known
	if _, err := k.parse(s.Data); err != nil {
		t.Fatal(err)
	}
	without := len(s.Data) - k.sketch.Places()
	for n := 1; n < len(s.Data); n++ {
		if loads(s.Data[:n]) != (n == without) {
			t.Errorf("%d of %d bytes", n, len(s.Data))
		}
	}
	bad := known{runs: 3, words: []byte{0xFE, 0}}
	if loads(bad.append(nil)) || loads(append(s.Data, 0)) {
		t.Error("damaged words, or too many places")
	}
}

// TestWordsDecide checks rule 7, and when it applies: both texts are short, and one has no sketch.
func TestWordsDecide(t *testing.T) {
	short, post := "The red car left on Monday with 42 boxes for the fair.", chinese(100)
	long := strings.Repeat("Sentence one of this page has some words. ", 60)
	for _, c := range []struct {
		name, earlier, later string
		want                 method.Finding
	}{
		{"a copy", short, "the red car left on Monday, with 42 boxes for the fair", method.Finding{Relation: method.Copy, Score: 1, Contained: 1, Sure: true}},
		{"another number", short, strings.Replace(short, "42", "43", 1), method.Finding{
			Relation: method.Related, Score: 11. / 12, Contained: 11. / 12, Share: 11. / 12, Differ: "numbers",
		}},
		{"another text", short, "The blue bus came on Friday without 42 boxes of fruit.", method.Finding{Score: 4. / 11, Contained: 4. / 11, Differ: "length"}},
		{"one has a sketch", post, post + chinese(145)[3*100:], method.Finding{Score: 100. / 145, Contained: 100. / 145, Share: 100. / 145, Relation: method.Related, Differ: "length"}},
		{"both have sketches", chinese(145), chinese(150), method.Finding{Relation: method.Copy, Estimated: true}},
		{"one is long", short, long + short, method.Finding{}},
	} {
		e, j := NewExtractor(segments.Scheme{}, 0), NewJudge(method.Rules{Threshold: .6})
		var earlier, later method.Sketch
		e.Extract(&earlier, []byte(c.earlier))
		e.Extract(&later, []byte(c.later))
		j.Load(&earlier)
		record := j.Record(nil)
		j.Load(&later)
		f, err := j.Compare(&method.Candidate{}, record)
		if c.want.Features = earlier.Parts(); c.want.Estimated && f.Score >= .9 {
			c.want.Score, c.want.Contained, c.want.Sure = f.Score, f.Contained, f.Sure
		}
		if err != nil || !cmp.Equal(f, c.want, near) {
			t.Errorf("%s: %v\n%s", c.name, err, cmp.Diff(c.want, f))
		}
		if same, _, err := j.Same(record); same || err != nil {
			if c.name != "a copy" {
				t.Errorf("%s: it is the same, %v", c.name, err)
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	post := english(200) + chinese(40)
	for name, text := range map[string]string{
		"long":  strings.Repeat(english(200)+". "+chinese(40)+"。", 30),
		"short": post + " #tag# https://t.cn/abc",
		"both":  english(450),
	} {
		checkAllocations(t, name, []byte(text))
	}
}

func checkAllocations(t *testing.T, name string, text []byte) {
	e, j := NewExtractor(segments.Scheme{}, 0), NewJudge(method.Rules{Threshold: .5})
	var s method.Sketch
	e.Extract(&s, text)
	j.Load(&s)
	record, data := j.Record(nil), make([]byte, 0, method.MaxData)
	c := method.Candidate{Shared: []uint32{0, uint32(s.Parts())}, Weight: j.Weight(0)}
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
		t.Errorf("%s: %v allocations a document", name, allocs)
	}
}
