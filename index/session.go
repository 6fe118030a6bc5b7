package index

import (
	"errors"
	"fmt"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/step"
)

// session is what an index knows of the documents that are being added to it.
type session struct {
	timing
	policy  Policy
	deduper *dedup.Deduper // nil before Begin
	decided uint64         // documents
	since   int64          // bytes answered since the last checkpoint
	seen    int64          // bytes of the text that See judged last
	owing   bool           // the last document is decided and not answered
	ended   bool           // the last checkpoint is made
	grown   int
	warned  bool
	saving  time.Duration // in checkpoints
	last    time.Time     // of the last checkpoint, where they are taken by time
}

// Begin has the documents from here on judged and added under a policy. Without it
// the first of them begins under the zero one.
func (x *Index) Begin(p Policy) error {
	if x.closed {
		return errIndexClosed
	}
	cfg := dedup.Config{Scheme: x.scheme, Rules: p.Rules, Filter: x.filter, Now: p.Now, Confirm: p.Confirm}
	if x.table != nil {
		cfg.Table = x.table
	}
	if x.against != nil {
		x.against.put(&cfg, x.table)
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
	if err := x.beginWindow(p.Window); err != nil {
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
	return x.beginJournal(values)
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

// Check judges a document and remembers nothing. set was extracted with the index's
// own scheme. The result is valid until the next call.
func (x *Index) Check(id string, set *feature.Set) (dedup.Result, error) {
	if err := x.ensureBegun(); err != nil {
		return dedup.Result{}, err
	}
	return x.deduper.Check(id, set)
}

// Decide judges a document and, if it is kept, adds it. Once its answer is handed on,
// Ack is to be called.
func (x *Index) Decide(doc dedup.Document) (dedup.Result, error) {
	if err := x.AdvanceClock(doc.Added); err != nil {
		return dedup.Result{}, err
	}
	x.arrived, x.owing, doc.Time = false, true, x.time
	decide := x.deduper.DecideDocument
	switch {
	case x.isLate:
		decide = x.deduper.JudgeDocument // it is nobody's witness
	case x.policy.ReplaceSameID && x.table != nil:
		decide = x.decideReplacing
	}
	r, err := decide(doc)
	return x.added(r, err)
}

// See is Decide for programs that answer by return: it extracts the features itself,
// and takes what it has returned for answered when it is called again.
func (x *Index) See(id string, text []byte) (dedup.Result, error) {
	if err := x.ensureBegun(); err != nil {
		return dedup.Result{}, err
	}
	if x.owing {
		if err := x.Ack(x.seen); err != nil {
			return dedup.Result{}, err
		}
	}
	if err := x.serve(); err != nil {
		return dedup.Result{}, err
	}
	if err := x.advance(nil); err != nil {
		return dedup.Result{}, err
	}
	x.owing, x.seen = true, int64(len(text))
	r, err := x.deduper.SeeDocument(dedup.Document{ID: id, Text: text, Time: x.time})
	return x.added(r, err)
}

// added notes what was decided.
func (x *Index) added(r dedup.Result, err error) (dedup.Result, error) {
	if err != nil {
		return r, err
	}
	x.decided++
	if r.Kept && x.journal != nil {
		x.journal.add(x.deduper.Keys)
	}
	return r, nil
}

// A Budget is what can be decided before Ack has anything to do, for certain: so
// many bytes answered, keys and documents, and bytes of ids, each with idBytes more.
type Budget struct {
	Bytes                int64
	Keys, Documents, IDs int
}

// IDBytes is what an id counts in [Budget] beside its length: what is stored with a
// document.
const IDBytes = 256

// Budget returns what can be decided by DecideAll in one batch: nothing where that is
// not possible.
func (x *Index) Budget() (s Budget) {
	if x.ensureBegun() != nil || x.table == nil || x.policy.ReplaceSameID || !x.deduper.CanDecideAll(1<<24) {
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

// DecideAll is Decide for the documents of a batch, one after the other; see
// [dedup.Deduper.DecideAll]. Together with what is then told to Ack it must be
// within Budget, and each document NoCheckpointDue.
func (x *Index) DecideAll(b *dedup.Group, crew dedup.Pool, emit func(worker, i int, t dedup.Decision)) error {
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

// Ack says that all answers are handed on to where Flush can make them safe, and
// of how many bytes of input since the last call. It acts when the filter is full, and
// takes a checkpoint where one is due: at places that depend on the documents alone,
// but with CheckpointEvery.
func (x *Index) Ack(bytes int64) error {
	x.since += bytes
	x.owing = false
	if err := x.EnsureCapacity(); err != nil {
		return err
	}
	due := x.table != nil && x.table.Full() || x.journal != nil && x.journal.due() || x.late()
	if x.since < x.policy.CheckpointBytes && !due {
		return nil
	}
	return x.checkpoint(false)
}

// late says that the last checkpoint was long ago.
func (x *Index) late() bool {
	return x.policy.CheckpointEvery > 0 && x.policy.Now().Sub(x.last) >= x.policy.CheckpointEvery
}

// EnsureCapacity does what the policy says where the filter is full. Ack calls it after
// each document; before the first one it may be full as well, when it was rebuilt
// for a run that is resumed, or when this run allows less than the one before.
func (x *Index) EnsureCapacity() error {
	if x.warned || !x.Full() {
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
		// Without a table a run over files cannot go on later: this is its end.
		if err := x.checkpoint(x.table == nil && x.journal == nil); err != nil {
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

// Checkpoint makes durable what was decided, after its answers. An index without a
// table has none but while a stream is added.
func (x *Index) Checkpoint() error {
	switch {
	case x.closed:
		return errIndexClosed
	case x.table == nil && x.journal == nil:
		return fmt.Errorf("index %s: no checkpoint without a side table", x.dir)
	}
	return x.checkpoint(false)
}

// Tick takes a checkpoint if something has come since the last. For streams, whose
// input may pause for hours.
func (x *Index) Tick() error {
	if x.since == 0 {
		return nil
	}
	return x.checkpoint(false)
}

// End takes the last checkpoint: all is decided. A temporary index needs none.
func (x *Index) End() error {
	if x.temp {
		x.ended = true
		return nil
	}
	err := x.checkpoint(true)
	x.ended = err == nil
	return err
}

// Stop takes the last checkpoint of a stream that cause has ended, and returns what
// went wrong. A document that was decided and not answered is not remembered: nobody
// has it.
func (x *Index) Stop(cause error) error {
	if x.owing || x.ended {
		return cause
	}
	err := x.checkpoint(false)
	if errors.Is(cause, err) {
		return cause // of an answer that could not be handed on, told once
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

// checkpoint makes durable what was decided. The answers go out first: a document
// that is remembered and was never answered is lost, one that was answered and is
// not remembered is merely kept again.
func (x *Index) checkpoint(ended bool) error {
	x.since = 0
	if x.table == nil && x.journal == nil {
		if ended && x.policy.Flush != nil {
			_, err := x.policy.Flush(true) // Finish tells what it came to
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
		return x.journal.commit(x.decided, x.policy.Now())
	}
	if err = x.table.Checkpoint(values); err == nil {
		err = x.thin()
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return step.Done("took checkpoint")
}

// Counts are totals of the look-ups since Begin.
func (x *Index) Counts() dedup.Counts {
	if x.deduper == nil {
		return dedup.Counts{}
	}
	return x.deduper.Counts()
}

// Saving is how long the checkpoints since Begin have taken.
func (x *Index) Saving() time.Duration { return x.saving }

// Grown is how often the filter has grown since Begin because it was full.
func (x *Index) Grown() int { return x.grown }

// SeenBefore tells of each feature of the document judged last whether the filter had
// seen it. It is valid until the next one.
func (x *Index) SeenBefore() []bool { return x.deduper.Seen }

// Kept is what the side table knows of a kept document, by its number in a result.
func (x *Index) Kept(num uint32) (Kept, error) {
	switch {
	case x.closed:
		return Kept{}, errIndexClosed
	case x.table == nil:
		return Kept{}, fmt.Errorf("index %s: no documents without a side table", x.dir)
	}
	if x.against != nil {
		k, own, err := x.against.kept(num)
		if err != nil || own == 0 {
			return k, err
		}
		num = own
	}
	return keptIn(x.table, num)
}
