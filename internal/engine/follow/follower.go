// Package follow decides the records of a log in order, so that all its followers agree on every
// verdict. One checkpoint has the log position and the index: a killed follower resumes there.
package follow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/engine/apply"
)

// Log is a sequence of records with ascending offsets. Append is safe for concurrent use.
type Log interface {
	// Topic returns the name, and the identity in the form of docs/format.md.
	Topic() (name, id string)
	// Bounds returns the offset of the first record, and the offset after the last.
	Bounds(ctx context.Context) (first, end int64, err error)
	// Head returns the first record of a non-empty log.
	Head(ctx context.Context) (Record, error)
	// From makes Next begin at an offset.
	From(offset int64)
	// Next waits for records, and returns them in order.
	Next(ctx context.Context) ([]Record, error)
	// Append returns the offsets of the new records.
	Append(ctx context.Context, values [][]byte) ([]int64, error)
	// Publish sends a verdict. Flush waits until all are safe.
	Publish(ctx context.Context, offset int64, verdict func() []byte) error
	Flush(ctx context.Context) error
}

// Config configures Open.
type Config struct {
	// Index was opened in Dir with [index.Options.Follow]. The caller closes it.
	Index *index.Index
	Dir   string
	Log   Log
	// Policy judges the documents; Now is for Append. Open sets Flush and, if 0, CheckpointBytes.
	Policy index.Policy
	Fields jsonl.Fields // of documents in JSON
	// Change appends the settings if they differ from those of the log. Without it Open refuses.
	Change bool
	// Appends allows Append, for a front end.
	Appends bool
	// Workers is the number of goroutines that extract; 0 means one for each processor.
	Workers int

	storeEvery time.Duration // only tests set it
}

const (
	checkpointBytes = 64 << 20        // of documents between two checkpoints
	stepsTogether   = 256             // steps between two tasks
	waiting         = 32              // queued tasks
	patience        = 5 * time.Second // of a wait for a verdict
	parting         = 10 * time.Second
)

// place is the position in the log that the index stores as owners.Followed.
type place struct {
	Topic    string   `json:"topic"`
	ID       string   `json:"id"`
	Next     int64    `json:"next"`
	Settings Settings `json:"settings"`
	clock
}

// Follower decides the records of a log. Its methods are safe for concurrent use.
type Follower struct {
	cfg        Config
	extractors apply.Extractors
	fields     jsonl.Fields
	scheme     string // of features in the log, "" if it takes none
	answers    *answers
	loop       *apply.Loop
	queued     chan struct{} // holds a token for each chunk of steps queued or being decided
	reading    sync.WaitGroup
	target     int64           // the end of the log when Open found it
	ahead      atomic.Uint64   // documents whose time was ahead of the clock
	ctx        context.Context // Failed of the loop; Close ends it too
	watched

	// The rest belongs to the deciding goroutine.

	steps  apply.Applier
	place  place
	unsure bool            // place and index may disagree: nothing more is stored
	saving context.Context // for flush
}

// Open finds the position in the log that the index has reached. Start begins to decide.
func Open(ctx context.Context, cfg Config) (*Follower, error) {
	if err := apply.Check(cfg.Index, cfg.Dir); err != nil {
		return nil, err
	}
	cfg.Policy.CheckpointBytes = cmp.Or(max(cfg.Policy.CheckpointBytes, 0), checkpointBytes)
	cfg.storeEvery = cmp.Or(cfg.storeEvery, storeEvery)
	if cfg.Policy.Now == nil {
		cfg.Policy.Now = time.Now
	}
	f := &Follower{cfg: cfg, queued: make(chan struct{}, 2), saving: ctx, watched: watched{started: time.Now()}}
	f.loop = apply.NewLoop(waiting, cfg.Index, func() {})
	f.steps = apply.Applier{Index: cfg.Index, Done: f.done}
	if err := f.find(ctx); err != nil {
		return nil, err
	}
	var err error
	if f.extractors, err = apply.NewExtractors(cfg.Index.Scheme(), cfg.Workers); err != nil {
		return nil, err
	}
	if err := f.begin(); err != nil {
		return nil, err
	}
	if err := cfg.Index.EnsureCapacity(); err != nil {
		return nil, err
	}
	cfg.Log.From(f.place.Next)
	f.answers, f.fields = newAnswers(f.place.Next), jsonl.Fields{Text: f.place.Settings.Text, ID: f.place.Settings.ID}
	if f.place.Settings.NoKey {
		f.scheme = f.place.Settings.Scheme
	}
	f.ctx, f.saving = f.loop.Failed, f.loop.Failed
	context.AfterFunc(f.ctx, func() { f.answers.end(context.Cause(f.ctx)) })
	return f, nil
}

// begin sets the rules for the following records.
func (f *Follower) begin() error {
	p, s := f.cfg.Policy, &f.place.Settings
	p.Rules = dedup.Rules{Threshold: s.Threshold, Score: s.Score, RemoveMosaics: s.Mosaics}
	p.Window = s.Window
	p.Now, p.Flush = f.steps.Now, f.flush
	return f.cfg.Index.Begin(p)
}

// flush is called before a checkpoint, and returns its position in the log.
func (f *Follower) flush(bool) (map[string][]byte, error) {
	if err := f.cfg.Log.Flush(f.saving); err != nil {
		return nil, err
	}
	return f.place.values()
}

func (p *place) values() (map[string][]byte, error) {
	b, err := json.Marshal(p)
	return map[string][]byte{owners.Followed: b}, err
}

// Start begins to decide. applied is called with each step, and the result of a document, else nil.
func (f *Follower) Start(applied func(*apply.Step, *dedup.Result)) {
	f.steps.Applied = applied
	f.reading.Go(func() { f.loop.Fail(f.read()) })
	f.reading.Go(f.watch)
	go f.loop.Run()
}

// read queues the records of the log until an error, and prepares some while others are decided.
func (f *Follower) read() error {
	for next := f.place.Next; ; {
		records, err := f.cfg.Log.Next(f.ctx)
		if err == nil {
			next, err = f.follows(next, records)
		}
		if err != nil {
			return err
		}
		for chunk := range slices.Chunk(records, stepsTogether) {
			steps, err := f.prepare(chunk)
			if err != nil {
				return err
			}
			select {
			case f.queued <- struct{}{}:
			case <-f.ctx.Done():
				return f.ctx.Err()
			}
			f.loop.Put(len(steps), func() {
				f.doAll(steps)
				<-f.queued
			})
		}
	}
}

// follows checks that no record before these was removed, and returns the offset after them.
// Aborted transactions leave gaps too.
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

func (f *Follower) doAll(steps []*apply.Step) {
	for _, s := range steps {
		if f.ctx.Err() != nil {
			return
		}
		if err := f.do(s); err != nil {
			f.unsure = true
			f.loop.Fail(err)
		}
	}
}

func (f *Follower) do(s *apply.Step) error {
	switch s.Kind {
	case 0: // its answer is set
	case journal.Settings:
		if err := f.change(s); !errors.Is(err, errSettings) {
			return err
		}
		refuse(s, errSettings.Error())
	default:
		if v := f.place.Settings.Version; v != dedup.RulesVersion {
			return fmt.Errorf("offset %d is decided by version %d of the rules, and this firstseen has version %d: let another follower decide it first, and start from a copy of its index", s.Offset, v, dedup.RulesVersion)
		}
		if w := f.place.Settings.Window; w > 0 && s.Kind == journal.Seen && f.place.arrive(s, w) {
			f.ahead.Add(1)
		}
		if err := f.steps.Do(s); !errors.Is(err, index.ErrNoBatch) {
			return err
		}
		s.Answer = []byte(`{"forgotten":0}`)
	}
	return f.done(s)
}

// change sets the rules for the records after this one.
func (f *Follower) change(s *apply.Step) error {
	to, err := parseSettings(s.Text)
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
	return f.done(s)
}

// done publishes the answer of an applied step, and moves the place past it.
func (f *Follower) done(s *apply.Step) error {
	a := answer{value: s.Answer}
	if s.Kind == journal.Seen {
		a.id = s.ID
	}
	if a.value != nil {
		if err := f.cfg.Log.Publish(f.ctx, s.Offset, func() []byte { return a.line(s.Offset) }); err != nil {
			return err
		}
	}
	f.place.Next = s.Offset + 1
	if s.Time > 0 { // a bad record has none
		f.decided.Store(s.Time)
	}
	f.answers.add(s.Offset, a)
	return nil
}

// Failed returns a channel closed when log or index fails, and by Close, which returns the error.
func (f *Follower) Failed() <-chan struct{} { return f.ctx.Done() }

// Next returns the offset of the first undecided record.
func (f *Follower) Next() int64 { return f.answers.next() }

// Ahead returns the number of documents whose time was ahead of the log's clock, since Open.
func (f *Follower) Ahead() uint64 { return f.ahead.Load() }

// Behind reports whether records that were in the log at the start are still undecided.
func (f *Follower) Behind() bool { return f.Next() < f.target }

var errLost = errors.New("the topic was recreated, or the cluster has lost records; put the topic back, or begin a new topic with new indexes")

// Append appends steps, and waits for their answers. Every record in the log is durable.
func (f *Follower) Append(steps []*apply.Step, _ bool) error {
	switch {
	case !f.cfg.Appends:
		return apply.ErrReadOnly
	case f.ctx.Err() != nil:
		return context.Cause(f.ctx)
	case f.Away():
		return fmt.Errorf("no broker of the log answers; %w", apply.ErrLater)
	case f.Behind():
		return fmt.Errorf("the follower is behind its log; %w", apply.ErrLater)
	}
	now, values := f.cfg.Policy.Now().UnixNano(), make([][]byte, len(steps))
	for i, s := range steps {
		s.Time = now
		values[i] = s.Append(nil)
	}
	release := f.answers.hold()
	defer release()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	next := f.Next()
	offsets, err := f.cfg.Log.Append(ctx, values)
	for i, offset := range offsets {
		switch {
		case offset < 0: // a broker that had it already may not return the offset
			return apply.ErrLater
		case offset < next: // another record was answered there
			f.loop.Fail(fmt.Errorf("a new record has offset %d, and the index has records up to %d: %w", offset, next, errLost))
			return context.Cause(f.ctx)
		}
		a, err := f.answers.get(ctx, offset)
		if err != nil {
			return err
		}
		steps[i].Answer = a.value
	}
	return err
}

// Verdict returns the verdict about the record at an offset, in the form of docs/format.md. It
// waits up to patience for an undecided one.
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
	return f.loop.Do(0, func(done func(error)) {
		if f.ctx.Err() != nil {
			done(apply.ErrLater)
			return
		}
		done(task())
	})
}

// Close stores all decided records in the index. It must be called only once. If it interrupts a
// step, the next follower resumes from the last checkpoint, as after a kill.
func (f *Follower) Close() error {
	f.loop.Fail(apply.ErrLater)
	f.loop.Close()
	f.reading.Wait()
	err := context.Cause(f.ctx)
	switch {
	case !errors.Is(err, apply.ErrLater):
		name, _ := f.cfg.Log.Topic()
		return fmt.Errorf("following topic %s: %w", name, err)
	case f.unsure:
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	f.saving = ctx
	if err := f.cfg.Index.Checkpoint(); err != nil {
		return err
	}
	values, err := f.place.values()
	if err != nil {
		return err
	}
	return f.cfg.Index.Finish(values)
}
