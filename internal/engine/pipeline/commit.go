package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// committer decides documents in input order and writes the results; see commitbatch.go. With a
// pool, outputs are written during the next decision. Except for that and the pool's tasks, no
// other goroutine touches index and outputs.
type committer struct {
	index    *index.Index
	job      *Job
	out      *Outputs
	buf      []byte // for a line of Rejects
	common   report.Commonest
	copies   report.Copies
	pool     dedup.Pool // of no goroutines if there is one worker
	decision decision
	lines    [2]decided      // of the documents being decided, and of those being written
	beside   *errgroup.Group // the concurrent writing; wait for it before touching or flushing outputs
	left     *block          // the block that the writing will give back, or nil
	file     string          // the input of the records being decided, for messages
	led      int             // the input whose head Kept has; -1 for none
	one      dedup.Result    // of a document decided alone

	tally   report.Tally
	at      Position
	stored  int64
	started time.Time
}

func newCommitter(x *index.Index, job *Job) (*committer, error) {
	c := &committer{index: x, job: job, out: &job.Outputs, led: -1, beside: new(errgroup.Group), started: time.Now()}
	if job.Workers > 1 {
		c.pool = dedup.NewPool(job.Workers)
	}
	c.at = Position{At: corpus.Place{Record: 1}}
	if job.Resume != nil {
		c.tally, c.at = job.Resume.Tally, job.Resume.At
		job.began = job.Resume.Began
	}
	if job.Window.Seconds == 0 && x.Window() > 0 {
		return nil, errWindow
	}
	if err := x.CheckWindow(job.Window.Seconds); err != nil {
		return nil, err
	}
	if job.Window.Seconds > 0 && job.began == 0 {
		job.began = job.now().Unix()
	}
	if err := x.SetBatch(job.Batch); err != nil {
		return nil, err
	}
	return c, x.Begin(index.Policy{
		Rules: job.Rules, Now: job.arrival(), Confirm: job.Confirm, Passages: job.Passages, OnFull: job.OnFull, CheckpointBytes: job.CheckpointBytes, Stream: job.Pipe,
		ReplaceSameID: job.ReplaceSameID, Window: job.Window.Seconds, TellsTimes: job.Window.Told,
		Flush: c.settle, Warn: c.full,
	})
}

// mostWaiting is the number of complete outputs of a tree that causes a checkpoint, which puts them
// in place. A checkpoint stores the names of them all.
const mostWaiting = 4096

// turn directs the kept records to the output of the block's input, if each input has one. It skips
// a block without records. A resumed run may meet such a block after the last record of an input,
// when that output is complete.
func (c *committer) turn(b *block) (err error) {
	tree := c.out.Tree
	if len(b.records) == 0 || tree == nil && c.led == b.source.Input {
		return nil
	}
	if err := c.beside.Wait(); err != nil {
		return err
	}
	if tree == nil {
		c.led = b.source.Input
		return c.lead(b.source.Frames)
	}
	if c.job.Save != nil && !c.job.Temporary && c.index.Table() != nil && tree.Waiting() >= mostWaiting {
		if err := c.index.Checkpoint(); err != nil {
			return err
		}
	}
	c.out.Kept, err = tree.Turn(b.source.Input)
	return err
}

// lead begins the kept records with the head of an input.
func (c *committer) lead(frames corpus.Frames) error {
	if frames == nil {
		return nil
	}
	head, _ := frames.Head()
	return BeginOutput(c.out.Kept, nil, head)
}

// Removal is a removed document, for [Job.Replace]. Its data is valid until that returns.
type Removal struct {
	Raw    []byte // the record as it came
	Result *dedup.Result
	Own    dedup.Record // only Added is set: the data to store with the document
	Of     dedup.Record // the stored record of the witness; zero if there is none
}

func (c *committer) replace(rec *record, r *dedup.Result) error {
	if c.job.Replace == nil || c.out.Kept == nil {
		return nil
	}
	removal := Removal{Raw: rec.Raw, Result: r, Own: dedup.Record{Added: rec.added}}
	if r.Of.Num != 0 && c.index.Table() != nil {
		kept, err := c.index.Kept(r.Of.Num)
		if err != nil {
			return err
		}
		removal.Of = kept.Record
	}
	revisit, err := c.job.Replace(c.out.Kept, removal)
	if revisit {
		c.tally.Revisits++
	}
	return err
}

func (c *committer) countDecided(rec *record, r *dedup.Result) error {
	c.tally.Count(r)
	c.tally.CountInput(c.at.Input+1, r.Kept)
	if !r.Kept && r.Of.Num != 0 {
		c.copies.Add(&r.Of)
	}
	if c.index.Late() {
		c.tally.Late++
	}
	if _, told := fields.Time(rec.added); c.job.Window.Told && !told {
		c.tally.Undated++
	}
	c.index.NoteDependent(rec.name(), r)
	if c.job.Each != nil {
		return c.job.Each(rec.name(), r, c.index.Counts())
	}
	return nil
}

func (c *committer) countCommon(rec *record, f *feature.Feature) {
	if n := c.common.Add(f.Key, f.Order); n != nil {
		n.Text = report.Quote(rec.Text, *f)
	}
}

// full warns that a full filter takes more keys.
func (c *committer) full(f index.FilterState) {
	if c.job.Warn != nil {
		c.job.Warn(fmt.Sprintf("the filter is at its design load after %d documents; from here on false positives rise above 1 in %s a segment",
			c.tally.Documents, report.OneIn(f.Rate)))
	}
}

// flush passes on the written bytes if a reader may be waiting for them.
func (c *committer) flush() error {
	if !slices.ContainsFunc(c.out.all(), func(w *output.Writer) bool { return w != nil && w.Live() }) {
		return nil
	}
	if err := c.beside.Wait(); err != nil {
		return err
	}
	return c.out.each((*output.Writer).Flush)
}

// failed waits for the concurrent writing, and joins its failure, if any, to err, which may be nil.
func (c *committer) failed(err error) error {
	if late := c.beside.Wait(); late != nil && !errors.Is(err, late) {
		err = errors.Join(err, late)
	}
	return err
}

// settle passes on all answers before their data becomes durable, and returns the run's progress.
func (c *committer) settle(ended bool) (map[string][]byte, error) {
	if err := c.beside.Wait(); err != nil {
		return nil, err
	}
	written, err := c.sync(ended)
	if err != nil || c.job.Save == nil {
		return nil, err
	}
	now := Progress{At: c.at, Tally: c.tally, Written: written, Ended: ended, Began: c.job.began}
	if tree := c.out.Tree; tree != nil && tree.Early {
		at, err := tree.Sync()
		if err != nil {
			return nil, err
		}
		now.Tree = &at
	}
	return c.job.Save(now), nil
}

// finish completes the outputs. last has the head of the last input, in case no input had a record.
func (c *committer) finish(last corpus.Frames) error {
	if err := c.beside.Wait(); err != nil {
		return err
	}
	if c.out.Tree == nil && c.led < 0 {
		if err := c.lead(last); err != nil {
			return err
		}
	}
	if c.tally.Undated > 0 && c.tally.Undated == c.tally.Documents && c.job.Warn != nil {
		c.job.Warn("no document has a usable time, so none can expire: check --format auto:time=FIELD, and the form of the times: RFC 3339, or seconds since 1970 and not milliseconds, and none in the future")
	}
	if err := c.out.Tree.End(); err != nil {
		return err
	}
	if err := c.index.End(); err != nil {
		return err
	}
	// The last checkpoint completes all outputs before any gets its name. A temporary index takes none.
	if c.job.Temporary {
		if _, err := c.sync(true); err != nil {
			return err
		}
	}
	return c.out.Close()
}

func (c *committer) summary() *report.Summary {
	s := summaryOf(c.index, c.job, &c.tally)
	s.Resumed, s.StoredBytes, s.Seconds, s.Commonest = c.job.Resume != nil, c.stored, time.Since(c.started).Seconds(), c.common.Top(10)
	if !s.Resumed { // the counts up to the checkpoint are lost
		s.MostCopied = c.copies.Top(10)
	}
	return s
}

// summaryOf returns the summary of a job with these counts, by the state of its index.
func summaryOf(x *index.Index, job *Job, t *report.Tally) *report.Summary {
	s := &report.Summary{Tally: *t, Filter: x.State(), Grown: x.Grown(), Commonest: []report.CommonSegment{}, MostCopied: []report.Copied{}}
	s.NameLost(len(job.Inputs), func(n int) string { return job.Inputs[n].Name })
	if table := x.TableStats(); table != nil {
		counts := x.Counts()
		s.Table = &report.TableState{TableStats: *table, Lookups: counts.Lookups, Confirmed: counts.Confirmed, Refuted: counts.Refuted}
	}
	return s
}
