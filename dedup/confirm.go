package dedup

import (
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/feature/method"
)

// If copies have to be confirmed, the Confirmer is asked about the method's copies before the
// document is removed. Of the candidates that are copies, it is asked about the best first. If a
// document is so short that its method leaves it open, the other candidates are asked about too. No
// unconfirmed copy is removed. With Rules.Verify only doubtful copies have to be confirmed, and
// documents with a long new passage are asked about too.

// maxAsked is of how many candidates the texts are compared for one document. They are
// asked best first, so that the rest hardly ever matter.
const maxAsked = 8

// A Confirmer compares the text of a document with that of an earlier one which its method calls a
// copy, or leaves open. Its result may depend on the two alone: it is called by several goroutines,
// in any order, and for a pair more than once. An error ends the run. record and id are valid
// during the call.
type Confirmer func(text []byte, id []byte, record *Record) (Confirmation, error)

// A Confirmation is what comparing two texts came to.
type Confirmation struct {
	OK    bool    // the document is a copy of the earlier one
	Value float64 // the score, 0 to 1, if the texts were compared
	Why   string  // why they were not; "" if they were
}

// confirming is a decision's part in confirming.
type confirming struct {
	ask    Confirmer
	text   []byte
	active bool // for this document
	tries  []found
	exact  failed // the exact copy that was not confirmed
}

// failed is a document whose text did not confirm an exact copy.
type failed struct {
	num      uint32
	features int
	id       string
	Confirmation
}

// confirm asks about the at-th of the documents that were read last.
func (c *decider) confirm(at int) (Confirmation, error) {
	return c.confirming.ask(c.confirming.text, c.read.ids[at], &c.read.all[at])
}

// confirmExact asks about an exact copy, which was read last.
func (c *decider) confirmExact(num uint32, features int, r *Result) (ok bool, err error) {
	if !c.confirming.active || c.rules.Verify {
		return true, nil
	}
	answer, err := c.confirm(0)
	if err != nil {
		return false, err
	}
	if answer.OK {
		r.Confirm, r.Asked = answer, true
	} else if c.confirming.exact.num == 0 {
		c.confirming.exact = failed{num, features, string(c.read.ids[0]), answer}
	}
	return answer.OK, nil
}

// confirmed asks about the candidates to be tried, the best first, and returns the first that stands
// for the document. The others are related if they seemed to be copies.
func (c *decider) confirmed(relation *found, r *Result) (witness found, err error) {
	tries := c.confirming.tries
	slices.SortStableFunc(tries, func(a, b found) int { // candidates are in order of arrival
		return cmp.Or(cmp.Compare(b.Relation, a.Relation), cmp.Compare(b.Score, a.Score))
	})
	for n, t := range tries {
		copied := t.Relation == method.Copy
		if c.rules.Verify && copied && t.Sure {
			return t, nil
		}
		if n < maxAsked {
			answer, err := c.confirm(t.at)
			if err != nil {
				return t, err
			}
			if answer.OK {
				if !copied {
					t.Score, t.Estimated = answer.Value, false
				}
				r.Confirm, r.Asked = answer, true
				return t, nil
			}
			if (copied || t.New.To > 0) && !r.Asked {
				r.Confirm, r.Asked = answer, true
			}
		}
		if copied {
			t.Relation, t.Share = method.Related, t.Score
			c.relate(t, relation)
		}
	}
	return found{candidate: -1}, nil
}

// keepUnconfirmed reports an exact copy that was not confirmed, if nothing else is known of the
// document.
func (c *decider) keepUnconfirmed(r *Result) {
	e := &c.confirming.exact
	if !c.confirming.active || e.num == 0 || r.Verdict != Unique {
		return
	}
	c.exact(e.num, e.features, r)
	r.Verdict, r.Kept, r.Exact, r.Of.ID = Related, true, false, e.id
	r.Confirm, r.Asked = e.Confirmation, true
}
