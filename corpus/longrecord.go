package corpus

import (
	"bytes"
	"context"
	"fmt"
)

// longRecord puts into b a record too long for a block. b.buf has its beginning.
func (s *Source) longRecord(ctx context.Context, b *Block) error {
	record, granted := b.buf, 0
	for {
		n := len(record)
		want := min(n+s.cfg.BlockSize, s.limit)
		if want > granted {
			granted = min(2*want, s.limit)
			if err := s.askRoom(ctx, granted); err != nil {
				return err
			}
		}
		if want > len(b.long.mem) {
			record = b.long.hold(record, min(growth*want, s.limit))
		}
		var err error
		record, err = s.gather(ctx, record, want)
		if end := s.cutter.End(record, n); end >= 0 {
			s.emit(b, record[:end], 1)
			s.unread(record[end:])
			return nil // as in fill: an error is met again
		}
		switch {
		case err != nil:
			return err
		case len(record) == s.limit:
			return s.overlong(ctx, b, record)
		case s.eof && len(s.carry) == 0:
			s.emit(b, record, 0)
			return nil
		}
	}
}

// overlong skips a record with the given beginning, keeps its head, and hands that out as a block of
// its own.
func (s *Source) overlong(ctx context.Context, b *Block, record []byte) error {
	head, seen := bytes.Clone(record[:min(len(record), overlongHead)]), tailOf(record)
	b.long.free()
	for !(s.eof && len(s.carry) == 0) {
		var err error
		b.buf, err = s.gather(ctx, append(b.buf[:0], seen...), s.cfg.BlockSize+MaxTerminator)
		if end := s.cutter.End(b.buf, len(seen)); end >= 0 {
			s.unread(b.buf[end:])
			break
		}
		if err != nil {
			return err
		}
		seen = tailOf(b.buf)
	}
	s.emit(b, head, 0)
	s.next = s.next.Next()
	b.Reject = fmt.Sprintf("the %s is longer than the limit of %d bytes", s.chosen.Noun(), s.cfg.MaxRecord)
	return nil
}

// tailOf copies the bytes that may be part of an incomplete end.
func tailOf(b []byte) []byte { return bytes.Clone(b[max(0, len(b)-MaxTerminator+1):]) }
