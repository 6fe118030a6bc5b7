package server

import (
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/firstseen/firstseen/internal/base/journal"
)

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
