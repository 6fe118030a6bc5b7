package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/step"
	"github.com/firstseen/firstseen/report"
)

// committer decides documents one at a time, in input order, and writes what
// follows from it. It is the only goroutine that touches index and outputs.
type committer struct {
	index   *index.Index
	job     *Job
	deduper *dedup.Deduper
	out     outputs
	common  report.Commonest

	tally   report.Tally
	since   int64 // bytes of records since the last checkpoint
	owing   bool  // the last document is decided and not written
	ended   bool  // the last checkpoint is made
	at      Position
	stored  int64
	grown   int
	warned  bool
	started time.Time
}

func newCommitter(x *index.Index, job *Job) (*committer, error) {
	deduper, err := dedup.New(dedup.Config{Scheme: job.Scheme, Rules: job.Rules, Filter: x.Filter, Table: x.Store(), Now: job.Now})
	if err != nil {
		return nil, err
	}
	c := &committer{index: x, job: job, deduper: deduper, out: outputs{Outputs: job.Outputs}, started: time.Now()}
	if job.Source != nil {
		c.out.format = job.Source.Format()
	}
	c.at = Position{At: corpus.Place{Record: 1}}
	if job.Resume != nil {
		c.out.before = job.Resume.Written
		c.tally, c.at = job.Resume.Tally, job.Resume.At
	}
	return c, nil
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
	c.publish()
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
	c.since += length
	c.at = Position{Input: b.block.Input, At: rec.at.Next(), Sum: corpus.AddRecord(c.at.Sum, rec.sum)}
	if rec.bad != nil {
		return c.reject(rec.bad)
	}
	c.owing = true
	// The id is copied by whoever keeps it.
	id := unsafe.String(unsafe.SliceData(rec.id), len(rec.id))
	r, err := c.deduper.Decide(id, &rec.set)
	if err != nil {
		return err
	}
	if err := c.retried(&r); err != nil {
		return err
	}
	if r.Kept && c.index.Journal != nil {
		c.index.Journal.Add(c.deduper.Keys)
	}
	c.tally.Count(&r)
	if c.job.Each != nil {
		if err := c.job.Each(id, &r, c.deduper.Counts()); err != nil {
			return err
		}
	}
	if err := c.write(b, rec, id, &r); err != nil {
		return err
	}
	c.owing = false
	if err := c.watchFilter(); err != nil {
		return err
	}
	return c.maybeCheckpoint()
}

// retried turns the answer to a document that was kept before, and is sent again,
// into the one that it had.
func (c *committer) retried(r *dedup.Result) error {
	if !c.job.Retries || c.index.Table == nil || !r.Exact || !r.SameID {
		return nil
	}
	doc, err := c.index.Table.Doc(r.Of.Num)
	if err != nil {
		return err
	}
	r.Verdict, r.Kept, r.Again = dedup.Verdict(doc.Verdict), true, true
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
	return c.maybeCheckpoint()
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
		line = &reported
	}
	return c.out.document(rec, r, line)
}

// countCommon counts the segments of a kept document that were seen before.
func (c *committer) countCommon(rec *record) {
	for i, f := range rec.set.Features {
		if !c.deduper.Seen[i] {
			continue
		}
		if n := c.common.Add(f.Key, f.Order); n != nil {
			n.Text = report.Quote(rec.text, f)
		}
	}
}

// watchFilter acts when the filter is full.
func (c *committer) watchFilter() error {
	if c.warned || !c.index.Full() {
		return nil
	}
	switch {
	case c.job.OnFull == OnFullGrow && c.index.Table != nil:
		if err := c.index.Grow(); err != nil {
			return fmt.Errorf("growing the filter: %w", err)
		}
		c.deduper.UseFilter(c.index.Filter)
		c.grown++
	case c.job.OnFull == OnFullStop:
		if err := c.checkpoint(false); err != nil {
			return err
		}
		return ErrFull
	default:
		c.warned = true
		c.warn(fmt.Sprintf("the filter is at its design load after %d documents; from here on false positives rise above 1 in %s a segment",
			c.tally.Documents, report.OneIn(c.index.Filter.Rate())))
	}
	return nil
}

func (c *committer) warn(message string) {
	if c.job.Warn != nil {
		c.job.Warn(message)
	}
}

// maybeCheckpoint takes a checkpoint at places that depend on the documents
// alone, not on time or chunks, so that interrupted and uninterrupted runs write
// the same bytes.
func (c *committer) maybeCheckpoint() error {
	every := c.job.CheckpointBytes
	if every <= 0 {
		every = defaultCheckpoint
	}
	full := c.index.Table != nil && c.index.Table.Full() || c.index.Journal != nil && c.index.Journal.Due()
	if c.since < every && !full {
		return nil
	}
	return c.checkpoint(false)
}

// begin marks the index before the first document of a pipe.
func (c *committer) begin() error {
	if c.index.Table != nil {
		return c.checkpoint(false)
	}
	return c.index.BeginJournal(c.state(Progress{At: c.at}))
}

func (c *committer) state(p Progress) map[string][]byte {
	if c.job.Save == nil {
		return nil
	}
	return c.job.Save(p)
}

// tick takes a checkpoint if something has come since the last.
func (c *committer) tick() error {
	if c.since == 0 {
		return nil
	}
	return c.checkpoint(false)
}

// saveAnswered takes the last checkpoint of a run over a pipe that err has ended.
// A document that was decided and not written is not remembered: nobody has it.
func (c *committer) saveAnswered(err error) error {
	if c.owing || c.ended {
		return err
	}
	saveErr := c.checkpoint(false)
	if errors.Is(err, saveErr) {
		return err // an output that failed, told once
	}
	return errors.Join(err, saveErr)
}

// checkpoint makes durable what was decided. The answers go out first: a document
// that is remembered and was never answered is lost, one that was answered and is
// not remembered is merely kept again.
func (c *committer) checkpoint(ended bool) error {
	c.since = 0
	if c.index.Table == nil && c.index.Journal == nil {
		return nil
	}
	written, err := c.out.sync(ended)
	if err != nil {
		return err
	}
	if c.index.Table == nil {
		return c.index.Journal.Commit(c.tally.Documents, c.deduper.Cfg.Now())
	}
	state := c.state(Progress{At: c.at, Tally: c.tally, Written: written, Ended: ended})
	if err := c.index.Checkpoint(state); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return step.Done("took checkpoint")
}

// installFilter puts a filter that was saved during the run in its place. It may
// hold bits of all documents until now, so their answers go out first.
func (c *committer) installFilter(err error) error {
	if err != nil {
		return err
	}
	if err := c.checkpoint(false); err != nil {
		return err
	}
	return c.index.Journal.InstallSaved()
}

// finish is called when all inputs are read and decided.
func (c *committer) finish() error {
	if err := c.checkpoint(true); err != nil {
		return err
	}
	c.ended = true
	return c.out.Close()
}

func (c *committer) publish() {
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
		Seconds: time.Since(c.started).Seconds(), Filter: c.index.State(), Grown: c.grown,
		Commonest: c.common.Top(10),
	}
	if c.index.Table != nil {
		counts := c.deduper.Counts()
		s.Table = &report.TableState{TableStats: index.StatsOf(c.index.Table), Lookups: counts.Lookups, Confirmed: counts.Confirmed, Refuted: counts.Refuted}
	}
	return s
}
