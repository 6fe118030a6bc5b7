package server

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/firstseen/firstseen/index"
)

// serveSnapshot sends the index of one instant, as index.Restore and tar -x unpack it. For a standby,
// the journals from then on are kept.
func (s *Service) serveSnapshot(w http.ResponseWriter, r *http.Request) (any, error) {
	if r.URL.Query().Get("standby") == "1" {
		if s.own == nil {
			return nil, errFollows
		}
		defer s.own.feed.copies()()
	}
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
	to      io.Writer
	control interface{ SetWriteDeadline(time.Time) error }
}

func (t *timely) Write(b []byte) (n int, err error) {
	for part := range slices.Chunk(b, 1<<20) {
		_ = t.control.SetWriteDeadline(time.Now().Add(time.Minute)) // a writer in tests has none
		wrote, err := t.to.Write(part)
		if n += wrote; err != nil {
			return n, err
		}
	}
	return n, nil
}
