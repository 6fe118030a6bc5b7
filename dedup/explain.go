package dedup

import (
	"fmt"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// Explain is [Deduper.Check] with the reasons for its result in words, for a person with a question
// about one document. It needs a table. The words may change with any version.
func (d *Deduper) Explain(id string, s *feature.Sketch) (r Result, why []method.Reason, err error) {
	if d.cfg.Table == nil {
		return r, nil, errUnexplained
	}
	if r, err = d.Check(id, s); err != nil {
		return r, nil, err
	}
	c := &d.parallel.members[0].decider // its features differ from s if the method has a memory
	say := func(rule, format string, args ...any) {
		why = append(why, method.Reason{Rule: rule, Says: fmt.Sprintf(format, args...)})
	}
	seen := 0
	for _, is := range d.SeenBefore()[:s.Parts()] {
		if is {
			seen++
		}
	}
	switch {
	case r.Exact:
		say("2", "the whole text is the same as the earlier document's, except for width, case, spacing, punctuation and invisible characters: an exact copy")
	case !c.judge.MayReach(c.seen[:len(c.sketch.Features)]):
		say("4", "%d of its %d parts were seen, too little text for any earlier document to matter: none is compared", seen, s.Parts())
	case len(c.found.Candidates) == 0:
		say("5", "none of the %d keys finds an earlier document", len(s.Features))
	default:
		if why, err = c.reasons(d.cfg.Table, why); err != nil {
			return r, nil, err
		}
	}
	kept := "kept"
	if !r.Kept {
		kept = "removed"
	}
	say("10", "%v: the document is %s", r.Verdict, kept)
	return r, why, nil
}

// reasons appends the reasons for every candidate, selected or not, in order of arrival.
func (c *decider) reasons(table Asker, why []method.Reason) ([]method.Reason, error) {
	judge, explains := c.judge.(method.Reasoner)
	for i := range c.found.Candidates {
		e := &c.found.Candidates[i]
		if err := c.fetchOne(table, e.Num); err != nil {
			return nil, err
		}
		if explains {
			more, err := judge.Reasons(e, c.read.all[0].Sketch)
			if err != nil {
				return nil, damaged(e.Num, err)
			}
			for _, reason := range more {
				reason.Of = string(c.read.ids[0])
				why = append(why, reason)
			}
			continue
		}
		f, err := c.judge.Compare(e, c.read.all[0].Sketch)
		if err != nil {
			return nil, damaged(e.Num, err)
		}
		why = append(why, method.Reason{Of: string(c.read.ids[0]), Says: c.findingText(&f)})
	}
	return why, nil
}

// findingText describes a finding of a method that is not a method.Reasoner.
func (c *decider) findingText(f *method.Finding) string {
	relation := [...]string{method.Unrelated: "unrelated", method.Related: "related", method.Copy: "a copy"}[f.Relation]
	if f.ByDistance {
		return fmt.Sprintf("the fingerprints differ in %d of 64 bits: %s", f.Distance, relation)
	}
	return fmt.Sprintf("a score of %.4f, against the threshold of %.4f: %s", f.Score, c.rules.Threshold, relation)
}
