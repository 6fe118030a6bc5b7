package twostage

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/feature/letters"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
)

// TestFewRuns checks the least number of runs for a sketch. A text with more segments than are chosen
// has no words, so it may be that short.
func TestFewRuns(t *testing.T) {
	const text = "the ferry leaves the harbour at seven. it returns long after nightfall when the market has closed"
	e := NewExtractor(segments.Scheme{Segments: 1}, 0)
	for end := range len(text) {
		var dst method.Sketch
		e.Extract(&dst, []byte(text[:end]))
		var k known
		if _, err := k.parse(dst.Data); err != nil || dst.Truncated && k.sketched() != (k.runs >= 64) {
			t.Errorf("%q: %+v, %v", text[:end], k, err)
		}
		if end == len(text)-1 && k.runs < 65 {
			t.Errorf("only %d runs", k.runs)
		}
	}
}

// TestEarlierIsLong checks that segments decide about a short text that a long one holds.
func TestEarlierIsLong(t *testing.T) {
	const short = "The red car left on Monday with 42 boxes for the fair."
	e, j := NewExtractor(segments.Scheme{}, 0), NewJudge(method.Rules{Threshold: .6})
	var earlier, later method.Sketch
	e.Extract(&earlier, []byte(strings.Repeat("Sentence one of this page has some words. ", 60)+short))
	e.Extract(&later, []byte(short))
	j.Load(&earlier)
	record := j.Record(nil)
	j.Load(&later)
	f, err := j.Compare(&method.Candidate{Shared: []uint32{0}, Weight: j.Whole()}, record)
	if err != nil || f.Relation != method.Copy || f.Score != 1 || f.Differ != "" || f.Estimated {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestWindowOfTen checks where a stretch ends: no window of ten has three bins that hold.
func TestWindowOfTen(t *testing.T) {
	var s, other sketch
	var data []byte
	for bin := range letters.Bins {
		s.set(bin, 1)
		if other.set(bin, 2); bin == 20 || bin == 24 || bin == 27 || bin >= 30 {
			other.set(bin, 3)
			s.set(bin, 3)
		}
		data = binary.LittleEndian.AppendUint32(data, uint32(10*bin))
	}
	var p places
	p.Sort(&s, data, 10*letters.Bins)
	if got, want := p.New(&s, &other), (stretch{method.Passage{From: 0, To: 531, Of: 20 * letters.Bins}, 27}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestThinBins checks that a stretch of 16 bins shows a frame, and one of 15 does not, if each spans
// a fifth of the text. Two bins that hold begin it.
func TestThinBins(t *testing.T) {
	const equal = 92
	for own, want := range map[int]bool{13: false, 14: true} {
		var order, last []int
		for bin := range equal {
			order = append(order, bin)
			if other := equal + bin/3; bin%3 == 2 && other < letters.Bins-own {
				order = append(order, other)
			}
		}
		for bin := letters.Bins - own; bin < letters.Bins; bin++ {
			last = append(last, bin)
		}
		places := make([]int, letters.Bins)
		for i, bin := range order {
			places[bin] = 10 * i
		}
		for i, bin := range last {
			places[bin] = 10*len(order) + 20*i
		}
		m := meeting{
			d: document{units: slices.Repeat([]uint32{100}, 13), runs: 1420}, runs: 1420,
			bins: bins{equal: equal, other: letters.Bins - equal}, shared: 13, t: .6, places: places,
		}
		if _, f := m.judge(t); f.Relation != method.Copy || f.Thin != want {
			t.Errorf("%d bins of its own: %+v", own, f)
		}
	}
}

// TestSameNeedsRunsAndSketch checks that texts of one fingerprint are no exact copies if their numbers
// of runs or their sketches differ.
func TestSameNeedsRunsAndSketch(t *testing.T) {
	first, _ := same.sketches(t)
	j := NewJudge(method.Rules{Threshold: .5})
	j.Load(ten(1000).sketch(first))
	record := j.Record(nil)
	another := first
	another[0] ^= 3
	for i, d := range []*method.Sketch{ten(1000).sketch(first), ten(1001).sketch(first), ten(1000).sketch(another)} {
		j.Load(d)
		if is, _, err := j.Same(record); err != nil || is != (i == 0) {
			t.Errorf("%d: the same %v, %v", i, is, err)
		}
	}
}
