package corpus

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

// beginFramed has the input read by its frames, from its beginning.
func (s *Source) beginFramed(stored *input.StoredInput) error {
	f := &framed{window: &s.window, frames: s.chosen.Frames(s.cfg.MaxRecord)}
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
		return s.beginEntries(stored)
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

// beginEntries has the entries of a zip archive read, in the order in which they stand
// in it.
func (s *Source) beginEntries(stored *input.StoredInput) error {
	entries := s.zipped
	s.zipped, s.size = nil, -1
	slices.SortFunc(entries, func(a, b archive.Member) int { return cmp.Compare(a.At(), b.At()) })
	for _, e := range entries {
		s.framed.rest = append(s.framed.rest, func() (*compress.Sections, error) { return s.openEntry(stored.File.At, &e) })
	}
	var err error
	s.framed.src, err = s.framed.rest[0]()
	s.framed.rest = s.framed.rest[1:]
	return err
}

// openEntry opens a file of a zip archive. Where it is compressed by zip, offsets in it
// mean nothing, and its records are counted.
func (s *Source) openEntry(file io.ReaderAt, e *archive.Member) (*compress.Sections, error) {
	counter := compress.Counter{R: e.Stored(file), N: &s.read}
	if !e.Plain() {
		counter = compress.Counter{R: input.Content(e, file, s.cfg.MaxRatio), N: new(int64)}
	}
	src, err := s.dec.Sections(s.name, counter, s.framed.frames.Numbered(), s.framed.frames.Starts)
	if err == nil {
		src.Base = e.At()
		src.Single = src.Single || !e.Plain()
	}
	return src, err
}
