package pipeline

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/report"
)

// committer decides documents one at a time, in input order, and writes what
// follows from it. It is the only goroutine that touches index and outputs.
type committer struct {
	index  *index.Index
	job    *Job
	out    outputs
	common report.Commonest

	tally   report.Tally
	at      Position
	stored  int64
	started time.Time
}

func newCommitter(x *index.Index, job *Job) (*committer, error) {
	c := &committer{index: x, job: job, out: outputs{Outputs: job.Outputs}, started: time.Now()}
	c.at = Position{At: corpus.Place{Record: 1}}
	if job.Resume != nil {
		c.out.before = job.Resume.Written
		c.tally, c.at = job.Resume.Tally, job.Resume.At
	}
	return c, x.Begin(index.Policy{
		Rules: job.Rules, Now: job.Now, OnFull: job.OnFull, CheckpointBytes: job.CheckpointBytes, Stream: job.Pipe,
		Settle: c.settle, Warn: c.full,
	})
}

// cancelCheck is after how many documents a long batch looks whether the run was
// cancelled.
const cancelCheck = 256

func (c *committer) commit(ctx context.Context, b *batch) error {
	for i := range b.records {
		if i%cancelCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := c.record(b, &b.records[i]); err != nil {
			return err
		}
	}
	c.stored = b.block.Read
	c.showLive()
	return nil
}

func (c *committer) record(b *batch, rec *record) error {
	if c.at.Input != b.block.Input {
		c.at.Sum = 0
	}
	if rec.empty { // none of those that are summed up
		c.at = Position{Input: b.block.Input, At: rec.at.Next(), Sum: c.at.Sum}
		return c.out.empty()
	}
	length := int64(len(rec.raw)) + 1
	c.tally.RecordBytes += length
	c.at = Position{Input: b.block.Input, At: rec.at.Next(), Sum: corpus.AddRecord(c.at.Sum, rec.sum)}
	if rec.bad != nil {
		return c.reject(rec.bad, length)
	}
	// The id is copied by whoever keeps it.
	id := unsafe.String(unsafe.SliceData(rec.id), len(rec.id))
	r, err := c.index.Decide(id, &rec.set)
	if err != nil {
		return err
	}
	if err := c.retried(&r); err != nil {
		return err
	}
	c.tally.Count(&r)
	if c.job.Each != nil {
		if err := c.job.Each(id, &r, c.index.Counts()); err != nil {
			return err
		}
	}
	if err := c.write(b, rec, id, &r); err != nil {
		return err
	}
	return c.index.Answered(length)
}

// retried turns the answer to a document that was kept before, and is sent again,
// into the one that it had.
func (c *committer) retried(r *dedup.Result) error {
	if !c.job.Retries || c.index.Table() == nil || !r.Exact || !r.SameID {
		return nil
	}
	kept, err := c.index.Kept(r.Of.Num)
	if err != nil {
		return err
	}
	r.Verdict, r.Kept, r.Again = kept.Verdict, true, true
	return nil
}

func (c *committer) reject(bad *corpus.BadRecord, length int64) error {
	c.tally.Bad++
	if err := c.out.reject(bad); err != nil {
		return err
	}
	if c.job.MaxBad >= 0 && c.tally.Bad > c.job.MaxBad {
		return fmt.Errorf("%w: %d, the last at %s %v: %s", ErrTooManyBad, c.tally.Bad, c.out.format.Noun(), bad.At, bad.Reason)
	}
	return c.index.Answered(length)
}

// write sends the document to the outputs.
func (c *committer) write(b *batch, rec *record, id string, r *dedup.Result) error {
	if r.Kept && !r.Again {
		c.countCommon(rec)
	}
	var line *report.Reported
	if (r.Verdict != dedup.Unique || r.Again) && c.out.wantsReports() {
		reported := report.Report(r, id, &rec.set, rec.text)
		reported.File, reported.Line = b.block.File, rec.at
		if !rec.time.IsZero() {
			reported.Time = &rec.time
		}
		line = &reported
	}
	return c.out.document(rec, r, line)
}

// countCommon counts the segments of a kept document that were seen before.
func (c *committer) countCommon(rec *record) {
	for i, f := range rec.set.Features[:rec.set.Parts()] {
		if !c.index.SeenBefore()[i] {
			continue
		}
		if n := c.common.Add(f.Key, f.Order); n != nil {
			n.Text = report.Quote(rec.text, f)
		}
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
	return c.job.Save(Progress{At: c.at, Tally: c.tally, Written: written, Ended: ended}), nil
}

// finish is called when all inputs are read and decided.
func (c *committer) finish() error {
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
	live.LoadPerMillion.Store(int64(c.index.Load() * 1e6))
}

func (c *committer) summary() *report.Summary {
	s := &report.Summary{
		Tally: c.tally, Resumed: c.job.Resume != nil, StoredBytes: c.stored,
		Seconds: time.Since(c.started).Seconds(), Filter: c.index.State(), Grown: c.index.Grown(),
		Commonest: c.common.Top(10),
	}
	if table := c.index.TableStats(); table != nil {
		counts := c.index.Counts()
		s.Table = &report.TableState{TableStats: *table, Lookups: counts.Lookups, Confirmed: counts.Confirmed, Refuted: counts.Refuted}
	}
	return s
}
