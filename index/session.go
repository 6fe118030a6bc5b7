package index

import (
	"errors"
	"fmt"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/step"
)

// session is the state of an index while documents are added.
type session struct {
	policy  Policy
	deduper *dedup.Deduper // nil before Begin
	decided uint64         // documents
	since   int64          // bytes answered since the last checkpoint
	seen    int64          // bytes of the text that See judged last
	owing   bool           // the last document is decided but not answered
	ended   bool           // the last checkpoint of the run is done
	grown   int
	warned  bool
	saving  time.Duration // spent in checkpoints
	last    time.Time     // of the last checkpoint, if CheckpointEvery is set
	late    bool          // the last document is older than the window
	arrival uint32        // the time for documents without their own, with a window
}

// Begin sets the policy for the documents that follow. Without Begin, the first document sets the
// zero policy with a CheckpointEvery of one second.
func (x *Index) Begin(p Policy) error {
	if x.closed {
		return errIndexClosed
	}
	cfg := dedup.Config{Scheme: x.scheme, Rules: p.Rules, Filter: x.filter, Table: x.table, Now: p.Now, Confirm: p.Confirm, Passages: p.Passages}
	if x.against != nil {
		x.against.put(&cfg)
	}
	deduper, err := dedup.New(cfg)
	if err != nil {
		return err
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.CheckpointBytes <= 0 {
		p.CheckpointBytes = defaultCheckpoint
	}
	if err = x.CheckWindow(p.Window); err == nil && p.Window > 0 {
		err = x.table.SetWindow(p.Window)
	}
	if err != nil {
		return err
	}
	x.session = session{policy: p, deduper: deduper, last: p.Now()}
	switch {
	case !p.Stream:
		return nil
	case x.table != nil:
		return x.checkpoint(false)
	}
	values, err := x.flush(false)
	if err != nil {
		return err
	}
	return x.only.Begin(values)
}

func (x *Index) ensureBegun() error {
	switch {
	case x.closed:
		return errIndexClosed
	case x.deduper == nil:
		return x.Begin(Policy{CheckpointEvery: time.Second})
	}
	return nil
}

// Check judges a document and remembers nothing. set must come from the index's scheme. The result
// is valid until the next call.
func (x *Index) Check(id string, set *feature.Set) (dedup.Result, error) {
	if err := x.ensureBegun(); err != nil {
		return dedup.Result{}, err
	}
	return x.deduper.Check(id, set)
}

// Decide judges a document, and adds a kept one. The caller hands on the answer and then calls Ack.
// The result is valid until the next call; see [dedup.Result.Clone].
func (x *Index) Decide(doc dedup.Document) (dedup.Result, error) {
	if err := x.advanceClock(&doc); err != nil {
		return dedup.Result{}, err
	}
	x.owing = true
	decide := x.deduper.Decide
	switch {
	case x.late:
		decide = x.deduper.Judge // it never becomes a witness
	case x.policy.ReplaceSameID && x.table != nil && doc.Sketch != nil: // See replaces nothing
		decide = x.decideReplacing
	}
	r, err := decide(doc)
	if err != nil {
		return r, err
	}
	x.decided++
	if r.Kept && x.only != nil {
		x.only.Add(x.deduper.Keys())
	}
	return r, nil
}

// See judges a text and, if it is kept, remembers it under id. The result stays valid. Each call
// acknowledges the answer of the last one: it is Decide for a caller that has its answer on return.
func (x *Index) See(id string, text []byte) (dedup.Result, error) {
	if err := x.ensureBegun(); err != nil {
		return dedup.Result{}, err
	}
	if x.owing {
		if err := x.Ack(x.seen); err != nil {
			return dedup.Result{}, err
		}
	}
	x.seen = int64(len(text))
	r, err := x.Decide(dedup.Document{ID: id, Text: text})
	return r.Clone(), err
}

// A Budget bounds a group for which Ack only counts: bytes of input, keys, documents, and bytes of
// ids and data stored with them.
type Budget struct {
	Bytes                int64
	Keys, Documents, IDs int
}

// Take takes a document with an id and the fields stored with it from the budget. A negative number
// means that it does not fit.
func (s *Budget) Take(keys, id, added int) {
	const data = 256 // bounds the other data stored with a document
	s.Keys, s.Documents, s.IDs = s.Keys-keys, s.Documents-1, s.IDs-id-added-data
}

// Budget returns the bounds of the next group for DecideAll. They are zero if the index must decide
// one document at a time.
func (x *Index) Budget() (s Budget) {
	if x.ensureBegun() != nil || x.table == nil || x.filter == nil || x.policy.ReplaceSameID || x.policy.Rules.RemoveConsumed || !x.deduper.CanDecideAll(1<<24) {
		return s
	}
	x.lookAtClock()
	s.Keys, s.Documents, s.IDs = x.table.Spare()
	if !x.warned {
		shape := x.filter.Shape()
		ones := designFill*float64(shape.Bits) - float64(x.filter.Ones())
		s.Keys = min(s.Keys, int(ones)/shape.Hashes-1)
	}
	s.Bytes = x.policy.CheckpointBytes - x.since - 1
	return s
}

// DecideAll is Decide for all documents of a group; see [dedup.Deduper.DecideAll]. The group and
// the bytes of its Ack must be within Budget. NoCheckpointDue must hold for each document.
func (x *Index) DecideAll(b *dedup.Group, crew dedup.Pool, emit func(worker, i int, r *dedup.Result, seen []int)) error {
	if err := x.ensureBegun(); err != nil {
		return err
	}
	x.owing = true
	x.advanceAll(b)
	if err := x.deduper.DecideAll(b, crew, emit); err != nil {
		return err
	}
	x.decided += uint64(b.Len())
	return nil
}

// Ack acknowledges that all answers are handed on, so that Flush can make them safe. bytes is the
// input since the last call. Ack makes space in a full filter and takes a due checkpoint. Without
// CheckpointEvery, only the documents determine when that happens.
func (x *Index) Ack(bytes int64) error {
	x.since += bytes
	x.owing = false
	if err := x.EnsureCapacity(); err != nil {
		return err
	}
	full := x.table != nil && x.table.Full() || x.only != nil && x.only.Due()
	late := x.policy.CheckpointEvery > 0 && x.policy.Now().Sub(x.last) >= x.policy.CheckpointEvery
	if x.since < x.policy.CheckpointBytes && !full && !late {
		return nil
	}
	return x.checkpoint(false)
}

// EnsureCapacity applies Policy.OnFull to a full filter, as Ack does after each document. The owner
// calls it before the first: a resumed run may have rebuilt the filter, or have a stricter policy.
func (x *Index) EnsureCapacity() error {
	switch {
	case x.closed:
		return errIndexClosed
	case x.warned || !x.Full() || x.table != nil && x.ctx.Err() != nil:
		return nil
	}
	if renewed, err := x.renew(); renewed || err != nil {
		return err
	}
	switch {
	case x.policy.OnFull == OnFullGrow && x.table != nil:
		if err := x.Grow(); err != nil {
			return fmt.Errorf("growing the filter: %w", err)
		}
		x.grown++
	case x.policy.OnFull == OnFullStop:
		// Without a table, a run over files cannot be continued: it ends here.
		if err := x.checkpoint(x.table == nil && !x.only.Streaming()); err != nil {
			return err
		}
		return ErrFull
	default:
		x.warned = true
		if x.policy.Warn != nil {
			x.policy.Warn(x.State())
		}
	}
	return nil
}

// Checkpoint hands on the answers and makes the decisions durable. An index without a table has
// checkpoints only while a stream is added.
func (x *Index) Checkpoint() error {
	if !x.closed && x.table == nil && !x.only.Streaming() {
		return fmt.Errorf("index %s: no checkpoint without a side table", x.dir)
	}
	return x.checkpoint(false)
}

// Tick takes a checkpoint if any input came since the last, for streams that may pause for hours.
func (x *Index) Tick() error {
	if x.since == 0 {
		return nil
	}
	return x.checkpoint(false)
}

// End takes the last checkpoint of a complete run. A temporary index needs none.
func (x *Index) End() error {
	if x.temp {
		x.ended = true
		return nil
	}
	err := x.checkpoint(true)
	x.ended = err == nil
	return err
}

// Stop takes the last checkpoint of a stream that ended with the error cause, and returns all
// errors. If the last decision has no answer, it takes none: that document must not be remembered.
func (x *Index) Stop(cause error) error {
	if x.owing || x.ended {
		return cause
	}
	err := x.checkpoint(false)
	if errors.Is(cause, err) {
		return cause // an answer was not handed on: one error is enough
	}
	return errors.Join(cause, err)
}

func (x *Index) flush(ended bool) (values map[string][]byte, err error) {
	if x.policy.Flush != nil {
		values, err = x.policy.Flush(ended)
	}
	if err == nil {
		err = x.forgetStarted()
	}
	return values, err
}

// checkpoint makes the decisions durable. The answers go out first: a remembered document without
// an answer is lost. An answered document that is not remembered is merely kept again.
func (x *Index) checkpoint(ended bool) error {
	if x.closed {
		return errIndexClosed
	}
	x.since = 0
	if x.table == nil && !x.only.Streaming() {
		if ended && x.policy.Flush != nil {
			_, err := x.policy.Flush(true) // Finish stores the values
			return err
		}
		return nil
	}
	begun := time.Now()
	defer func() { x.saving += time.Since(begun) }()
	if x.policy.CheckpointEvery > 0 {
		x.last = x.policy.Now()
	}
	values, err := x.flush(ended)
	switch {
	case err != nil:
		return err
	case x.table == nil:
		return x.only.Commit(x.decided, x.policy.Now())
	}
	if err = x.table.Checkpoint(values); err == nil && x.deduper != nil { // which may have dropped a slice
		err = x.deduper.Thin(x.before + uint64(x.table.Documents()) + 1 - uint64(x.table.First()))
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return step.Done("took checkpoint")
}

// Counts returns the totals of the look-ups since Begin.
func (x *Index) Counts() dedup.Counts {
	if x.deduper == nil {
		return dedup.Counts{}
	}
	return x.deduper.Counts()
}

// Saving returns the time spent in checkpoints since Begin.
func (x *Index) Saving() time.Duration { return x.saving }

// Grown returns how often a full filter has grown since Begin.
func (x *Index) Grown() int { return x.grown }

// SeenBefore returns, for each feature of the last document, whether the filter had seen it. It is
// valid until the next document, and nil before the first.
func (x *Index) SeenBefore() []bool {
	if x.deduper == nil {
		return nil
	}
	return x.deduper.SeenBefore()
}

// Kept returns the side table's entry of a kept document by its number in a result.
func (x *Index) Kept(num uint32) (Kept, error) {
	switch {
	case x.closed:
		return Kept{}, errIndexClosed
	case x.table == nil:
		return Kept{}, fmt.Errorf("index %s: no documents without a side table", x.dir)
	}
	if x.against != nil { // its documents have the first numbers
		for _, p := range x.against.parts {
			n := p.Table.Documents()
			if num <= n {
				return keptIn(p.Table, num)
			}
			num -= n
		}
	}
	return keptIn(x.table, num)
}
