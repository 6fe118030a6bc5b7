package corpus

import (
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/corpus/output"
)

// ErrChanged is returned if an input differs from the one read before.
var ErrChanged = errors.New("the input was changed")

// skipped describes the records skipped so far.
type skipped struct {
	sum  uint64
	over bool
}

// pass removes the records before SkipTo from the block. ended reports the end of the input.
func (k *skipped) pass(b *Block, s *Source, ended bool) error {
	for len(b.Spans) > 0 && b.Spans[0].At.Compare(s.cfg.SkipTo) < 0 {
		span := b.Spans[0]
		k.sum = output.AddRecord(k.sum, output.RecordSum(b.Data[span.Start:span.End]))
		b.Spans = b.Spans[1:]
		b.Records--
	}
	if len(b.Spans) > 0 {
		b.First = b.Spans[0].At
	}
	for s.cutter != nil && len(b.Data) > 0 && b.First.Compare(s.cfg.SkipTo) < 0 {
		end := s.cutter.End(b.Data, 0)
		if end > 0 {
			b.First = b.First.Next()
		} else { // the end of the input, or an overlong record
			end = len(b.Data)
		}
		if raw, empty := b.Strip(s.cutter, b.Data[:end]); !empty {
			k.sum = output.AddRecord(k.sum, output.RecordSum(raw))
		}
		b.Data = b.Data[end:]
		b.Records--
	}
	k.over = ended || b.Records > 0
	if k.over && s.cfg.SkipSum != 0 && k.sum != s.cfg.SkipSum {
		b.Data, b.Records = nil, 0
		return fmt.Errorf("%w: its first %d %ss are not those that were read before", ErrChanged, s.cfg.SkipTo.Record-1, s.chosen.Noun())
	}
	return nil
}
