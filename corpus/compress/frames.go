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

	decoder func(window int64) (*zstd.Decoder, error) // of a zstd frame
	limit   int64                                     // of windows
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

// nextMember goes to the next member of a gzip file. Zeros between members and behind the last are
// passed over, as gzip does: tapes, tar and some file systems pad with them.
func (s *series) nextMember(r *gzip.Reader) (io.Reader, error) {
	if err := skipZeros(s.r); err != nil {
		return nil, err
	}
	if s.stop != nil && s.stop(s.at()) {
		return nil, errHandedOver
	}
	head, err := s.r.Peek(2)
	switch {
	case err == io.EOF && head[0] == GzipMagic[0]:
		return nil, io.ErrUnexpectedEOF
	case err != nil && err != io.EOF:
		return nil, err
	case string(head) != GzipMagic:
		return nil, fmt.Errorf("what follows byte %d of the file is not gzip: cut it off, or unpack the file yourself", s.at())
	}
	if err := r.Reset(s.r); err != nil {
		return nil, NoEOF(err)
	}
	r.Multistream(false)
	return r, nil
}

// WindowError says that a zstd frame needs a larger window than is allowed.
type WindowError struct {
	Window, Limit int64 // bytes
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("a zstd frame needs a window of %d bytes, and the limit is %d: allow it with --limit window=%d, which takes as much memory, or pack the file again with a smaller --long",
		e.Window, e.Limit, e.Window)
}

// nextFrame goes to the next frame of a zstd file. Frames to be skipped may stand anywhere.
func (s *series) nextFrame() (io.Reader, error) {
	for {
		if s.stop != nil && s.stop(s.at()) {
			return nil, errHandedOver
		}
		head, err := s.r.Peek(4)
		switch {
		case len(head) == 0:
			return nil, err
		case len(head) < 4:
			return nil, NoEOF(err)
		case string(head) == ZstdMagic:
			return s.beginFrame()
		case !IsZstd(head):
			return nil, fmt.Errorf("what follows byte %d of the file is not zstd: cut it off, or unpack the file yourself", s.at())
		}
		if err := skipFrame(s.r); err != nil {
			return nil, NoEOF(err)
		}
	}
}

// beginFrame begins a frame. Its header is read first, for the size of the window.
func (s *series) beginFrame() (io.Reader, error) {
	frame := newZstdFrame(s.r)
	if err := frame.frameHeader(); err != nil {
		return nil, err
	}
	dec, err := s.decoder(frame.window())
	if err != nil {
		return nil, err
	}
	return &openFrame{dec, frame, s.limit}, dec.Reset(frame)
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
