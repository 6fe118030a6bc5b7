package corpus

import (
	"context"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus/input"
)

// Head reads the beginning of an input that belongs in front of its output. It is nil if the format
// has none, or if the input is empty. It reads a block at most. An input with another beginning is an
// error, since no record of it could be a document.
func Head(ctx context.Context, in input.Input, format Format, cfg SourceConfig) (head []byte, err error) {
	if format.Kind() != ByFrames {
		return nil, nil
	}
	if _, has := format.Frames(DefaultMaxRecord).Head(); !has {
		return nil, nil
	}
	cfg.Ahead, cfg.SkipInputs, cfg.SkipTo, cfg.SkipSum = 0, 0, Place{}, 0
	cfg.Formats, cfg.BlockSize = nil, 4<<10 // one row will do
	s := NewSource([]input.Input{in}, format, cfg)
	defer s.Close() // only read
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if s.framed == nil { // it was recognized as another
		return nil, nil
	}
	var b Block
	defer b.Release()
	for {
		head, has := s.framed.frames.Head()
		switch {
		case head != nil || !has:
			return head, nil
		case len(b.Spans) > 0 && b.Spans[0].Bad != "":
			return nil, fmt.Errorf("reading %s: %s", in.Name, b.Spans[0].Bad)
		case s.eof || b.Records > 0:
			return nil, nil
		}
		if err := s.fill(ctx, &b); err != nil && err != io.EOF {
			return nil, err
		}
	}
}
