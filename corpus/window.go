package corpus

import (
	"context"
	"io"

	"github.com/firstseen/firstseen/corpus/compress"
)

// window holds data that was read from an input, but not yet handed out.
type window struct {
	from io.Reader
	buf  []byte // buf[r:w] was not handed out
	r, w int
	base int64  // offset of buf in the data read
	long memory // owns buf, if a record is long
	last bool   // from has no more data
	err  error  // from cannot be read further
}

const (
	// windowSize is the number of bytes read at once from an input with Frames.
	windowSize = 256 << 10

	// growth is the factor by which memory for a long record grows. Only touched pages count, so a
	// copy temporarily costs a quarter of the record.
	growth = 4
)

func (w *window) begin(from io.Reader) { *w = window{from: from, buf: w.buf, long: w.long} }

func (w *window) held() []byte { return w.buf[w.r:w.w] }

// at returns the offset of the unread bytes in the data read.
func (w *window) at() int64 { return w.base + int64(w.r) }

// free releases the memory of a long record.
func (w *window) free() {
	if w.long.mem != nil {
		w.buf = nil
		w.long.free()
	}
}

// need reads until the window has n bytes, or there are no more. From a pipe the end of a record is
// enough: a crawler waiting for an answer sends nothing more. An error may follow some bytes.
func (s *Source) need(ctx context.Context, n int) error {
	w := &s.window
	if s.framed != nil {
		s.framed.ctx = ctx
	}
	step := 0 // bytes to read before more memory is allocated: a record may state a wrong length
	for idle := 0; len(w.held()) < n && !w.last && w.err == nil; idle++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		held := len(w.held())
		if held >= step {
			if step = min(n, max(2*held, s.cfg.BlockSize)); step > s.cfg.BlockSize {
				if err := s.room(ctx, min(2*step, max(s.limit, step))); err != nil {
					return err
				}
			}
		}
		s.reserve(step)
		space := w.buf[w.w : w.r+step]
		if s.framed != nil {
			space = w.buf[w.w:min(len(w.buf), w.w+windowSize)]
		}
		got, err := w.from.Read(space)
		w.w += got
		switch {
		case err == io.EOF:
			w.last = true
		case err != nil:
			w.err = compress.ReadError(s.name, err)
		case s.live && s.cutter != nil && s.cutter.End(w.held(), held) >= 0:
			return nil
		case got > 0:
			idle = 0
		case idle == 100:
			w.err = compress.ReadError(s.name, io.ErrNoProgress)
		}
	}
	if len(w.held()) < n {
		return w.err
	}
	return nil
}

// reserve makes space for n bytes in the window.
func (s *Source) reserve(n int) {
	w := &s.window
	heap := s.cfg.BlockSize + LookAhead
	if s.framed != nil {
		heap = max(heap, 4*windowSize)
	}
	keeps := w.long.mem == nil || n > heap
	if keeps && w.r+n <= len(w.buf) {
		return
	}
	w.base += int64(w.r)
	held := w.held()
	switch {
	case keeps && n <= len(w.buf):
		copy(w.buf, held)
	case n <= heap:
		w.buf = append(make([]byte, 0, heap), held...)[:heap]
		w.long.free()
	default:
		w.long.hold(held, max(n, min(growth*n, s.limit)))
		w.buf = w.long.mem
	}
	w.r, w.w = 0, len(held)
}

// take moves the first n bytes of the window into the empty block. The window hands over its
// buffer, unless copying the n bytes is cheaper.
func (w *window) take(b *Block, n int, long bool) (data []byte) {
	data, rest := w.held()[:n:n], w.held()[n:]
	switch {
	case long && (w.r > 0 || len(rest) > windowSize || w.long.mem == nil):
		w.r += n
		return b.long.hold(data, n)
	case !long && (n <= len(rest) || w.long.mem != nil):
		w.r += n
		b.buf = append(b.buf[:0], data...)
		return b.buf
	}
	next := append(b.buf[:0], rest...)
	if long {
		b.long, w.long, b.buf = w.long, memory{}, nil
	} else {
		b.buf = w.buf
	}
	w.base += int64(w.r + n)
	w.buf, w.r, w.w = next[:cap(next)], 0, len(next)
	return data
}
