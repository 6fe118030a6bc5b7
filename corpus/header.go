package corpus

import (
	"context"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus/input"
)

// Numbered is a [Frames] that numbers its records itself, by [Frame.Number]: no record's
// place has a part, however the input is compressed.
type Numbered interface {
	Frames
	Numbered()
}

func isNumbered(f Frames) bool {
	_, numbered := f.(Numbered)
	return numbered
}

// Headed is a [Frames] of inputs that begin with what belongs in front of every output,
// such as the names of columns.
type Headed interface {
	Numbered
	// Head is what the input began with, nil as long as it was not seen. It stays
	// valid, and does not change once a record was found.
	Head() []byte
}

// Head reads what an input begins with that belongs in front of its output: nil where its
// format has no such thing, or the input is empty. It reads no more than a block. An input
// that begins otherwise is an error, since no record of it could be a document.
func Head(ctx context.Context, in input.Input, format Format, cfg SourceConfig) (head []byte, err error) {
	f, ok := format.(Framer)
	if !ok {
		return nil, nil
	}
	if _, ok := f.Frames(DefaultMaxRecord).(Headed); !ok {
		return nil, nil
	}
	cfg.Ahead, cfg.SkipInputs, cfg.SkipTo, cfg.SkipSum = 0, 0, Place{}, 0
	cfg.Formats, cfg.BlockSize = nil, 4<<10 // one row will do
	s := NewSource([]input.Input{in}, format, cfg)
	defer s.Close() // only read
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	h, ok := s.framed.frames.(Headed)
	if !ok {
		return nil, nil
	}
	var b Block
	defer b.Release()
	for h.Head() == nil && !s.eof && b.Records == 0 {
		if err := s.fill(ctx, &b); err != nil && err != io.EOF {
			return nil, err
		}
	}
	if h.Head() == nil && len(b.Spans) > 0 && b.Spans[0].Bad != "" {
		return nil, fmt.Errorf("reading %s: %s", in.Name, b.Spans[0].Bad)
	}
	return h.Head(), nil
}
