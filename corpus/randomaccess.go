package corpus

import (
	"context"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

// Limits apply to a file read at random.
type Limits struct {
	Record int // bytes; longer records must be reported as bad
	// Spend must be called before any work that the file demands. n counts bytes read or
	// decompressed, and values at one byte each. Its error must end the reading: the work exceeds
	// the allowance for the file's size. So a few bytes cannot demand hours of work.
	Spend func(n int64) error
}

// Rows reads the records of a file. It must be used by one goroutine only.
type Rows interface {
	// Next appends the next record to dst and returns its place. For a bad record it returns the
	// reason. After the last record it returns io.EOF; another error names the unreadable part.
	Next(dst []byte) (records []byte, at Place, bad string, err error)
	// Read returns roughly how many bytes of the file have been read, for progress.
	Read() int64
}

// opened is an input of the kind AtRandom.
type opened struct {
	rows   Rows
	ratio  compress.Expansion // limits the size of the records
	record []byte             // if has is set, the next record, not yet handed out
	has    bool
	at     Place
	bad    string
	err    error // after the records handed out
}

// notAtRandom returns the error for an input that can only be read sequentially.
func (s *Source) notAtRandom(format string) error {
	return fmt.Errorf("reading %s: %s needs random access, so it must be a file, and not compressed as a whole: write it to a file, or unpack it first", s.name, format)
}

func (s *Source) beginOpened(stored *input.StoredInput) error {
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
	rows, err := s.chosen.Open(stored.File.At, size, Limits{Record: s.cfg.MaxRecord, Spend: work.Add})
	if err != nil {
		return fmt.Errorf("reading %s: %w", s.name, err)
	}
	stored.Forget()
	s.opened = &opened{rows: rows, ratio: compress.Expansion{Stored: length, Most: s.cfg.MaxRatio}}
	return nil
}

// fill puts the next records into b, or none at the end. A long record gets separate memory.
func (o *opened) fill(ctx context.Context, s *Source, b *Block) error {
	for len(b.buf) < s.cfg.BlockSize && len(b.Spans) < s.most && !b.Long() {
		if o.look(ctx, s.name); o.err != nil {
			break
		}
		start, end := len(b.buf), len(b.buf)+len(o.record)
		if start > 0 && end > s.cfg.BlockSize {
			break
		}
		if end <= max(s.cfg.BlockSize, apartFrom) {
			b.buf = append(b.buf, o.record...)
		} else if err := s.room(ctx, 2*end); err != nil {
			return err
		} else {
			b.Data = b.long.hold(o.record, end)
		}
		b.Spans = append(b.Spans, Span{At: o.at, Start: start, End: end, Bad: o.bad})
		if o.has = false; end > 4*s.cfg.BlockSize {
			o.record = nil
		}
	}
	err := o.err
	s.read = s.began + o.rows.Read()
	if err == io.EOF {
		s.eof, err = true, nil
		s.read = s.began + max(s.size, 0)
	}
	if len(b.Spans) == 0 {
		return err
	}
	s.emit(b)
	b.Opened = o.rows
	return nil // an error is returned again, after the records before it
}

// look reads the next record, unless it was already read.
func (o *opened) look(ctx context.Context, name string) {
	if o.has || o.err != nil {
		return
	}
	if o.err = ctx.Err(); o.err != nil {
		return
	}
	if o.record, o.at, o.bad, o.err = o.rows.Next(o.record[:0]); o.err == nil {
		o.err = o.ratio.Add(int64(len(o.record)))
	}
	if o.has = o.err == nil; !o.has && o.err != io.EOF {
		o.err = compress.ReadError(name, o.err)
	}
}
