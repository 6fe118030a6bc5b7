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
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/apply"
	"github.com/firstseen/firstseen/internal/journal"
	"github.com/firstseen/firstseen/internal/recorder"
)

// Config configures Open. Its zero values are the defaults.
type Config struct {
	// Index was opened in Dir with [index.Options.Serve], and has a side table. It stays the caller's
	// to close.
	Index *index.Index
	Dir   string
	// Log, if set, decides in place of the journal of this server. Close closes it. Of Policy only Now
	// is used then, for arrivals.
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

// checkpointBytes is how many bytes of documents come between two checkpoints at most, and
// journalBytes how long a journal gets: 5 s of reading after a kill.
const (
	checkpointBytes = 64 << 20
	journalBytes    = 64 << 20
)

// leastRoom is the room on the disk for two journals, and for the checkpoint of one.
const leastRoom = 256 << 20

// stepEvery is how many documents are decided between two pieces of the work that checkpoints have
// left, as long as requests wait.
const stepEvery = 128

// patience is how long a request may wait before its decision begins.
const patience = 5 * time.Second

var (
	// ErrBusy means that too many requests wait: try again later.
	ErrBusy = errors.New("too many requests wait: send this one again later")
	// ErrClosed means that the server is going down.
	ErrClosed = errors.New("the server is going down: send this request again later")
)

// Service decides documents. Its methods are for any number of goroutines.
type Service struct {
	cfg        Config
	queue      chan *request
	extractors chan *feature.Extractor
	reading    chan struct{} // a place for each body in memory
	drained    sync.Once
	draining   chan struct{} // closed by Drain
	closing    chan struct{} // closed by Close
	stopped    chan struct{} // the deciding goroutine has ended
	failed     chan struct{} // closed with the first error of index or journal
	failing    sync.Once
	count      counters
	isFilled   atomic.Bool // full is set

	// The rest belongs to the goroutine that decides.

	steps    apply.Applier
	since    int // documents decided since the last piece of work of a checkpoint
	rec      *recorder.Recorder
	rotated  bool           // a checkpoint has begun another journal
	saved    time.Duration  // in checkpoints
	replayed recorder.State // as long as rec is nil
	full     error          // index.ErrFull once the filter may take no more
	err      error          // of index or journal
}

// request is done by the deciding goroutine in one go.
type request struct {
	docs   []*document
	batch  string
	check  bool // nothing is remembered
	report bool // with check: answers as in a report
	fast   bool // the answer does not wait for the disk
	task   func() error
	begun  atomic.Bool // it is being done, or its sender has left
	done   chan error  // has one
	waited time.Time
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
	s := &Service{
		cfg: cfg, queue: make(chan *request, cfg.Waiting), extractors: make(chan *feature.Extractor, cfg.Workers),
		reading: make(chan struct{}, cfg.Waiting), draining: make(chan struct{}), closing: make(chan struct{}), stopped: make(chan struct{}), failed: make(chan struct{}),
	}
	s.count.register(s)
	for range cfg.Workers {
		e, err := feature.NewExtractor(cfg.Index.Scheme())
		if err != nil {
			return nil, err
		}
		s.extractors <- e
	}
	s.steps = apply.Applier{Index: cfg.Index, Done: s.record, Decided: s.count.decided}
	if cfg.Log != nil {
		s.openLog()
		return s, nil
	}
	p := cfg.Policy
	p.Now, p.Flush = s.steps.Now, s.flush
	s.steps.Arrive(cfg.Policy.Now().UnixNano())
	if err := cfg.Index.Begin(p); err != nil {
		return nil, err
	}
	if err := s.recover(); err != nil {
		return nil, err
	}
	go s.decideAll()
	return s, nil
}

// Defaults of [Config].
const (
	DefaultMaxBody = 16 << 20
	DefaultWaiting = 32
)

// Memory is how much requests take at most: each its body, its documents and the answers. 32 requests
// of 16 MiB, each one text, took 2.8 times their bytes.
func (c *Config) Memory() int64 {
	d := *c
	d.withDefaults()
	return 4 * d.MaxBody * int64(d.Waiting)
}

func (c *Config) withDefaults() {
	set := func(n *int, value int) {
		if *n <= 0 {
			*n = value
		}
	}
	set(&c.MaxDocuments, 1000)
	set(&c.Waiting, DefaultWaiting)
	set(&c.Workers, runtime.GOMAXPROCS(0))
	if c.MaxBody <= 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.room == 0 {
		c.room = leastRoom
	}
	if c.journal <= 0 {
		c.journal = journalBytes
	}
	if c.Policy.CheckpointBytes <= 0 {
		c.Policy.CheckpointBytes = checkpointBytes
	}
	if c.Policy.Now == nil {
		c.Policy.Now = time.Now
	}
}

// settings are the rules of the decisions, for the journal.
func (s *Service) settings() (string, error) {
	p := &s.cfg.Policy
	b, err := json.Marshal(map[string]any{
		"scheme": s.cfg.Index.Scheme().Name(), "rules": p.Rules, "window": s.cfg.Index.Window(), "told": p.TellsTimes,
	})
	return string(b), err
}

// recover replays the journals, and begins one.
func (s *Service) recover() error {
	settings, err := s.settings()
	if err != nil {
		return err
	}
	h := journal.Header{Owner: s.cfg.Index.Table().Generation().UUID, Settings: settings}
	have, next, err := s.journals()
	if err != nil {
		return err
	}
	for _, n := range have {
		if err := s.replay(n, h); err != nil {
			return err
		}
		next = n + 1
	}
	h.Generation = max(next, 1)
	if s.rec, err = recorder.New(s.cfg.Dir, h, s.cfg.journal); err != nil {
		return err
	}
	if err := s.cfg.Index.EnsureCapacity(); err != nil && !s.isFull(err) {
		return errors.Join(err, s.rec.Close())
	}
	s.rotated = true // from here on the replayed journals mean nothing
	if err := s.checkpoint(); err != nil {
		return errors.Join(err, s.rec.Close())
	}
	return nil
}

// journals returns the generations of the journals to replay, ascending, and the one that follows the
// last checkpoint.
func (s *Service) journals() (have []uint64, next uint64, err error) {
	var at recorder.State
	b, err := s.cfg.Index.Value(index.ServedValue)
	if err == nil && b != nil {
		err = json.Unmarshal(b, &at)
	}
	if err == nil {
		err = recorder.DropBefore(s.cfg.Dir, at.Next)
	}
	if err == nil {
		have, err = index.ServedLogs(s.cfg.Dir)
	}
	if err != nil {
		return nil, 0, err
	}
	for i, n := range have {
		if n != have[0]+uint64(i) {
			return nil, 0, s.missing(have[0] + uint64(i))
		}
	}
	if at.Next > 0 && (len(have) > 0 && have[0] != at.Next || len(have) == 0 && !at.Ended) {
		return nil, 0, s.missing(at.Next)
	}
	s.replayed = at
	return have, at.Next, nil
}

func (s *Service) missing(generation uint64) error {
	return fmt.Errorf("index %s: %s is missing, and documents in it were answered; put the whole index back from a copy",
		s.cfg.Dir, index.ServedName(generation))
}

// replay does the steps of a journal again.
func (s *Service) replay(generation uint64, want journal.Header) error {
	path := recorder.Path(s.cfg.Dir, generation)
	h, _, err := journal.Read(path, nil)
	want.Generation = generation
	switch {
	case err != nil:
		return err
	case h.Owner != want.Owner || h.Generation != want.Generation:
		return fmt.Errorf("%s is of another index: put the whole index back from a copy", path)
	case h.Settings != want.Settings:
		return fmt.Errorf("%s was written under other rules: start the server once with those of %s, stop it, and then give others", path, h.Settings)
	}
	skip := uint64(0)
	if s.replayed.Next == generation {
		skip = s.replayed.Done
	}
	s.replayed = recorder.State{Next: generation}
	_, _, err = journal.Read(path, func(group []byte) error {
		for len(group) > 0 {
			e, rest, err := journal.CutEntry(group)
			if err != nil {
				return fmt.Errorf("reading %s: %w; put the whole index back from a copy", path, err)
			}
			if group = rest; s.replayed.Done < skip {
				s.replayed.Done++
				continue
			}
			if err := s.again(&e); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// again does a step of a journal.
func (s *Service) again(e *journal.Entry) (err error) {
	if e.Kind == journal.Seen {
		doc := &document{text: e.Text, exact: e.Exact}
		s.extract([]*document{doc})
		_, err = s.decide(doc, e)
	} else {
		_, err = s.steps.TakeBack(e)
	}
	if s.isFull(err) {
		return nil // it was so for the first server, too
	}
	return err
}

// flush is called before a checkpoint. It returns the place in the journals from which the index does
// not have the steps.
func (s *Service) flush(bool) (map[string][]byte, error) {
	if s.rec == nil {
		return s.replayed.Values(), nil
	}
	if s.rec.Long() {
		if err := s.rec.Rotate(); err != nil {
			return nil, err
		}
		s.rotated = true
	}
	return s.rec.State().Values(), nil
}
