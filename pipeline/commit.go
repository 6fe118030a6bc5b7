package pipeline

import (
	"fmt"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/report"
)

// committer decides documents, in input order, and writes what follows from it: one
// after the other or, with a crew, as together.go has it. But for what the crew is asked
// to do it is the only goroutine that touches index and outputs.
type committer struct {
	index  *index.Index
	job    *Job
	out    outputs
	common report.Commonest
	crew   *crew // nil where documents are decided one after the other
	group  group
	buf    []byte

	tally   report.Tally
	groups  *report.Groups // nil where nothing is counted by a value
	at      Position
	stored  int64
	started time.Time
	took    time.Duration // in commit
}

func newCommitter(x *index.Index, job *Job) (*committer, error) {
	c := &committer{index: x, job: job, out: outputs{Outputs: job.Outputs, late: job.Temporary}, started: time.Now()}
	if job.Workers > 1 {
		c.crew = newCrew(job.Workers)
	}
	c.at = Position{At: corpus.Place{Record: 1}}
	if job.Resume != nil {
		c.out.before = job.Resume.Written
		c.tally, c.at = job.Resume.Tally, job.Resume.At
		c.groups = job.Resume.Groups.Clone()
	}
	if job.By != nil && c.groups == nil {
		c.groups = &report.Groups{Field: job.By.Field, List: []report.Group{}}
	}
	if err := job.Window.Check(x); err != nil {
		return nil, err
	}
	if job.Window.Seconds > 0 {
		job.began = job.whenBegun()
	}
	return c, x.Begin(index.Policy{
		Rules: job.Rules, Now: job.arrival(), Confirm: job.Confirm, OnFull: job.OnFull, CheckpointBytes: job.CheckpointBytes, Stream: job.Pipe,
		ReplaceSameID: job.ReplaceSameID, Window: job.Window.Seconds, TellsTimes: job.Window.Told,
		Settle: c.settle, Warn: c.full,
	})
}

// record commits one record.
func (c *committer) record(b *batch, rec *record) error {
	if rec.isDocument() {
		if err := c.index.Arrives(rec.added); err != nil {
			return err
		}
	}
	c.pass(b, rec)
	switch {
	case rec.empty:
		return c.out.empty()
	case rec.bad != nil:
		if err := c.reject(rec.bad); err != nil {
			return err
		}
		return c.answered(rec.length())
	case rec.other:
		if err := c.out.other(rec); err != nil {
			return err
		}
		return c.answered(rec.length())
	}
	r, err := c.index.Decide(rec.document())
	if err != nil {
		return err
	}
	if err := c.retried(&r); err != nil {
		return err
	}
	var l lines
	if l, c.buf, err = c.out.prepare(c.buf[:0], b, rec, &r); err != nil {
		return err
	}
	if r.Kept && !r.Again {
		c.countSeen(rec)
	}
	if err := c.told(rec, &r, &l, c.crew != nil); err != nil {
		return err
	}
	if c.crew != nil { // a record that is decided alone may be a long one
		if err := c.out.keepAll(c.crew); err != nil {
			return err
		}
	}
	return c.answered(rec.length())
}

// answered says that answers are handed on. What the crew does of a checkpoint counts as
// part of it.
func (c *committer) answered(bytes int64) error {
	if c.crew != nil {
		defer func(took time.Duration) { c.crew.took = took }(c.crew.took)
	}
	return c.index.Answered(bytes)
}

// told counts a document that was decided, and writes it. If later, its record is left
// to keepAll.
func (c *committer) told(rec *record, r *dedup.Result, l *lines, later bool) error {
	c.tally.Count(r)
	if c.index.Late() {
		c.tally.Late++
	}
	if c.job.Window.Told && !index.TellsTime(rec.added) {
		c.tally.Undated++
	}
	if c.groups != nil {
		c.groups.Count(rec.value, r)
	}
	if c.job.Each != nil {
		if err := c.job.Each(rec.name(), r, c.index.Counts()); err != nil {
			return err
		}
	}
	if err := c.out.document(rec, r, l, later); err != nil || r.Kept {
		return err
	}
	return c.instead(rec, r)
}

// retried turns the answer to a document that was kept before, and is sent again,
// into the one that it had.
func (c *committer) retried(r *dedup.Result) error {
	if !c.job.Retries || c.index.Table() == nil || !r.Exact || !r.SameID || !c.index.Owns(r.Of.Num) {
		return nil
	}
	kept, err := c.index.Kept(r.Of.Num)
	if err != nil {
		return err
	}
	r.Verdict, r.Kept, r.Again = kept.Verdict, true, true
	return nil
}

func (c *committer) reject(bad *corpus.BadRecord) error {
	c.tally.Bad++
	if err := c.out.reject(bad); err != nil {
		return err
	}
	if c.job.MaxBad >= 0 && c.tally.Bad > c.job.MaxBad {
		return fmt.Errorf("%w: %d, the last at %s %v: %s", ErrTooManyBad, c.tally.Bad, c.out.format.Noun(), bad.At, bad.Reason)
	}
	return nil
}

// countSeen counts the segments of a kept document that were seen before.
func (c *committer) countSeen(rec *record) {
	for i := range rec.set.Features[:rec.set.Parts()] {
		if c.index.SeenBefore()[i] {
			c.countCommon(rec, &rec.set.Features[i])
		}
	}
}

func (c *committer) countCommon(rec *record, f *feature.Feature) {
	if n := c.common.Add(f.Key, f.Order); n != nil {
		n.Text = report.Quote(rec.text, *f)
	}
}

// full tells that a full filter goes on being filled.
func (c *committer) full(f index.FilterState) {
	if c.job.Warn != nil {
		c.job.Warn(fmt.Sprintf("the filter is at its design load after %d documents; from here on false positives rise above 1 in %s a segment",
			c.tally.Documents, report.OneIn(f.Rate)))
	}
}

// settle hands on all answers before what they rest on becomes durable, and says how
// far the run has come.
func (c *committer) settle(ended bool) (map[string][]byte, error) {
	written, err := c.out.sync(ended)
	if err != nil || c.job.Save == nil {
		return nil, err
	}
	tree, err := c.out.syncTree()
	if err != nil {
		return nil, err
	}
	return c.job.Save(Progress{At: c.at, Tally: c.tally, Groups: c.groups.Clone(), Written: written, Tree: tree, Ended: ended, Began: c.job.began}), nil
}

// finish is called when all inputs are read and decided.
func (c *committer) finish() error {
	if c.tally.Undated > 0 && c.tally.Undated == c.tally.Documents && c.job.Warn != nil {
		c.job.Warn("no document has told its time, so none can cease to count: look at --time-field, and at the form of the times")
	}
	if err := c.out.Tree.End(); err != nil {
		return err
	}
	if err := c.index.End(); err != nil {
		return err
	}
	return c.out.Close()
}

func (c *committer) showLive() {
	live := c.job.Live
	if live == nil {
		return
	}
	live.Documents.Store(c.tally.Documents)
	live.Removed.Store(c.tally.Removed)
	live.Stored.Store(c.stored)
	live.Committing.Store(int64(c.took))
	live.Saving.Store(int64(c.index.Saving()))
	if c.crew != nil {
		live.Together.Store(int64(c.crew.took))
	}
	live.LoadPerMillion.Store(int64(c.index.Load() * 1e6))
}

func (c *committer) summary() *report.Summary {
	s := &report.Summary{
		Tally: c.tally, Resumed: c.job.Resume != nil, StoredBytes: c.stored,
		Seconds: time.Since(c.started).Seconds(), Filter: c.index.State(), Grown: c.index.Grown(),
		Commonest: c.common.Top(10), By: c.groups,
	}
	if table := c.index.TableStats(); table != nil {
		counts := c.index.Counts()
		s.Table = &report.TableState{TableStats: *table, Lookups: counts.Lookups, Confirmed: counts.Confirmed, Refuted: counts.Refuted}
	}
	return s
}
