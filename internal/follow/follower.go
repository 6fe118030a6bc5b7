// Package follow decides the records of a log in their order, so that all followers of a log agree on
// every verdict. The place in the log and the index are one checkpoint: a killed follower goes on there.
package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/apply"
	"github.com/firstseen/firstseen/internal/journal"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// Log is a sequence of records with ascending offsets. Append is for any number of goroutines.
type Log interface {
	// Topic returns the name, and the identity as docs/format.md has it.
	Topic() (name, id string)
	// Bounds returns the offset of the first record, and the one behind the last.
	Bounds(ctx context.Context) (first, end int64, err error)
	// Head returns the first record of a log that is not empty.
	Head(ctx context.Context) (Record, error)
	// From has Next begin at an offset.
	From(offset int64)
	// Next waits for records, and returns them in order.
	Next(ctx context.Context) ([]Record, error)
	// Append returns the offsets of the new records.
	Append(ctx context.Context, values [][]byte) ([]int64, error)
	// Publish hands on a verdict. Flush waits until all are safe.
	Publish(ctx context.Context, offset int64, verdict func() []byte) error
	Flush(ctx context.Context) error
}

// Config configures Open.
type Config struct {
	// Index was opened in Dir with [index.Options.Follow]. It stays the caller's to close.
	Index *index.Index
	Dir   string
	Log   Log
	// Policy judges the documents. Open sets Now, Flush and, if it is 0, CheckpointBytes.
	Policy index.Policy
	Fields jsonl.Fields // of documents in JSON
	// Change appends the settings if they are not those of the log. Without it Open refuses.
	Change bool
	// Appends is true for a front end: Append is allowed.
	Appends bool
	// Workers is how many goroutines extract at once; 0 is one for each processor.
	Workers int
}

const (
	checkpointBytes = 64 << 20        // of documents between two checkpoints
	stepsTogether   = 256             // between two tasks
	patience        = 5 * time.Second // of those who wait for a verdict
	parting         = 10 * time.Second
)

// place is the owner's value index.FollowedName.
type place struct {
	Topic    string   `json:"topic"`
	ID       string   `json:"id"`
	Next     int64    `json:"next"`
	Settings Settings `json:"settings"`
}

// Follower decides the records of a log. Its methods are for any number of goroutines.
type Follower struct {
	cfg        Config
	extractors []*feature.Extractor
	fields     jsonl.Fields
	scheme     string // of features in the log, "" if it takes none
	answers    *answers
	chunks     chan []*step
	tasks      chan func()
	running    sync.WaitGroup
	stopped    chan struct{} // the deciding goroutine has ended
	caught     chan struct{} // all records that Open found are decided
	target     int64         // the end of these
	failed     chan struct{}
	failing    sync.Once
	err        error // set before failed is closed

	ctx    context.Context // ended by Close
	cancel context.CancelFunc

	// The rest belongs to the deciding goroutine.

	steps  apply.Applier
	place  place
	now    *step
	unsure bool // place and index may not agree: nothing more is stored
}

// Open finds the place in the log where the index is. Start begins to decide.
func Open(ctx context.Context, cfg Config) (*Follower, error) {
	if cfg.Policy.CheckpointBytes <= 0 {
		cfg.Policy.CheckpointBytes = checkpointBytes
	}
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	f := &Follower{cfg: cfg, chunks: make(chan []*step, 2), tasks: make(chan func()), stopped: make(chan struct{}), caught: make(chan struct{}), failed: make(chan struct{})}
	f.steps = apply.Applier{Index: cfg.Index, Done: f.done}
	if err := f.find(ctx); err != nil {
		return nil, err
	}
	for range cfg.Workers {
		e, err := feature.NewExtractor(cfg.Index.Scheme())
		if err != nil {
			return nil, err
		}
		f.extractors = append(f.extractors, e)
	}
	if err := f.begin(); err != nil {
		return nil, err
	}
	if err := cfg.Index.EnsureCapacity(); err != nil {
		return nil, err
	}
	cfg.Log.From(f.place.Next)
	f.answers, f.fields = newAnswers(f.place.Next), f.place.Settings.fields()
	if f.place.Settings.NoKey {
		f.scheme = f.place.Settings.Scheme
	}
	f.catchUp()
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f, nil
}

// begin sets the rules for the records that follow.
func (f *Follower) begin() error {
	p := f.cfg.Policy
	p.Rules, p.Window = f.place.Settings.rules(), f.place.Settings.Window
	p.Now, p.Flush = f.steps.Now, f.flush
	return f.cfg.Index.Begin(p)
}

// flush is called before a checkpoint, and returns the place in the log that belongs to it.
func (f *Follower) flush(bool) (map[string][]byte, error) {
	if err := f.cfg.Log.Flush(f.ctx); err != nil {
		return nil, err
	}
	return f.place.values()
}

func (p *place) values() (map[string][]byte, error) {
	b, err := json.Marshal(p)
	return map[string][]byte{index.FollowedName: b}, err
}

// Start begins to decide. decided is called with the result of each document.
func (f *Follower) Start(decided func(*dedup.Result)) {
	f.steps.Decided = decided
	f.running.Go(f.read)
	go f.decide()
}

// read prepares the records of the log.
func (f *Follower) read() {
	for next := f.place.Next; ; {
		records, err := f.cfg.Log.Next(f.ctx)
		if err == nil {
			next, err = f.follows(next, records)
		}
		if err != nil {
			f.fail(err)
			return
		}
		for chunk := range slices.Chunk(records, stepsTogether) {
			var steps []*step
			if steps, err = f.prepare(chunk); err != nil {
				break
			}
			select {
			case f.chunks <- steps:
			case <-f.ctx.Done():
				return
			}
		}
		if err != nil {
			f.fail(err)
			return
		}
	}
}

// follows checks that no record is missing before these, and returns the offset behind them. Marks of
// transactions leave gaps, too.
func (f *Follower) follows(next int64, records []Record) (int64, error) {
	for i := range records {
		if records[i].Offset > next {
			first, _, err := f.cfg.Log.Bounds(f.ctx)
			if err == nil && first > next {
				err = fmt.Errorf("offset %d: %w", next, errRemoved)
			}
			if err != nil {
				return next, err
			}
		}
		next = records[i].Offset + 1
	}
	return next, nil
}

func (f *Follower) decide() {
	defer close(f.stopped)
	ready := make(chan struct{})
	close(ready)
	var owed chan struct{} // ready while checkpoints have left work
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-f.failed:
			return
		case task := <-f.tasks:
			task()
		case steps := <-f.chunks:
			if !f.doAll(steps) {
				return
			}
		case <-owed:
		}
		more, err := f.cfg.Index.Step()
		if err != nil {
			f.fail(err)
			return
		}
		if owed = nil; more {
			owed = ready
		}
	}
}

// doAll reports whether all steps were done.
func (f *Follower) doAll(steps []*step) bool {
	for _, s := range steps {
		if err := f.do(s); err != nil {
			f.unsure = true
			f.fail(err)
			return false
		}
	}
	f.catchUp()
	return true
}

func (f *Follower) fail(err error) {
	if f.ctx.Err() != nil {
		return // it was told to end
	}
	f.failing.Do(func() {
		name, _ := f.cfg.Log.Topic()
		f.err = fmt.Errorf("following topic %s: %w", name, err)
		close(f.failed)
		f.answers.end(f.err)
	})
}

// catchUp reports that the records which Open found are decided.
func (f *Follower) catchUp() {
	if f.place.Next >= f.target {
		select {
		case <-f.caught:
		default:
			close(f.caught)
		}
	}
}

// do does a step.
func (f *Follower) do(s *step) (err error) {
	f.now = s
	switch {
	case s.bad != "":
	case s.entry.Kind == journal.Settings:
		if err := f.change(s); !errors.Is(err, errSettings) {
			return err
		}
		s.bad = errSettings.Error()
	case s.entry.Kind == journal.Seen:
		_, err = f.steps.Document(&s.entry, &s.sketch)
		return err
	default:
		_, err = f.steps.TakeBack(&s.entry)
		if !errors.Is(err, index.ErrNoBatch) {
			return err
		}
		return f.done(&s.entry, []byte(`{"forgotten":0}`))
	}
	value, err := pipeline.BadAnswer(&corpus.BadRecord{At: corpus.Place{Record: s.offset}, Reason: s.bad})
	if err != nil {
		return err
	}
	return f.done(&journal.Entry{}, value)
}

// change sets the rules for the records behind this one.
func (f *Follower) change(s *step) error {
	to, err := parseSettings(s.entry.Text)
	if err == nil {
		err = f.place.Settings.checkChange(&to)
	}
	if err != nil {
		return err
	}
	if to != f.place.Settings {
		if err := f.cfg.Index.Checkpoint(); err != nil {
			return err
		}
		f.place.Settings = to
		if err := f.begin(); err != nil {
			return err
		}
	}
	return f.done(&s.entry, nil)
}

// done notes that the index has the present step.
func (f *Follower) done(e *journal.Entry, value []byte) error {
	a := answer{e.ID, value}
	if e.Kind != journal.Seen {
		a.id = ""
	}
	offset := f.now.offset
	if value != nil {
		if err := f.cfg.Log.Publish(f.ctx, offset, func() []byte { return a.line(offset) }); err != nil {
			return err
		}
	}
	f.place.Next = offset + 1
	f.answers.add(offset, a)
	return nil
}

// Failed is closed when log or index have failed. Close then returns the error.
func (f *Follower) Failed() <-chan struct{} { return f.failed }

func (f *Follower) hasFailed() bool {
	select {
	case <-f.failed:
		return true
	default:
		return false
	}
}

// Next returns the offset of the first record that is not decided.
func (f *Follower) Next() int64 { return f.answers.next() }

// Behind reports whether records that were in the log at the start are not decided yet.
func (f *Follower) Behind() bool {
	select {
	case <-f.caught:
		return false
	default:
		return true
	}
}

// Append appends steps, and returns their answers when they are decided.
func (f *Follower) Append(ctx context.Context, steps []journal.Entry) ([][]byte, error) {
	switch {
	case !f.cfg.Appends:
		return nil, apply.ErrReadOnly
	case f.hasFailed():
		return nil, f.err
	case f.Behind():
		return nil, fmt.Errorf("the follower is behind its log; %w", apply.ErrLater)
	}
	values := make([][]byte, len(steps))
	for i := range steps {
		values[i] = steps[i].Append(nil)
	}
	release := f.answers.hold()
	defer release()
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	offsets, err := f.cfg.Log.Append(ctx, values)
	if err != nil {
		return nil, err
	}
	answers := make([][]byte, len(steps))
	for i, offset := range offsets {
		a, err := f.answers.get(ctx, offset)
		if err != nil {
			return nil, err
		}
		answers[i] = a.value
	}
	return answers, nil
}

// Verdict returns the verdict about the record at an offset, as docs/format.md has it. It waits a little
// for one that is not decided yet.
func (f *Follower) Verdict(ctx context.Context, offset int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a, err := f.answers.get(ctx, offset)
	if err == nil && a.value == nil {
		err = apply.ErrGone
	}
	if err != nil {
		return nil, err
	}
	return a.line(offset), nil
}

// Do calls task between two steps, when nothing else uses the index.
func (f *Follower) Do(task func() error) error {
	done := make(chan error, 1)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case f.tasks <- func() { done <- task() }:
		return <-done
	case <-timer.C:
	case <-f.stopped:
	}
	return apply.ErrLater
}

// Close brings all that is decided into the index. It is called once. If it interrupts a step, the next
// follower goes on from the last checkpoint, as after a kill.
func (f *Follower) Close() error {
	f.cancel()
	<-f.stopped
	f.running.Wait()
	f.answers.end(apply.ErrLater)
	switch {
	case f.hasFailed():
		return f.err
	case f.unsure:
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	f.ctx = ctx
	if err := f.cfg.Index.Checkpoint(); err != nil {
		return err
	}
	values, err := f.place.values()
	if err != nil {
		return err
	}
	return f.cfg.Index.Finish(values)
}
