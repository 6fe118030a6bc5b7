package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/firstseen/firstseen/index"
)

// serveSnapshot sends the index of one instant, as index.Restore and tar -x unpack it.
func (s *Service) serveSnapshot(w http.ResponseWriter, _ *http.Request) (any, error) {
	var c *index.Snapshot
	err := s.decider.Do(func() (err error) {
		c, err = s.snapshot()
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	w.Header().Set("Content-Type", "application/x-tar")
	if err := c.Write(&timely{w, http.NewResponseController(w)}); err != nil {
		panic(http.ErrAbortHandler) // the client sees that the snapshot is cut off
	}
	return nil, nil
}

// snapshot takes a checkpoint of the form that a clean end leaves, so the copy needs no journal. A
// kill before the next one loses nothing: the index has all entries of its journals.
func (s *Service) snapshot() (*index.Snapshot, error) {
	x := s.cfg.Index
	if s.own == nil {
		if err := x.Checkpoint(); err != nil {
			return nil, err
		}
		return x.Snapshot()
	}
	s.own.ending = true
	err := x.Checkpoint()
	s.own.ending = false
	if err != nil {
		return nil, err
	}
	c, err := x.Snapshot()
	if err != nil {
		return nil, errors.Join(err, s.own.checkpoint())
	}
	if err := s.own.checkpoint(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// timely writes to a client that reads at least something each minute. A state that is held for a
// stopped one would let the table's file grow.
type timely struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (t *timely) Write(b []byte) (int, error) {
	_ = t.control.SetWriteDeadline(time.Now().Add(time.Minute)) // a writer in tests has none
	return t.ResponseWriter.Write(b)
}
