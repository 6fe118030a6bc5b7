package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// members reads the members of a gzip file one after the other. Zeros between
// them and behind the last are passed over, as gzip does: tapes, tar and some
// file systems pad with them.
type members struct {
	gzip *gzip.Reader
	r    *bufio.Reader
	at   func() int64 // bytes of the file that are used up
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.gzip.Read(p)
		switch {
		case err != io.EOF:
			return n, err
		case n > 0:
			return n, nil // the end of the member comes again
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next goes to the next member. It returns io.EOF where there is none.
func (m *members) next() error {
	zeros, err := m.r.ReadByte()
	for err == nil && zeros == 0 {
		zeros, err = m.r.ReadByte()
	}
	if err != nil {
		return err
	}
	_ = m.r.UnreadByte() // it follows a ReadByte
	head, err := m.r.Peek(2)
	switch {
	case err == io.EOF && head[0] == 0x1f:
		return io.ErrUnexpectedEOF
	case err != nil && err != io.EOF:
		return err
	case !bytes.Equal(head, []byte("\x1f\x8b")):
		return fmt.Errorf("what follows byte %d of the file is not gzip: cut it off, or unpack the file yourself", m.at())
	}
	if err := m.gzip.Reset(m.r); err != nil {
		return noEOF(err)
	}
	m.gzip.Multistream(false)
	return nil
}

// WindowError says that a zstd frame needs a larger window than is allowed.
type WindowError struct {
	Window, Limit int64 // bytes
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("a zstd frame needs a window of %d bytes, and the limit is %d: allow it with --max-window %d, which takes as much memory, or pack the file again with a smaller --long",
		e.Window, e.Limit, e.Window)
}

// frames reads a zstd file and says of what the decoder refuses what it is and
// where.
type frames struct {
	zstd  *zstd.Decoder
	r     *bufio.Reader
	at    func() int64 // bytes of the file that are used up
	limit int64        // of windows
	head  []byte       // the short reads since the last long one: a frame's header
}

// maxFrameHead is what a header has at most, with the checksum and the header of
// a skipped frame that may come before it.
const maxFrameHead = 4 + 8 + zstd.HeaderMaxSize

func (f *frames) Read(p []byte) (int, error) {
	n, err := f.zstd.Read(p)
	return n, f.explain(err)
}

// frameReader is what the decoder reads from: headers by up to 8 bytes, all else
// as it comes.
type frameReader frames

func (f *frameReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if len(p) > 8 {
		f.head = f.head[:0]
	} else {
		f.head = append(f.head, p[:n]...)
		f.head = f.head[max(0, len(f.head)-maxFrameHead):]
	}
	return n, err
}

func (f *frames) explain(err error) error {
	switch {
	case errors.Is(err, zstd.ErrMagicMismatch):
		return fmt.Errorf("what follows byte %d of the file is not zstd: cut it off, or unpack the file yourself", f.at()-4)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return &WindowError{Window: f.window(), Limit: f.limit}
	}
	return err
}

// window is what the frame whose header was read last asks for.
func (f *frames) window() int64 {
	at := bytes.LastIndex(f.head, []byte("\x28\xb5\x2f\xfd"))
	var h zstd.Header
	if at < 0 || h.Decode(f.head[at:]) != nil {
		return f.limit + 1
	}
	if h.SingleSegment {
		return int64(h.FrameContentSize)
	}
	return int64(h.WindowSize)
}

// RatioError says that an input expands as no corpus does.
type RatioError struct {
	Stored, Decoded int64 // bytes so far
	Limit           int   // decoded bytes for each stored one
}

func (e *RatioError) Error() string {
	return fmt.Sprintf("%d bytes of it became %d: no corpus repeats itself more than %d times, so it may be made to do harm; if it is not, allow it with --max-ratio 0",
		e.Stored, e.Decoded, e.Limit)
}

// ratioFrom is how many bytes an input may expand to before its ratio counts.
const ratioFrom = 1 << 30

// expansion watches how much larger an input becomes.
type expansion struct {
	r       io.Reader
	stored  func() int64
	decoded int64
	most    int // negative: any
}

func (e *expansion) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err := e.add(n); err != nil {
		return n, err
	}
	return n, err
}

// add counts decoded bytes.
func (e *expansion) add(n int) error {
	if e.decoded += int64(n); e.decoded > ratioFrom && e.most > 0 {
		if stored := e.stored(); e.decoded/int64(e.most) > stored {
			return &RatioError{Stored: stored, Decoded: e.decoded, Limit: e.most}
		}
	}
	return nil
}
