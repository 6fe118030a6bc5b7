package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/apply"
	"github.com/firstseen/firstseen/internal/journal"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// Log decides documents in an order that several servers share. It alone uses the index.
type Log interface {
	// Start begins to decide. decided is called with each result.
	Start(decided func(*dedup.Result))
	// Append returns the answers of steps that are in the log and decided.
	Append(ctx context.Context, steps []journal.Entry) (answers [][]byte, err error)
	// Verdict returns the verdict about the record at an offset, in JSON.
	Verdict(ctx context.Context, offset int64) ([]byte, error)
	// Do calls task between two steps.
	Do(task func() error) error
	// Next returns the offset of the first record that is not decided.
	Next() int64
	// Behind reports whether the log has records from before the start that are not decided.
	Behind() bool
	Failed() <-chan struct{}
	Close() error
}

// openLog begins to answer from a log.
func (s *Service) openLog() {
	close(s.stopped) // no goroutine of the service decides
	s.count.set.NewGauge("firstseen_log_next_offset", func() float64 { return float64(s.cfg.Log.Next()) })
	s.cfg.Log.Start(s.count.decided)
	go func() {
		select {
		case <-s.cfg.Log.Failed():
			s.fail()
		case <-s.closing:
		}
	}()
}

// order has the log do a request.
func (s *Service) order(r *request) error {
	switch {
	case r.check:
		return s.cfg.Log.Do(func() error { return s.checkAll(r) })
	case r.task != nil:
		return s.cfg.Log.Do(r.task)
	}
	now := s.cfg.Policy.Now().UnixNano()
	var steps []journal.Entry
	for _, doc := range r.docs {
		if doc.bad == nil {
			steps = append(steps, journal.Entry{Kind: journal.Seen, Exact: doc.exact, Time: now, Batch: r.batch, ID: doc.id, Added: doc.added, Text: doc.text})
		}
	}
	answers, err := s.append(steps)
	for _, doc := range r.docs {
		switch {
		case err != nil:
			return err
		case doc.bad != nil:
			doc.answer, err = pipeline.BadAnswer(doc.bad)
		default:
			doc.answer, answers = answers[0], answers[1:]
		}
	}
	return err
}

func (s *Service) append(steps []journal.Entry) ([][]byte, error) {
	if len(steps) == 0 {
		return nil, nil
	}
	return s.cfg.Log.Append(context.Background(), steps)
}

// appendTaking has the log forget the documents of an id, or cancel a batch.
func (s *Service) appendTaking(kind byte, id string) ([]byte, error) {
	answers, err := s.append([]journal.Entry{{Kind: kind, Time: s.cfg.Policy.Now().UnixNano(), ID: id}})
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// statusOf is the HTTP status of an error of a log, 0 for others.
func statusOf(err error) int {
	switch {
	case errors.Is(err, apply.ErrLater):
		return http.StatusServiceUnavailable
	case errors.Is(err, apply.ErrReadOnly):
		return http.StatusForbidden
	case errors.Is(err, apply.ErrTooLong):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, apply.ErrGone):
		return http.StatusNotFound
	}
	return 0
}

func (s *Service) serveVerdict(w http.ResponseWriter, r *http.Request) {
	offset, err := strconv.ParseInt(r.PathValue("offset"), 10, 64)
	switch {
	case s.cfg.Log == nil:
		fail(w, http.StatusNotFound, errors.New("this server follows no log"))
		return
	case err != nil || offset < 0:
		fail(w, http.StatusBadRequest, errors.New("want the offset of a record, a number from 0"))
		return
	}
	line, err := s.cfg.Log.Verdict(r.Context(), offset)
	if err != nil {
		failDeciding(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(line, '\n')) // the client may be gone
}
