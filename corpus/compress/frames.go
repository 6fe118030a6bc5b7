package compress

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// errHandedOver ends the reading of members or frames if another piece reads the following ones.
var errHandedOver = errors.New("what follows is read by another")

// series reads the members or frames of a file, which follow each other.
type series struct {
	r    *bufio.Reader
	at   func() int64              // bytes of the file that are used up
	stop func(begin int64) bool    // whether what begins there is another's; nil: nothing is
	next func() (io.Reader, error) // io.EOF: there is none
	open io.Reader
}

func (s *series) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if s.open == nil {
			if s.open, err = s.next(); err != nil {
				s.open = nil
				return 0, err
			}
		}
		n, err = s.open.Read(p)
		if err == io.EOF {
			s.open, err = nil, nil
		} else if len(p) == 0 {
			break
		}
	}
	return n, err
}

// members reads the members of a gzip file one after the other. Zeros between
// them and behind the last are passed over, as gzip does: tapes, tar and some
// file systems pad with them.
type members struct {
	series
	gzip *gzip.Reader
}

// follow goes to the next member. It returns io.EOF if there is none.
func (m *members) follow() (io.Reader, error) {
	if err := skipZeros(m.r); err != nil {
		return nil, err
	}
	if m.stop != nil && m.stop(m.at()) {
		return nil, errHandedOver
	}
	head, err := m.r.Peek(2)
	switch {
	case err == io.EOF && head[0] == GzipMagic[0]:
		return nil, io.ErrUnexpectedEOF
	case err != nil && err != io.EOF:
		return nil, err
	case string(head) != GzipMagic:
		return nil, fmt.Errorf("what follows byte %d of the file is not gzip: cut it off, or unpack the file yourself", m.at())
	}
	if err := m.gzip.Reset(m.r); err != nil {
		return nil, NoEOF(err)
	}
	m.gzip.Multistream(false)
	return m.gzip, nil
}

// WindowError says that a zstd frame needs a larger window than is allowed.
type WindowError struct {
	Window, Limit int64 // bytes
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("a zstd frame needs a window of %d bytes, and the limit is %d: allow it with --limit window=%d, which takes as much memory, or pack the file again with a smaller --long",
		e.Window, e.Limit, e.Window)
}

// frames reads the frames of a zstd file one after the other. Frames that are to be
// skipped may stand anywhere.
type frames struct {
	series
	decoder func(window int64) (*zstd.Decoder, error)
	limit   int64 // of windows
}

// follow goes to the next frame. It returns io.EOF if there is none.
func (f *frames) follow() (io.Reader, error) {
	for {
		if f.stop != nil && f.stop(f.at()) {
			return nil, errHandedOver
		}
		head, err := f.r.Peek(4)
		switch {
		case len(head) == 0:
			return nil, err
		case len(head) < 4:
			return nil, NoEOF(err)
		case string(head) == ZstdMagic:
			return f.begin()
		case !IsZstd(head):
			return nil, fmt.Errorf("what follows byte %d of the file is not zstd: cut it off, or unpack the file yourself", f.at())
		}
		if err := skipFrame(f.r); err != nil {
			return nil, NoEOF(err)
		}
	}
}

// begin begins a frame. Its header is read first, for the size of the window.
func (f *frames) begin() (io.Reader, error) {
	frame := newZstdFrame(f.r)
	err := frame.frameHeader()
	if err != nil {
		return nil, err
	}
	dec, err := f.decoder(frame.window())
	if err != nil {
		return nil, err
	}
	return &openFrame{dec, frame, f.limit}, dec.Reset(frame)
}

// openFrame is a zstd frame as it is decoded.
type openFrame struct {
	zstd  *zstd.Decoder
	frame *zstdFrame
	limit int64 // of windows
}

func (o *openFrame) Read(p []byte) (int, error) {
	n, err := o.zstd.Read(p)
	if err == io.EOF && o.frame.err != nil {
		err = o.frame.err
	}
	return n, o.frame.explain(err, o.limit)
}

// skipFrame passes over a skippable frame. Four bytes of its header are certain.
func skipFrame(r *bufio.Reader) error {
	head, err := r.Peek(8)
	if err != nil {
		return err
	}
	_, err = io.CopyN(io.Discard, r, int64(len(head))+int64(binary.LittleEndian.Uint32(head[4:])))
	return err
}

// RatioError says that an input expands as no corpus does.
type RatioError struct {
	Stored, Decoded int64 // bytes so far
	Limit           int   // decoded bytes for each stored one
}

func (e *RatioError) Error() string {
	return fmt.Sprintf("%d bytes of it became %d: no corpus repeats itself more than %d times, so it may be made to do harm; if it is not, allow it with --limit ratio=0",
		e.Stored, e.Decoded, e.Limit)
}

// RatioFrom is how many bytes an input may expand to before its ratio counts.
const RatioFrom = 1 << 30

// Expansion watches how much larger an input becomes.
type Expansion struct {
	R       io.Reader
	Stored  func() int64
	Decoded int64
	Most    int // negative: any
}

func (e *Expansion) Read(p []byte) (int, error) {
	n, err := e.R.Read(p)
	if err := e.Add(n); err != nil {
		return n, err
	}
	return n, err
}

// Add counts decoded bytes.
func (e *Expansion) Add(n int) error { return e.Spend(int64(n)) }

// Spend counts decoded bytes, or what takes as long.
func (e *Expansion) Spend(n int64) error {
	if e.Decoded += n; e.Decoded > RatioFrom && e.Most > 0 {
		if stored := e.Stored(); e.Decoded/int64(e.Most) > stored {
			return &RatioError{Stored: stored, Decoded: e.Decoded, Limit: e.Most}
		}
	}
	return nil
}
