package corpus

import (
	"context"
	"fmt"
)

// cut puts the next whole records of a Cutter into b. It searches each byte of a long record once.
func (s *Source) cut(ctx context.Context, b *Block) (err error) {
	w := &s.window
	for want, seen := s.cfg.BlockSize, 0; ; {
		if !s.live || s.cutter.End(w.held(), seen) < 0 {
			err = s.need(ctx, want)
		}
		data := w.held()
		data = data[:min(len(data), want)]
		long := want > s.cfg.BlockSize
		from, most := 0, s.most
		if long {
			from, most = seen, 1
		}
		end := b.cut(s.next, data, from, most)
		seen = len(data)
		switch {
		case end > 0:
			b.Offset, b.Data = w.at(), w.take(b, end, long)
			s.emit(b)
			s.eof = w.last && len(w.held()) == 0
			return nil // an error is returned again, after the remaining whole records
		case err != nil:
			return err
		case seen == s.limit:
			return s.overlong(ctx, b)
		case w.last && seen == len(w.held()):
			if s.eof = true; seen > 0 {
				b.Spans = append(b.Spans, Span{At: s.next, End: seen})
			}
			b.Offset, b.Data = w.at(), w.take(b, seen, long)
			s.emit(b)
			return nil
		default:
			want = min(seen+s.cfg.BlockSize, s.limit)
		}
	}
}

// overlong skips a record, keeps its head, and returns the head as a separate block.
func (s *Source) overlong(ctx context.Context, b *Block) (err error) {
	w := &s.window
	b.buf = append(b.buf[:0], w.held()[:min(s.limit, overlongHead)]...)
	for seen, end := s.limit, -1; end < 0; {
		end = s.cutter.End(w.held(), seen)
		switch {
		case end >= 0:
			w.r += end
		case err != nil:
			return err
		case w.last:
			w.r, end = w.w, 0
		default:
			seen = min(len(w.held()), LookAhead-1) // they may be part of an incomplete end
			w.r = w.w - seen
			err = s.need(ctx, seen+s.cfg.BlockSize)
		}
	}
	b.Spans = append(b.Spans, Span{At: s.next, End: len(b.buf)})
	s.emit(b)
	s.eof = w.last && len(w.held()) == 0
	b.Reject = fmt.Sprintf("the %s is longer than the limit of %d bytes", s.chosen.Noun(), s.cfg.MaxRecord)
	return nil
}
