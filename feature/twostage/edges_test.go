package twostage

import (
	"strings"
	"testing"

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
