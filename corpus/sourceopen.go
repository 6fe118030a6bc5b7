package corpus

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

func (s *Source) open(ctx context.Context) error {
	if s.index == len(s.inputs) {
		s.dec.Close()
		return io.EOF
	}
	in := s.inputs[s.index]
	s.began = s.read
	var file *compress.File
	var decoded io.Reader
	if s.ahead != nil {
		file, decoded = s.ahead.Input(s.index, &s.read)
	}
	stored, err := input.OpenStored(in, s.cfg.Stdin, file)
	if err != nil {
		return err
	}
	s.in, s.name, s.index = stored, in.Name, s.index+1
	s.next, s.reject, s.charset, s.zipped = Place{Record: 1}, "", "", nil
	s.live, s.size = in.Size < 0, in.Size
	if in.Path == input.Stdin {
		s.size = -1 // it may have been read in part
	}
	s.most = max(s.cfg.BlockSize/(recordCost+len(s.name)), 1)
	return s.begin(ctx, stored, decoded)
}

// startAhead starts decoding files ahead, if configured. An open compressed file is read again.
func (s *Source) startAhead(ctx context.Context, stored *input.StoredInput) error {
	_, plain := s.decoded.(*bufio.Reader)
	again := stored.File != nil && !plain
	first := s.index
	if again {
		first--
	}
	if s.ahead != nil || s.cfg.Ahead < 2 || first == len(s.inputs) {
		return nil
	}
	if again || plain { // otherwise dec is in use
		s.dec.Close()
	}
	sizes := compress.SizesFor(s.cfg.Ahead)
	if s.cfg.sizes != nil {
		sizes = *s.cfg.sizes
	}
	s.ahead = compress.StartAhead(len(s.inputs), func(i int) *compress.File { return s.inputs[i].OpenAhead() }, first, s.dec, sizes)
	if !again {
		return nil
	}
	if err := s.closeInput(nil); err != nil {
		return err
	}
	s.read, s.index = s.began, first
	return s.open(ctx)
}

func (s *Source) closeAhead() {
	if s.ahead != nil {
		s.ahead.Close()
		s.ahead, s.cfg.Ahead = nil, 0
	}
}

// begin detects the format of an opened input. decoded is not nil if it is decoded ahead.
func (s *Source) begin(ctx context.Context, stored *input.StoredInput, decoded io.Reader) (err error) {
	w := &s.window
	s.eof = false
	if decoded == nil {
		if decoded, err = s.dec.Decode(s.name, compress.Counter{R: stored, N: &s.read}); err != nil {
			return s.beginDamaged(stored, err)
		}
	}
	s.decoded = decoded
	w.begin(decoded)
	least := 3
	if !s.live {
		least = compress.RecognizedBy
	}
	if err = s.need(ctx, least); ctx.Err() != nil {
		return cmp.Or(err, ctx.Err()) // the last read may have succeeded
	}
	if came, ok := decoded.(*bufio.Reader); ok && s.live && w.err == nil {
		// Reading buffered bytes does not block.
		more := max(min(came.Buffered(), compress.RecognizedBy-len(w.held())), 0)
		_ = s.need(ctx, len(w.held())+more)
	}
	// An error after some bytes is returned again by fill.
	if w.err != nil && len(w.held()) == 0 {
		return s.beginDamaged(stored, w.err)
	}
	if err = s.decodeText(ctx, least); err != nil {
		return err
	}
	for s.live && len(w.held()) < compress.RecognizedBy && !w.last && w.err == nil && s.undecided(w.held()) {
		_ = s.need(ctx, len(w.held())+1)
	}
	if len(s.cfg.Formats) > 0 && bytes.HasPrefix(w.held(), []byte(compress.ZipMagic)) {
		switch isWACZ := strings.EqualFold(filepath.Ext(s.name), ".wacz"); {
		case stored.File != nil:
			s.zipped = openZip(stored.File.At, s.size)
		case isWACZ:
			return s.notAtRandom("a WACZ")
		}
	}
	format, err := s.formatOf(w.held())
	if err == nil {
		err = s.choose(format, w.last && len(bytes.TrimSpace(w.held())) == 0)
	}
	if err != nil {
		return err
	}
	switch s.chosen.Kind() {
	case AtRandom:
		s.decoded = decoded
		return s.beginOpened(stored)
	case ByFrames:
		return s.beginFramed(stored)
	}
	stored.Forget()
	passed, reject := s.cutter.Begin(w.held())
	w.r, s.reject = w.r+passed, reject
	return s.startAhead(ctx, stored)
}

// beginDamaged begins an input that cannot be decoded. Frames continue after the damage.
func (s *Source) beginDamaged(stored *input.StoredInput, err error) error {
	f := s.named(s.name)
	if len(s.cfg.Formats) == 0 {
		f = s.format
	}
	if f != nil && f.Kind() == ByFrames {
		if err := s.choose(f, false); err != nil {
			return err
		}
		return s.beginFramed(stored)
	}
	return err
}

// beginFramed begins an input read by its frames, from its first byte.
func (s *Source) beginFramed(stored *input.StoredInput) error {
	f := &framed{window: &s.window, frames: s.chosen.Frames(s.cfg.MaxRecord), ctx: context.Background()}
	s.framed = f
	if s.charset != "" && Decodes(s.chosen) {
		stored.Forget()
		f.src = compress.SectionsOf(io.MultiReader(bytes.NewReader(bytes.Clone(s.window.held())), s.decoded))
		s.window.begin(f)
		return nil
	}
	s.window.begin(f)
	s.charset = ""
	stored.Again()
	s.read = s.began
	if s.zipped != nil {
		f.entries, f.zip = s.zipped, stored.File.At
		s.size = -1
		slices.SortFunc(f.entries, func(a, b archive.Member) int { return cmp.Compare(a.At(), b.At()) })
		return f.nextEntry(s)
	}
	var err error
	f.src, err = s.dec.Sections(s.name, compress.Counter{R: stored, N: &s.read}, f.frames.Numbered(), f.frames.Starts)
	return err
}

// openZip lists the files of a WACZ to read, those below archive/
// (specs.webrecorder.net/wacz/1.1.1/). It returns nil for any other zip archive.
func openZip(file io.ReaderAt, size int64) []archive.Member {
	l := archive.Lister{Want: func(name string) bool { return strings.HasPrefix(name, "archive/") }}
	found, err := l.Zip(file, size)
	if err != nil {
		return nil
	}
	return found.Members
}

// nextEntry opens the next file of a zip archive, in stored order. Offsets in a file compressed by
// zip mean nothing, so its records are counted.
func (f *framed) nextEntry(s *Source) (err error) {
	e := f.entries[0]
	counter := compress.Counter{R: e.Stored(f.zip), N: &s.read}
	if !e.Plain() {
		counter = compress.Counter{R: input.Content(&e, f.zip, s.cfg.MaxRatio), N: new(int64)}
	}
	src, err := s.dec.Sections(s.name, counter, f.frames.Numbered(), f.frames.Starts)
	if err != nil {
		return err
	}
	src.Base = e.At()
	src.Single = src.Single || !e.Plain()
	f.src, f.entries = src, f.entries[1:]
	return nil
}

func (s *Source) decodeText(ctx context.Context, least int) (err error) {
	e := s.cfg.Encoding
	if e == (Encoding{}) {
		return nil
	}
	w, want := &s.window, 0
	if e.auto && !s.live {
		want = detectedBy
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
	d, err := e.of(w.held(), w.last, s.live)
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
