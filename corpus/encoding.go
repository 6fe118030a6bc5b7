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

// Encoding finds the encoding of the text of an input and decodes it to UTF-8, after decompression and
// before records are separated. So everything behind it sees UTF-8, and places, the numbers of
// records, are those of the UTF-8 text. It serves formats cut into numbered records; others decode
// their texts themselves, or have no encoding.
type Encoding struct {
	// Sample is how many bytes Of is to see, unless an input ends before or is a pipe.
	// A byte order mark it sees in any case.
	Sample int
	// Of returns the encoding by the beginning of an input. whole means that this is all of it,
	// and piped that it may be less than the sample. Invalid bytes become [charset.Malformed], and a
	// record with one is bad.
	Of func(head []byte, whole, piped bool) (*charset.Stream, error)
}

// decodeText decodes the open input, unless it is in UTF-8.
func (s *Source) decodeText(ctx context.Context, least int) (err error) {
	if s.cfg.Encoding.Of == nil {
		return nil
	}
	w, want := &s.window, s.cfg.Encoding.Sample
	if s.live {
		want = 0
	}
	for _, mark := range []string{"\xff\xfe\x00\x00", "\x00\x00\xfe\xff", "\x84\x31\x95\x33"} {
		if head := w.held(); len(head) > 0 && compress.Begins(head, mark) { // it begins as a byte order mark of four bytes
			want = max(want, len(mark))
		}
	}
	if _ = s.need(ctx, want); ctx.Err() != nil { // an error is met again
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
	return ctx.Err() // an error of reading is met again
}

// failingReader brings an error again.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// Decodes reports whether inputs of a format may be in another encoding than UTF-8, and are
// then decoded.
func Decodes(f Format) bool {
	return f.Kind() == ByEnds || f.Kind() == ByFrames && f.Frames(DefaultMaxRecord).Numbered()
}
