package corpus

import (
	"bytes"
	"context"
	"fmt"

	"github.com/firstseen/firstseen/internal/hugemem"
)

// A block is memory for a long line or its text. It is no part of the Go heap:
// it comes back at once when it is freed, has the collector run no more often,
// and of its capacity only what is touched is taken.
type block struct{ mem []byte }

// hold makes room for n bytes and begins it with data, which may be the block's
// own, and returns what it then holds.
func (b *block) hold(data []byte, n int) []byte {
	mem, err := hugemem.Alloc(n)
	if err != nil { // address space is short: then from the heap
		mem = make([]byte, n)
	}
	held := mem[:copy(mem, data)]
	b.free()
	b.mem = mem
	return held
}

func (b *block) free() {
	_ = hugemem.Free(b.mem) // it refuses what is of the heap
	b.mem = nil
}

// longLine puts a line that does not fit into a chunk, and of which c.buf is the
// beginning, into c.
func (s *Source) longLine(ctx context.Context, c *Chunk) error {
	line, granted := c.buf, 0
	for {
		n := len(line)
		want := min(n+s.cfg.ChunkSize, s.limit)
		if want > granted && s.room != nil {
			granted = min(2*want, s.limit)
			if err := s.room(ctx, granted); err != nil {
				return err
			}
		}
		if want > len(c.line.mem) {
			line = c.line.hold(line, min(growth*want, s.limit))
		}
		var err error
		line, err = s.gather(ctx, line, want)
		if i := bytes.IndexByte(line[n:], '\n'); i >= 0 {
			end := n + i + 1
			s.emit(c, line[:end], end, 1)
			s.unread(line[end:])
			return err
		}
		switch {
		case err != nil:
			return err
		case len(line) == s.limit:
			return s.overlong(ctx, c, line)
		case s.eof && len(s.carry) == 0:
			s.emit(c, line, len(line), 0)
			return nil
		}
	}
}

// overlong reads over a line whose beginning is given and of which it keeps only
// the head, and hands it out as a chunk of its own.
func (s *Source) overlong(ctx context.Context, c *Chunk, line []byte) error {
	head, size := bytes.Clone(line[:min(len(line), overlongHead)]), len(line)
	c.line.free()
	var err error
	for err == nil && !(s.eof && len(s.carry) == 0) {
		c.buf, err = s.gather(ctx, c.buf[:0], s.cfg.ChunkSize)
		if end := bytes.IndexByte(c.buf, '\n') + 1; end > 0 {
			size += end
			s.unread(c.buf[end:])
			break
		}
		size += len(c.buf)
	}
	s.emit(c, head, size, 0)
	s.line++
	c.Reject = fmt.Sprintf("the line is longer than the limit of %d bytes", s.cfg.MaxLine)
	return err
}
