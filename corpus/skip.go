package corpus

import (
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// ErrChanged is returned for an input that is not the one that was read before.
var ErrChanged = errors.New("the input was changed")

// RecordSum is the checksum of a record, without its end.
func RecordSum(raw []byte) uint64 { return xxh3.Hash(raw) }

// AddRecord adds a record to the checksum of the records before it, whose order it
// holds fast. The sum of no record is 0.
func AddRecord(sum, record uint64) uint64 {
	return (bits.RotateLeft64(sum*0x9e3779b97f4a7c15, 29) + record) | 1
}

// skipped are the records passed over so far.
type skipped struct {
	sum  uint64
	over bool
}

// pass takes the records before SkipTo away from the block. ended says that the
// input has no more.
func (k *skipped) pass(b *Block, s *Source, ended bool) error {
	if s.cutter == nil {
		k.passSpans(b, s)
	}
	for s.cutter != nil && len(b.Data) > 0 && b.First.compare(s.cfg.SkipTo) < 0 {
		end, whole := s.cutter.Cut(b.Data, 1)
		if whole == 0 { // the end of the input, or a record that is too long
			end = len(b.Data)
		}
		if raw, empty := b.Strip(s.cutter, b.Data[:end]); !empty {
			k.sum = AddRecord(k.sum, RecordSum(raw))
		}
		b.Data = b.Data[end:]
		b.First.Record += int64(whole)
		b.Records--
	}
	k.over = ended || b.Records > 0
	if k.over && s.cfg.SkipSum != 0 && k.sum != s.cfg.SkipSum {
		b.Data, b.Records = nil, 0
		return fmt.Errorf("%w: its first %d %ss are not those that were read before", ErrChanged, s.cfg.SkipTo.Record-1, s.chosen.Noun())
	}
	return nil
}

// passSpans takes the records before SkipTo away from a block of spans.
func (k *skipped) passSpans(b *Block, s *Source) {
	for len(b.Spans) > 0 && b.Spans[0].At.compare(s.cfg.SkipTo) < 0 {
		span := b.Spans[0]
		k.sum = AddRecord(k.sum, RecordSum(b.Data[span.Start:span.End]))
		b.Spans = b.Spans[1:]
		b.Records--
	}
	if len(b.Spans) > 0 {
		b.First = b.Spans[0].At
	}
}

// Fingerprint tells inputs that are files apart by the XXH3 of their size and their first
// and last 64 KiB, as stored. It reads no more than that.
func Fingerprint(in Input) (sum uint64, err error) {
	f, err := in.openRaw()
	if err != nil {
		return 0, err
	}
	defer f.Close() // only read
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	h := xxh3.New()
	_, _ = fmt.Fprintln(h, size) // never fails
	last := max(min(size, tailSize), size-tailSize)
	for _, part := range []io.Reader{io.NewSectionReader(f.At, 0, tailSize), io.NewSectionReader(f.At, last, tailSize)} {
		if _, err := io.Copy(h, part); err != nil {
			return 0, err
		}
	}
	return h.Sum64(), nil
}
