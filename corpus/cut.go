package corpus

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus/compress"
)

// growth is the factor of the memory for a long record. Only touched pages are taken, so it
// costs a quarter of the record while this is copied.
const growth = 4

// cut puts the next whole records into b that the cutter finds. A record too long for a block gets memory
// of its own, and is looked at once.
func (s *Source) cut(ctx context.Context, b *Block) (err error) {
	buf, want, granted := b.buf, s.want, 0
	for {
		begun, long := len(buf), want > s.cfg.BlockSize
		if long && want > granted {
			granted = min(2*want, s.limit)
			if err := s.askRoom(ctx, granted); err != nil {
				return err
			}
		}
		if long && want > len(b.long.mem) {
			buf = b.long.hold(buf, min(growth*want, s.limit))
		}
		buf, err = s.gather(ctx, buf, want)
		var end, records int
		if long {
			end, records = s.cutter.End(buf, begun), 1
		} else {
			b.buf = buf
			end, records = s.cutter.Cut(buf, s.most)
			s.adapt(end, records)
		}
		if end > 0 {
			s.emit(b, buf[:end], records)
			s.unread(buf[end:])
			return nil // an error is met again, behind the records that are still whole
		}
		switch {
		case err != nil:
			return err
		case len(buf) == s.limit:
			return s.overlong(ctx, b, buf)
		case s.eof && len(s.carry) == 0:
			s.emit(b, buf, 0)
			return nil
		case want < s.cfg.BlockSize:
			want = s.want
		default:
			want = min(len(buf)+s.cfg.BlockSize, s.limit)
		}
	}
}

// gather appends to buf until it holds n bytes or readTo stops. Bytes put back come first.
func (s *Source) gather(ctx context.Context, buf []byte, n int) ([]byte, error) {
	if cap(buf) < n {
		buf = append(make([]byte, 0, n), buf...)
	}
	k := min(len(s.carry), n-len(buf))
	kept := s.carry[:k]
	buf, s.carry = append(buf, kept...), s.carry[k:]
	if len(s.carry) > 0 || s.live && k > 0 && s.cutter.End(buf, len(buf)-k) >= 0 {
		return buf, nil
	}
	return s.readTo(ctx, buf, n)
}

// unread puts the end of the gathered bytes back.
func (s *Source) unread(rest []byte) {
	if n := len(s.carry); n > 0 { // then all of rest came from before it
		s.carry = s.back[len(s.back)-n-len(rest):]
		return
	}
	s.back = append(s.back[:0], rest...)
	s.carry = s.back
}

// adapt chooses how much to gather for the next block, after one with so many
// bytes and records: not much more than it may have records of this size.
func (s *Source) adapt(bytes, records int) {
	if s.want *= 2; records >= s.most {
		s.want = max(2*bytes, 4<<10)
	}
	s.want = min(s.want, s.cfg.BlockSize)
}

// readTo appends to buf until it holds n bytes, the input ends or, from a pipe, a
// whole record has come.
func (s *Source) readTo(ctx context.Context, buf []byte, n int) ([]byte, error) {
	if cap(buf) < n {
		buf = append(make([]byte, 0, n), buf...)
	}
	for idle := 0; len(buf) < n && !s.eof && s.broken == nil; idle++ {
		if err := ctx.Err(); err != nil {
			return buf, err
		}
		got, err := s.decoded.Read(buf[len(buf):n])
		buf = buf[:len(buf)+got]
		switch {
		case err == io.EOF:
			s.eof = true
		case err != nil:
			s.broken = compress.ReadError(s.name, err)
		case s.live && s.cutter != nil && s.cutter.End(buf, len(buf)-got) >= 0:
			// A crawler that waits for the answer to its document sends
			// no more until it comes.
			return buf, nil
		case got > 0:
			idle = 0
		case idle == 100:
			s.broken = compress.ReadError(s.name, io.ErrNoProgress)
		}
	}
	return buf, s.broken
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
