// Package server answers for an index: many clients give it documents, and one goroutine decides them
// in one order.
//
//	s, err := server.Open(server.Config{Index: x, Dir: "seen"})
//	go http.Serve(listener, s.Handler(""))
//	err = s.Close()
//
// Each answer that its client waits for is durable: the document is in a journal on the disk. After a
// kill, Open does the steps of the journal again, and the index is that of an undisturbed server.
package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/apply"
	"github.com/firstseen/firstseen/internal/journal"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/internal/report"
)

// Config configures Open. Its zero values are the defaults.
type Config struct {
	// Index was opened in Dir with [index.Options.Serve], and has a side table. It stays the caller's
	// to close.
	Index *index.Index
	Dir   string
	// Log, if set, decides in place of the journal of this server. Close closes it, and Policy is not
	// used.
	Log Log
	// Policy judges the documents. Open sets Now, Flush and, if it is 0, CheckpointBytes.
	Policy index.Policy
	Fields jsonl.Fields // of documents in JSON
	// Page makes the texts of pages in HTML, and Archive reads web archives. Without them such bodies
	// are refused.
	Page    func() corpus.Text
	Archive corpus.Format
	// MaxBody is how many bytes a request may have, and MaxDocuments how many documents; 0 is
	// 16 MiB and 1,000.
	MaxBody      int64
	MaxDocuments int
	// Waiting is how many requests may wait for a decision, each with its body in memory; 0 is 32.
	Waiting int
	// Workers is how many goroutines extract at once; 0 is one for each processor.
	Workers int

	journal int64  // bytes after which a checkpoint begins another journal
	room    uint64 // bytes of the disk without which the service is not ready
}

// Defaults of [Config].
const (
	DefaultMaxBody = 16 << 20
	DefaultWaiting = 32

	checkpointBytes = 64 << 20  // of documents between two checkpoints at most
	journalBytes    = 64 << 20  // 5 s of reading after a kill
	leastRoom       = 256 << 20 // for two journals, and for the checkpoint of one
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

// Memory is how much requests take at most: each its body, its documents and the answers. 32 requests
// of 16 MiB, each one text, took 2.8 times their bytes.
func (c *Config) Memory() int64 {
	d := *c
	d.withDefaults()
	return 4 * d.MaxBody * int64(d.Waiting)
}

// decider does steps on an index in one order. It alone uses the index.
type decider interface {
	// Append gives steps the time of their arrival, has them done, and sets their answers. What is
	// durable is on the disk then.
	Append(steps []*apply.Step, durable bool) error
	// Do calls task between two steps.
	Do(task func() error) error
	Failed() <-chan struct{}
	Close() error
}

// Log decides documents in an order that several servers share.
type Log interface {
	decider
	// Start begins to decide. decided is called with each result.
	Start(decided func(*dedup.Result))
	// Verdict returns the verdict about the record at an offset, in JSON.
	Verdict(ctx context.Context, offset int64) ([]byte, error)
	// Next returns the offset of the first record that is not decided.
	Next() int64
	// Behind reports whether the log has records from before the start that are not decided.
	Behind() bool
}

// Service decides documents. Its methods are for any number of goroutines.
type Service struct {
	cfg        Config
	decider    decider
	own        *journaled // the decider, if there is no log
	extractors apply.Extractors
	reading    chan struct{} // a place for each body in memory
	draining   context.Context
	drain      context.CancelFunc
	count      counters
}

// Open does the steps of journals left by a killed server, and begins to decide.
func Open(cfg Config) (_ *Service, err error) {
	if cfg.Index.Table() == nil {
		return nil, fmt.Errorf("index %s has no side table: a server names earlier documents, so make it without --filter-only", cfg.Dir)
	}
	if cfg.Index.Scheme().Passages > 0 {
		return nil, fmt.Errorf("index %s finds passages, and a server does not: give another index", cfg.Dir)
	}
	cfg.withDefaults()
	s := &Service{cfg: cfg, reading: make(chan struct{}, cfg.Waiting), count: newCounters()}
	s.draining, s.drain = context.WithCancel(context.Background())
	if s.extractors, err = apply.NewExtractors(cfg.Index.Scheme(), cfg.Workers); err != nil {
		return nil, err
	}
	waiting := func() float64 { return 0 }
	if cfg.Log != nil {
		s.decider = cfg.Log
		s.count.set.NewGauge("firstseen_log_next_offset", func() float64 { return float64(cfg.Log.Next()) })
		cfg.Log.Start(s.count.decided)
	} else {
		if s.own, err = openJournaled(&s.cfg, s.extractors, &s.count); err != nil {
			return nil, err
		}
		s.decider = s.own
		waiting = func() float64 { return float64(s.own.loop.Waiting()) }
	}
	s.count.set.NewGauge("firstseen_requests_waiting", waiting)
	return s, nil
}

// Failed is closed when index, log or journal have failed. Close then returns the error.
func (s *Service) Failed() <-chan struct{} { return s.decider.Failed() }

// Drain has readiness fail, and ends connections of lines. What comes all the same is still answered.
func (s *Service) Drain() { s.drain() }

// Close answers what waits, and brings all into the index. It is called once. The index is then as after an ordinary run,
// unless Close returns an error: then the next Open goes on from the journal.
func (s *Service) Close() error {
	s.Drain()
	return s.decider.Close()
}

// request is documents that are decided as one block.
type request struct {
	docs   []*apply.Step // those that are bad have no kind, and their answer
	batch  string
	check  bool // nothing is remembered
	report bool // with check: answers as in a report
	fast   bool // the answer does not wait for the disk
	steps  []*apply.Step
}

// prepare makes the steps of a request.
func (s *Service) prepare(r *request) {
	for _, doc := range r.docs {
		if doc.Kind == journal.Seen {
			doc.Batch = r.batch
			r.steps = append(r.steps, doc)
		}
	}
	if s.own != nil || r.check {
		s.extractors.Sketch(r.steps...)
	}
}

// decide decides the documents of a request that is prepared, in their order, and sets their answers.
func (s *Service) decide(r *request) error {
	switch {
	case r.check:
		return s.decider.Do(func() error { return s.check(r) })
	case len(r.steps) > 0:
		return s.decider.Append(r.steps, !r.fast)
	}
	return nil
}

// check judges documents and remembers nothing.
func (s *Service) check(r *request) error {
	for _, doc := range r.steps {
		found, err := s.cfg.Index.Check(doc.ID, &doc.Sketch)
		if err == nil {
			err = pipeline.Retry(s.cfg.Index, &found, false)
		}
		switch {
		case err != nil:
		case r.report:
			doc.Answer, err = report.AppendJSON(nil, report.Report(&found, doc.ID, &doc.Sketch, doc.Text))
		default:
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
	step := &apply.Step{Entry: journal.Entry{Kind: kind, ID: id}}
	err := s.decider.Append([]*apply.Step{step}, true)
	return step.Answer, err
}

// counters are what /metrics shows.
type counters struct {
	set                  *metrics.Set
	kept, removed, again *metrics.Counter
	saving               *metrics.Summary
}

func newCounters() counters {
	set := metrics.NewSet()
	return counters{
		set:     set,
		kept:    set.NewCounter(`firstseen_documents_total{kept="true"}`),
		removed: set.NewCounter(`firstseen_documents_total{kept="false"}`),
		again:   set.NewCounter("firstseen_documents_again_total"),
		saving:  set.NewSummary("firstseen_checkpoint_seconds"),
	}
}

func (c *counters) decided(r *dedup.Result) {
	switch {
	case r.Again:
		c.again.Inc()
	case r.Kept:
		c.kept.Inc()
	default:
		c.removed.Inc()
	}
}

func (c *counters) write(w io.Writer) {
	c.set.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}
