package server

import (
	"errors"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/journal"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/internal/recorder"
	"github.com/firstseen/firstseen/internal/report"
)

// document is a document of a request, or the reason why a record is none.
type document struct {
	id     string
	text   []byte
	added  []byte // fields stored with it
	exact  bool   // only the same text is a copy
	bad    *corpus.BadRecord
	sketch feature.Sketch
	answer []byte // the value of pipeline.AnnotationField
}

// extract makes the sketches of documents, beside the decisions about others.
func (s *Service) extract(docs []*document) {
	e := <-s.extractors
	for _, doc := range docs {
		if doc.bad == nil {
			e.ExtractFor(&doc.sketch, doc.text, doc.exact)
		}
	}
	s.extractors <- e
}

// see decides the documents of a request as one block, in their order, and sets their answers.
func (s *Service) see(r *request) error {
	if s.cfg.Log == nil || r.check {
		s.extract(r.docs)
	}
	return s.do(r)
}

// do has the deciding goroutine do a request, and waits for it.
func (s *Service) do(r *request) error {
	r.done, r.waited = make(chan error, 1), time.Now()
	select {
	case <-s.closing:
		return ErrClosed
	default:
	}
	if s.cfg.Log != nil {
		return s.order(r)
	}
	select {
	case s.queue <- r:
	default:
		return ErrBusy
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-r.done:
		return err
	case <-timer.C:
	case <-s.stopped:
	}
	if r.begun.CompareAndSwap(false, true) {
		return ErrBusy
	}
	return <-r.done
}

// decideAll does requests until the service is closed, and then those that are waiting.
func (s *Service) decideAll() {
	defer close(s.stopped)
	for {
		select {
		case r := <-s.queue:
			s.begin(r)
			if s.since += len(r.docs); s.since >= stepEvery {
				s.step()
			}
			continue
		default:
		}
		if s.step() {
			continue
		}
		select {
		case r := <-s.queue:
			s.begin(r)
		case <-s.closing:
			if len(s.queue) == 0 {
				return
			}
		}
	}
}

// step does a piece of the work that checkpoints have left. It reports whether there is more.
func (s *Service) step() (more bool) {
	s.since = 0
	if s.err != nil {
		return false
	}
	more, err := s.cfg.Index.Step()
	if err != nil {
		s.broken(err)
	}
	s.noteSaving()
	return more && err == nil
}

// broken ends the service with the first error of index or journal.
func (s *Service) broken(err error) {
	if s.err == nil {
		s.err = err
		s.fail()
	}
}

// noteSaving counts the time of the last checkpoint, or of a piece of its work.
func (s *Service) noteSaving() {
	if saving := s.cfg.Index.Saving(); saving > s.saved {
		s.count.saving.Update((saving - s.saved).Seconds())
		s.saved = saving
	}
}

func (s *Service) begin(r *request) {
	if !r.begun.CompareAndSwap(false, true) {
		return
	}
	err := s.err
	if err == nil {
		err = s.perform(r)
	}
	if err != nil && !refuses(err) {
		s.broken(err)
	}
	if err != nil || r.check || r.fast {
		r.done <- err
		return
	}
	s.rec.After(func(err error) {
		if err != nil {
			s.fail()
		}
		r.done <- err
	})
}

func (s *Service) fail() { s.failing.Do(func() { close(s.failed) }) }

// refuses reports whether an error is about the request, and not about the index.
func refuses(err error) bool {
	return errors.Is(err, index.ErrFull) || errors.Is(err, index.ErrNoBatch)
}

func (s *Service) perform(r *request) (err error) {
	now := s.cfg.Policy.Now().UnixNano()
	s.steps.Arrive(now)
	switch {
	case r.task != nil:
		return r.task()
	case r.check:
		return s.checkAll(r)
	case s.full != nil:
		return s.full
	}
	for i, doc := range r.docs {
		if doc.bad != nil {
			doc.answer, err = pipeline.BadAnswer(doc.bad)
		} else {
			doc.answer, err = s.decide(doc, &journal.Entry{
				Kind: journal.Seen, Exact: doc.exact, Time: now, Batch: r.batch, ID: doc.id, Added: doc.added, Text: doc.text,
			})
		}
		if s.isFull(err) && i+1 == len(r.docs) {
			err = nil // this one has its answer
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decide decides a document and returns its answer. With index.ErrFull it is the last one.
func (s *Service) decide(doc *document, e *journal.Entry) ([]byte, error) {
	answer, err := s.steps.Document(e, &doc.sketch)
	return answer, errors.Join(err, s.drop())
}

// record puts a step that was done into the journal, or counts it if it comes from one.
func (s *Service) record(e *journal.Entry, _ []byte) error {
	if s.rec == nil {
		s.replayed.Done++
		return nil
	}
	return s.rec.Add(e)
}

// drop removes the journals that a checkpoint has made worthless.
func (s *Service) drop() error {
	s.noteSaving()
	if !s.rotated {
		return nil
	}
	s.rotated = false
	return s.rec.DropOld()
}

func (s *Service) checkpoint() error {
	return errors.Join(s.cfg.Index.Checkpoint(), s.drop())
}

// isFull reports whether an error says that the filter is full. From then on no document is decided.
func (s *Service) isFull(err error) bool {
	if !errors.Is(err, index.ErrFull) {
		return false
	}
	s.full = index.ErrFull
	s.isFilled.Store(true)
	return true
}

// checkAll judges documents and remembers nothing.
func (s *Service) checkAll(req *request) error {
	for _, doc := range req.docs {
		if doc.bad != nil {
			var err error
			if doc.answer, err = pipeline.BadAnswer(doc.bad); err != nil {
				return err
			}
			continue
		}
		r, err := s.cfg.Index.Check(doc.id, &doc.sketch)
		if err == nil {
			err = pipeline.Retry(s.cfg.Index, &r, false)
		}
		switch {
		case err != nil:
		case req.report:
			doc.answer, err = report.AppendJSON(nil, report.Report(&r, doc.id, &doc.sketch, doc.text))
		default:
			doc.answer, err = pipeline.Answer(&r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeBack forgets the documents of an id, or cancels a batch, and returns the answer.
func (s *Service) takeBack(kind byte, id string) ([]byte, error) {
	return s.steps.TakeBack(&journal.Entry{Kind: kind, Time: s.steps.Now().UnixNano(), ID: id})
}

// Failed is closed when index or journal have failed. Close then returns the error.
func (s *Service) Failed() <-chan struct{} { return s.failed }

// Drain has readiness fail, and ends connections of lines. What comes all the same is still answered.
func (s *Service) Drain() { s.drained.Do(func() { close(s.draining) }) }

// Close answers what waits, and brings all into the index. It is called once. The index is then as after an ordinary run,
// unless Close returns an error: then the next Open goes on from the journal.
func (s *Service) Close() error {
	s.Drain()
	close(s.closing)
	<-s.stopped
	if s.cfg.Log != nil {
		return s.cfg.Log.Close()
	}
	if s.err != nil {
		return errors.Join(s.err, s.rec.Close())
	}
	err := s.rec.Drain()
	if err == nil {
		err = s.checkpoint()
	}
	if err = errors.Join(err, s.rec.Close()); err != nil {
		return err
	}
	next := s.rec.State().Next + 1
	if err := s.cfg.Index.Finish(recorder.State{Next: next, Ended: true}.Values()); err != nil {
		return err
	}
	return recorder.DropBefore(s.cfg.Dir, next)
}
