package corpus

import (
	"context"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

// Limits are for a file read at random.
type Limits struct {
	Record int // bytes; a longer record is to be reported as bad
	// Spend is to be called before all work that the file demands: with bytes read or
	// decompressed, and with values, as a byte each. Beyond the allowance for the file's size it
	// returns an error, which is to end the reading. So the claims of a few bytes cannot take long.
	Spend func(n int64) error
}

// Rows are the records of a file, for one goroutine.
type Rows interface {
	// Next appends the next record to dst, and returns its place. A bad record has a reason. The
	// error is io.EOF behind the last record; another names the unreadable part of the file.
	Next(dst []byte) (records []byte, at Place, bad string, err error)
	// Read is about how many bytes of the file have been read, for progress.
	Read() int64
	Close()
}

// opened is an input of the kind AtRandom.
type opened struct {
	rows    Rows
	ratio   compress.Expansion // of records
	pending []byte             // a record that did not fit into the block before
	span    Span               // of it
	has     bool
	err     error // behind the records that were handed out
}

// notAtRandom is the error of an input that can only be read from its beginning on.
func (s *Source) notAtRandom(format string) error {
	return fmt.Errorf("reading %s: %s is read at random, so it must be a file, and not compressed as a whole: write it to a file, or unpack it first", s.name, format)
}

// beginOpened has the input read at random.
func (s *Source) beginOpened(stored *input.StoredInput) error {
	s.back, s.carry, s.broken, s.eof = s.back[:0], nil, nil, false
	s.read = s.began
	if _, plain := s.decoded.(interface{ Peek(int) ([]byte, error) }); stored.File == nil || !plain {
		return s.notAtRandom(s.chosen.Name())
	}
	size, err := stored.File.Size()
	if err != nil {
		return fmt.Errorf("reading %s: %w", s.name, err)
	}
	length := func() int64 { return size }
	work := &compress.Expansion{Stored: length, Most: s.cfg.MaxRatio}
	rows, err := s.chosen.Open(stored.File.At, size, Limits{Record: s.cfg.MaxRecord, Spend: work.Spend})
	if err != nil {
		return fmt.Errorf("reading %s: %w", s.name, err)
	}
	stored.Forget()
	s.opened = &opened{rows: rows}
	s.opened.ratio = compress.Expansion{Stored: length, Most: s.cfg.MaxRatio}
	return nil
}

// fillOpened puts the next records into b, or none at the end of the input.
func (s *Source) fillOpened(ctx context.Context, b *Block) error {
	o := s.opened
	b.buf, b.Spans, b.Data = b.buf[:0], b.Spans[:0], nil
	buf := b.buf
	if o.has {
		o.has = false
		b.buf = append(b.buf, o.pending...)
		b.Spans = append(b.Spans, o.span)
		if o.pending = o.pending[:0]; cap(o.pending) > 4*s.cfg.BlockSize {
			o.pending = nil
		}
	}
	err := o.err
	for err == nil && len(b.buf) < s.cfg.BlockSize && len(b.Spans) < s.most {
		if err = ctx.Err(); err == nil {
			err = o.add(b, s.cfg.BlockSize)
		}
		if o.has {
			break
		}
	}
	if err != nil && err != io.EOF && o.err == nil {
		err = compress.ReadError(s.name, err)
	}
	o.err = err
	if err == io.EOF {
		s.eof, err = true, nil
		s.read = s.began + max(s.size, 0)
	} else {
		s.read = s.began + o.rows.Read()
	}
	if len(b.Spans) == 0 {
		return err
	}
	if err := s.settleOpened(ctx, b, buf); err != nil {
		return err
	}
	s.next = b.Spans[0].At
	s.emit(b, b.Data, len(b.Spans))
	b.Opened = o.rows
	return nil // an error is met again, behind the records before it
}

// settleOpened gives a long record memory of its own. The block goes back to buf, which it
// had before.
func (s *Source) settleOpened(ctx context.Context, b *Block, buf []byte) error {
	b.Data = b.buf
	if len(b.buf) <= s.cfg.BlockSize || len(b.buf) <= apartFrom {
		return nil
	}
	if s.room != nil {
		if err := s.room(ctx, 2*len(b.buf)); err != nil {
			return err
		}
	}
	b.Data = b.long.hold(b.buf, len(b.buf))
	b.buf = buf
	return nil
}

// add appends the next record to a block or, if that has no room, keeps it for the next.
func (o *opened) add(b *Block, size int) error {
	start := len(b.buf)
	data, at, bad, err := o.rows.Next(b.buf)
	if err != nil {
		return err
	}
	if err := o.ratio.Add(len(data) - start); err != nil {
		return err
	}
	span := Span{At: at, Start: start, End: len(data), Bad: bad}
	if b.buf = data; start > 0 && len(data) > size {
		o.pending = append(o.pending[:0], data[start:]...)
		o.span = Span{At: at, End: len(data) - start, Bad: bad}
		o.has, b.buf = true, data[:start]
		return nil
	}
	b.Spans = append(b.Spans, span)
	return nil
}
