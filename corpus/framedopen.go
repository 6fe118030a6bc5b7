package corpus

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

// beginFramed has the input read by its frames, from its beginning.
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
		s.zipped, s.size = nil, -1
		slices.SortFunc(f.entries, func(a, b archive.Member) int { return cmp.Compare(a.At(), b.At()) })
		return f.nextEntry(s)
	}
	var err error
	f.src, err = s.dec.Sections(s.name, compress.Counter{R: stored, N: &s.read}, f.frames.Numbered(), f.frames.Starts)
	return err
}

// openZip lists the files of a WACZ (specs.webrecorder.net/wacz/1.1.1/) to read, those below archive/.
// A zip without such files has none.
func openZip(stored *input.StoredInput, size int64) []archive.Member {
	if stored.File == nil {
		return nil
	}
	l := archive.Lister{Want: func(name string) bool { return strings.HasPrefix(name, "archive/") }}
	found, err := l.Zip(stored.File.At, size)
	if err != nil {
		return nil
	}
	return found.Members
}

// nextEntry opens the next file of a zip archive, in the order in which they stand in it. Where it is
// compressed by zip, offsets in it mean nothing, and its records are counted.
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
