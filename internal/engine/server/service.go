// Package server serves an index: many clients give it documents, and one goroutine decides them in
// one order.
//
//	s, err := server.Open(server.Config{Index: x, Dir: "seen"})
//	go http.Serve(listener, s.Handler(""))
//	err = s.Close()
//
// Each answer is durable, unless the client declines to wait: the document is in a journal on disk.
// After a kill, Open replays the journal, and the index is that of an undisturbed server.
package server

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// Config configures Open. Its zero values are the defaults.
type Config struct {
	// Index was opened in Dir with [index.Options.Serve], and has a table. The caller closes it.
	Index *index.Index
	Dir   string
	// Log, if set, replaces this server's journal. Close closes it. Of Policy only Rules is then used,
	// to explain verdicts.
	Log Log
	// Policy judges the documents. Open sets Now, Flush and, if it is 0, CheckpointBytes.
	Policy index.Policy
	Fields jsonl.Fields // of documents in JSON
	// Page extracts HTML texts, and Archive reads web archives. If nil, such bodies are refused.
	Page    func() corpus.Text
	Archive corpus.Format
	// NoPage answers without the page for browsers, and keeps nothing for it.
	NoPage bool
	// MaxBody and MaxDocuments bound a request in bytes and documents; 0 means 16 MiB and 1,000.
	MaxBody      int64
	MaxDocuments int
	// Waiting bounds the requests that wait for a decision, their bodies in memory; 0 means 32.
	Waiting int
	// Version of the program, for /metrics.
	Version string
	// Workers is the number of goroutines that extract at once; 0 means one for each processor.
	Workers int

	standby *Standby // whose copy this is, nil for none
	journal int64    // bytes after which a checkpoint begins another journal
	room    uint64   // free disk bytes below which the service is not ready
}

// Defaults of [Config].
const (
	DefaultMaxBody = 16 << 20
	DefaultWaiting = 32

	checkpointBytes = 64 << 20  // of documents between two checkpoints at most
	journalBytes    = 64 << 20  // 5 s of reading after a kill
	leastRoom       = 256 << 20 // for two journals and a checkpoint of one
)

func (c *Config) withDefaults() {
	c.MaxBody = cmp.Or(max(c.MaxBody, 0), DefaultMaxBody)
	c.MaxDocuments = cmp.Or(max(c.MaxDocuments, 0), 1000)
	c.Waiting = cmp.Or(max(c.Waiting, 0), DefaultWaiting)
	c.room = cmp.Or(c.room, leastRoom)
	c.journal = cmp.Or(max(c.journal, 0), journalBytes)
	c.Policy.CheckpointBytes = cmp.Or(max(c.Policy.CheckpointBytes, 0), checkpointBytes)
	if c.Policy.Now == nil {
		c.Policy.Now = time.Now
	}
}

// Memory bounds the memory of the page and of requests: bodies, documents and answers. Measured: 32
// requests of 16 MiB, one text each, took 2.8 times their bytes.
func (c *Config) Memory() int64 {
	d := *c
	d.withDefaults()
	return 4*d.MaxBody*int64(d.Waiting) + pageMemory
}

// decider does steps on an index in one order. It alone uses the index.
type decider interface {
	// Append sets the time of steps, does them, and sets their answers. durable waits for the disk.
	Append(steps []*apply.Step, durable bool) error
	// Do calls task between two steps.
	Do(task func() error) error
	Failed() <-chan struct{}
	Close() error
}

// Log decides documents in an order that several servers share.
type Log interface {
	decider
	// Start begins deciding. It calls applied with each step, and the result of a document, else nil.
	Start(applied func(*apply.Step, *dedup.Result))
	// Verdict returns the verdict about the record at an offset, in JSON.
	Verdict(ctx context.Context, offset int64) ([]byte, error)
	// Next returns the offset of the first record that is not decided.
	Next() int64
	// Behind reports whether the log has records from before the start that are not decided.
	Behind() bool
	// Away reports whether no broker of the log answers.
	Away() bool
	// Lag returns how many records are not decided, and for how many seconds.
	Lag() (records int64, seconds float64)
	// Ahead returns the number of documents whose time was ahead of the log's clock.
	Ahead() uint64
}

// Service decides documents. Its methods may be called concurrently.
type Service struct {
	cfg        Config
	decider    decider
	own        *journaled // the decider, if there is no log
	extractors apply.Extractors
	reading    chan struct{} // limits the bodies that are whole
	held       atomic.Int64  // bytes of bodies in memory
	draining   context.Context
	drain      context.CancelFunc
	count      counters
	scraping   sync.Mutex
	sized      sized // as the last scrape found it
	recent     recent
	explaining sync.Mutex // one pair of texts is compared at a time
}

// Open replays the journals left by a killed server, and begins deciding.
func Open(cfg Config) (_ *Service, err error) {
	if err := apply.Check(cfg.Index, cfg.Dir); err != nil {
		return nil, err
	}
	if cfg.standby == nil { // serving a copy without its primary is a promotion
		if err := unmark(cfg.Dir); err != nil {
			return nil, err
		}
	}
	cfg.withDefaults()
	s := &Service{cfg: cfg, reading: make(chan struct{}, cfg.Waiting)}
	s.draining, s.drain = context.WithCancel(context.Background())
	if s.extractors, err = apply.NewExtractors(cfg.Index.Scheme(), cfg.Workers); err != nil {
		return nil, err
	}
	if cfg.Log != nil {
		s.decider = cfg.Log
		cfg.Log.Start(s.applied)
	} else {
		if s.own, err = openJournaled(&s.cfg, s.extractors, &s.count, s.applied); err != nil {
			return nil, err
		}
		s.decider = s.own
	}
	return s, nil
}

// applied counts a step, and notes it for the page. r is the result of a document, else nil.
func (s *Service) applied(step *apply.Step, r *dedup.Result) {
	if r != nil && s.cfg.standby.waits() == nil {
		s.count.decided(r)
	}
	s.count.noteSaving(s.cfg.Index)
	if s.cfg.NoPage {
		return
	}
	k, table := kept{}, s.cfg.Index.Table()
	switch {
	case r == nil:
		s.recent.forget(step)
		return
	case !r.Kept:
		k.number, k.batch = r.Of.Num, table.BatchOf(r.Of.Num)
	case !s.cfg.Index.Late():
		k.number, k.batch = table.Documents(), step.Batch // the last one, unless it came again
	}
	s.recent.decided(step, r, k)
}

// Failed is closed when the index, log or journal has failed. Close then returns the error.
func (s *Service) Failed() <-chan struct{} { return s.decider.Failed() }

// Drain makes readiness fail and ends connections of lines. Requests are still answered.
func (s *Service) Drain() { s.drain() }

// Close answers waiting requests, and moves everything into the index, as after an ordinary run. If
// it returns an error, the next Open continues from the journal. It must be called only once.
func (s *Service) Close() error {
	s.Drain()
	return s.decider.Close()
}

// request holds documents that are decided as one block.
type request struct {
	docs   []*apply.Step // bad ones have no kind, but an answer
	batch  string
	check  bool // remember nothing
	report bool // with check: answers as in a report
	fast   bool // answer without waiting for the disk
	steps  []*apply.Step
}

// prepare makes the steps of a request.
func (s *Service) prepare(r *request) {
	for _, doc := range r.docs {
		if doc.Kind == journal.Seen {
			doc.Batch = r.batch
			r.steps = append(r.steps, doc)
		} else {
			s.count.bad.Add(1)
		}
	}
	if s.own != nil || r.check {
		s.extractors.Sketch(r.steps...)
	}
}

// decide decides the documents of a prepared request, in order, and sets their answers.
func (s *Service) decide(r *request) error {
	switch {
	case s.cfg.standby.waits() != nil:
		return s.cfg.standby.waits()
	case r.check:
		return s.decider.Do(func() error { return s.check(r) })
	case len(r.steps) > 0:
		return s.decider.Append(r.steps, !r.fast)
	}
	return nil
}

func (s *Service) check(r *request) error {
	for _, doc := range r.steps {
		found, err := s.cfg.Index.Check(doc.ID, &doc.Sketch)
		if err == nil && r.report { // where a document that comes again is a duplicate
			doc.Answer, err = report.AppendJSON(nil, report.Report(&found, doc.ID, &doc.Sketch, doc.Text))
		} else if err == nil {
			err = pipeline.Retry(s.cfg.Index, &found, false)
			doc.Answer = pipeline.Answer(&found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeBack forgets the documents of an id, or cancels a batch, and returns the answer.
func (s *Service) takeBack(kind byte, id string) (json.RawMessage, error) {
	if err := s.cfg.standby.waits(); err != nil {
		return nil, err
	}
	step := &apply.Step{Entry: journal.Entry{Kind: kind, ID: id}}
	err := s.decider.Append([]*apply.Step{step}, true)
	return step.Answer, err
}
