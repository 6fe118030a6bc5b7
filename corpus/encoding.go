package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/internal/charset"
)

// Encoding detects the encoding of an input and decodes it to UTF-8, after decompression and before
// records are separated. So later stages see only UTF-8, and places count records of the UTF-8
// text. It applies to formats with numbered records. Others decode texts themselves or need no
// decoding.
type Encoding struct {
	// Sample is the number of bytes passed to Of, unless the input is shorter or a pipe. A byte
	// order mark is always passed in full.
	Sample int
	// Of returns the encoding of an input that starts with head. whole reports that head is the
	// whole input, piped that it may be shorter than Sample. Invalid bytes become
	// [charset.Malformed], and make a record bad.
	Of func(head []byte, whole, piped bool) (*charset.Stream, error)
}

func (s *Source) decodeText(ctx context.Context, least int) (err error) {
	if s.cfg.Encoding.Of == nil {
		return nil
	}
	w, want := &s.window, s.cfg.Encoding.Sample
	if s.live {
		want = 0
	}
	// The input may begin with a byte order mark of four bytes.
	for _, mark := range []string{"\xff\xfe\x00\x00", "\x00\x00\xfe\xff", "\x84\x31\x95\x33"} {
		if head := w.held(); len(head) > 0 && compress.Begins(head, mark) {
			want = max(want, len(mark))
		}
	}
	if _ = s.need(ctx, want); ctx.Err() != nil { // an error is returned again
		return ctx.Err()
	}
	d, err := s.cfg.Encoding.Of(w.held(), w.last, s.live)
	if err != nil {
		return fmt.Errorf("reading %s: %w", s.name, err)
	}
	if d.IsUTF8() {
		return nil
	}
	head := bytes.NewReader(bytes.Clone(w.held()))
	rest := s.decoded
	if w.last {
		rest = bytes.NewReader(nil)
	} else if w.err != nil {
		rest = failingReader{errors.Unwrap(w.err)}
	}
	s.charset, s.decoded = d.Name(), d.NewReader(io.MultiReader(head, rest))
	w.begin(s.decoded)
	_ = s.need(ctx, least)
	return ctx.Err() // an error of reading is returned again
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// Decodes reports whether inputs of a format are decoded if they are not UTF-8.
func Decodes(f Format) bool {
	return f.Kind() == ByEnds || f.Kind() == ByFrames && f.Frames(DefaultMaxRecord).Numbered()
}
