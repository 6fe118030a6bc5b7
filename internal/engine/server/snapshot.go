package server

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
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

// beat is the time between two numbers of entries that a standby gets.
const beat = 250 * time.Millisecond

var errFollows = refuse(http.StatusNotFound, "this server follows a log: start another follower instead of a standby")

// serveEntries sends a standby the entries after a position, as they are written; docs/format.md,
// "Entries for a standby". The connection is no longer that of a request, so a server that goes down
// does not wait for its end: Close ends it after the last entry.
func (s *Service) serveEntries(w http.ResponseWriter, r *http.Request) (any, error) {
	from, err := parsePosition(r.PathValue("position"))
	switch {
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "%v", err)
	case s.own == nil:
		return nil, errFollows
	case s.cfg.standby.waits() != nil:
		return nil, s.cfg.standby.waits()
	}
	if s.own.feed.asked() { // a killed server knows of it
		if err := s.decider.Do(s.own.checkpoint); err != nil {
			return nil, err
		}
	}
	in, err := s.own.feed.open(s.cfg.Dir, from)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.file.Close() }() // only read from
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer s.own.feed.reads(conn)()
	_ = s.send(conn, in) // the standby comes again
	return nil, nil
}

// send sends entries until the end of the server, or of the standby.
func (s *Service) send(conn net.Conn, in *tail) error {
	groups, header, err := journal.Served.NewEncoder(s.own.header)
	if err != nil {
		return err
	}
	to := &timely{conn, conn}
	group := func(body []byte) error {
		_, err := to.Write(groups.Head(body))
		if err == nil {
			_, err = to.Write(body)
		}
		return err
	}
	_, err = io.WriteString(to, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n"+string(header))
	for err == nil {
		w := s.own.feed.now()
		entries, tailErr := in.next(w)
		switch {
		case tailErr != nil:
			slog.Warn("a standby is cut off, and comes again", "error", tailErr)
			return tailErr
		case len(entries) > 0:
			err = group(entries)
			continue
		}
		if err = group(binary.LittleEndian.AppendUint64(nil, w.entries)); err != nil || w.ended {
			return err
		}
		select {
		case <-w.changed:
		case <-time.After(beat):
		}
	}
	return err
}
