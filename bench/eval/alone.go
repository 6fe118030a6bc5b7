package eval

import (
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
)

// Alone is a method of segments alone, "fs1", to show the worth of sketches and words. A document
// is a copy of an earlier one that has half of its segments.
type Alone struct{}

// NewAlone returns Alone as a rule.
func NewAlone() (*Program, error) {
	p := &Program{name: "firstseen fs1, segments ≥ 0.5"}
	d, err := dedup.New(dedup.Config{Method: Alone{}, Rules: dedup.Rules{Score: dedup.ScoreSegments}, Table: &p.store})
	p.deduper = d
	return p, err
}

func (Alone) Name() string { return "fs1" }

func (Alone) Features() int { return segments.DefaultSegments }

func (Alone) NewExtractor() method.Extractor { return segments.NewExtractor(segments.Scheme{}) }

func (Alone) NewJudge(r method.Rules) method.Judge {
	return &aloneJudge{Judge: segments.Judge{Rules: r}}
}

type aloneJudge struct {
	segments.Judge
	record segments.Record
}

func (j *aloneJudge) Load(s *method.Sketch) {
	j.Judge.Load(s)
	j.record = segments.Record{Features: s.Parts(), Whole: s.Whole}
}

func (j *aloneJudge) Compare(c *method.Candidate, data []byte) (method.Finding, error) {
	r, _, err := segments.ParseRecord(data)
	return j.CompareRecord(c, &r), err
}

func (j *aloneJudge) Same(data []byte) (same bool, features int, err error) {
	r, _, err := segments.ParseRecord(data)
	return r.Whole == j.record.Whole, r.Features, err
}

// Record ends in a byte that fs1 had for texts with more segments, so that sizes are comparable.
func (j *aloneJudge) Record(dst []byte) []byte { return append(j.record.Append(dst), 0) }
