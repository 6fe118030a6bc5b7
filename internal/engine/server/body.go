package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/firstseen/firstseen/internal/engine/apply"
)

// holding counts the bytes of a body in memory. A slow client holds only what it has sent. Together
// the bodies hold at most what all places could.
type holding struct {
	io.Reader
	s     *Service
	bytes int64
}

func (h *holding) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.bytes += int64(n)
	if h.s.held.Add(int64(n)) > h.s.cfg.MaxBody*int64(h.s.cfg.Waiting) {
		return n, apply.ErrBusy
	}
	return n, err
}

func (h *holding) release() { h.s.held.Add(-h.bytes) }

// A body gets room for firstBytes, and then for 16 times what has come, up to its whole length.
const firstBytes = 64 << 10

// enter reads the body of a request, up to the length that the server allows, and takes a place among
// those to decide. leave gives the place back; with an error it is free again.
func (s *Service) enter(w http.ResponseWriter, r *http.Request) (body []byte, leave func(), err error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, nil, refuse(http.StatusUnsupportedMediaType, "Content-Encoding %q: send the body unencoded", e)
	}
	if c, ok := w.(*coded); ok { // only its own writer lets net/http refuse a body that does not end
		w = c.ResponseWriter
	}
	var read bytes.Buffer
	in := &holding{Reader: http.MaxBytesReader(w, r.Body, s.cfg.MaxBody), s: s}
	for room := int64(firstBytes); err == nil; room *= 16 {
		read.Grow(int(max(0, min(r.ContentLength, s.cfg.MaxBody, room)-in.bytes)) + bytes.MinRead)
		_, err = io.CopyN(&read, in, room-in.bytes)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		err = refuse(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes: send fewer documents at once", s.cfg.MaxBody)
	case err != nil && !errors.Is(err, apply.ErrBusy):
		err = refuse(http.StatusBadRequest, "reading the body: %v", err)
	case err == nil && read.Len() == 0:
		err = refuse(http.StatusBadRequest, "the body is empty: give a document")
	case err == nil:
		select {
		case s.reading <- struct{}{}:
			return read.Bytes(), func() { <-s.reading; in.release() }, nil
		default:
			err = apply.ErrBusy
		}
	}
	in.release()
	return nil, nil, err
}
