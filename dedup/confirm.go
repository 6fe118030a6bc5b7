package dedup

import (
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/feature/method"
)

// With a Confirmer, no unconfirmed copy is removed. It is called for the method's copies, the best
// first. With Rules.Verify only doubtful copies need confirmation.

// maxAsked is the maximum number of candidates whose texts are compared with one document. The best
// come first, so the rest hardly ever matter.
const maxAsked = 8

// A Confirmer compares the text of a document with that of an earlier one that its method calls a
// copy or leaves open. Its result must depend only on the two. It is called concurrently, in any
// order, and possibly several times for a pair. An error ends the run. record and id are valid
// during the call.
type Confirmer func(text []byte, id []byte, record *Record) (Confirmation, error)

// A Confirmation is the result of comparing two texts.
type Confirmation struct {
	OK    bool    // the document is a copy of the earlier one
	Value float64 // the score, 0 to 1, if the texts were compared
	Why   string  // the reason if they were not compared, else ""
}

// confirming is the state of confirming a document's copies.
type confirming struct {
	ask    Confirmer
	text   []byte
	active bool // for this document
	tries  []found
	exact  failed // the first exact copy not confirmed
}

// failed is an exact copy that was not confirmed by its text.
type failed struct {
	num      uint32
	features int
	id       string
	Confirmation
}

func (c *decider) confirm(at int) (Confirmation, error) {
	return c.confirming.ask(c.confirming.text, c.read.ids[at], &c.read.all[at])
}

// confirmExact confirms an exact copy, the record read last.
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

// confirmed tries the candidates, the best first, and returns the first confirmed copy. It makes
// the unconfirmed copies related.
func (c *decider) confirmed(relation *found, r *Result) (witness found, err error) {
	tries := c.confirming.tries
	slices.SortStableFunc(tries, func(a, b found) int { // stable: candidates are in order of arrival
		return cmp.Compare(b.Score, a.Score)
	})
	for n, t := range tries {
		if c.rules.Verify && t.Sure {
			r.Confirm, r.Asked = Confirmation{}, false // an answer about another copy
			return t, nil
		}
		if n < maxAsked {
			answer, err := c.confirm(t.at)
			if err != nil {
				return t, err
			}
			if answer.OK || !r.Asked {
				r.Confirm, r.Asked = answer, true
			}
			if answer.OK {
				return t, nil
			}
		}
		t.Relation, t.Share = method.Related, t.Score
		c.relate(t, relation)
	}
	return found{candidate: -1}, nil
}

// keepUnconfirmed reports an unconfirmed exact copy if nothing else is known about the document.
func (c *decider) keepUnconfirmed(r *Result) {
	e := &c.confirming.exact
	if !c.confirming.active || e.num == 0 || r.Verdict != Unique {
		return
	}
	c.exact(e.num, e.features, r)
	r.Verdict, r.Kept, r.Exact, r.Of.ID = Related, true, false, e.id
	r.Confirm, r.Asked = e.Confirmation, true
}
