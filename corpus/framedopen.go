package corpus

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

// beginFramed has the input read by its frames, from its beginning.
func (s *Source) beginFramed(stored *input.StoredInput) error {
	f := &framed{buf: s.window, frames: s.chosen.Frames(s.cfg.MaxRecord)}
	s.framed = f
	if s.charset != "" && Decodes(s.chosen) {
		s.frameDecoded(stored)
		return nil
	}
	s.back, s.carry, s.broken, s.eof, s.charset = s.back[:0], nil, nil, false, ""
	stored.Again()
	s.read = s.began
	if s.zipped != nil {
		return s.beginEntries(stored)
	}
	var err error
	if f.src, err = s.sections(compress.Counter{R: stored, N: &s.read}, 0); err == nil {
		f.src.Single = f.frames.Numbered()
	}
	return err
}

// sections opens the stored bytes from the offset base of the input on.
func (s *Source) sections(r compress.Counter, base int64) (*compress.Sections, error) {
	began := *r.N
	src := &compress.Sections{Raw: &compress.History{R: r, Limit: s.cfg.MaxWindow, Keeps: true}, Starts: s.framed.frames.Starts, Base: base}
	src.Br = compress.Buffered(&s.stored, src.Raw)
	var head []byte
	var err error
	if s.framed.frames.Numbered() { // no record is looked for
		head, err = compress.PeekHead(src.Br)
	} else {
		head, err = src.Br.Peek(compress.RecognizedBy)
	}
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", s.name, err)
	}
	at := func() int64 { return *r.N - began - int64(src.Br.Buffered()) }
	name := compress.CompressionOf(head[:min(len(head), compress.HeadSize)])
	if name == "" && !src.Starts(head) { // the beginning may be damaged
		if name, err = s.guess(src); err != nil {
			return nil, err
		}
	}
	switch name {
	case "gzip":
		src.Kind, src.Gzip = compress.KindGzip, new(gzip.Reader)
	case "zstd":
		src.Kind = compress.KindZstd
		if err := s.openZstd(src); err != nil {
			return nil, err
		}
	case "":
		src.Kind = compress.KindPlain
		src.Raw.Forget()
		return src, nil
	default:
		src.Kind = compress.KindStream
		src.Raw.Forget()
		in, err := s.dec.DecodeStream(name, src.Br)
		if err != nil {
			return nil, compress.ReadError(s.name, compress.NoEOF(err))
		}
		src.In = &compress.Expansion{R: in, Stored: at, Most: s.cfg.MaxRatio}
	}
	src.Ratio = compress.Expansion{Stored: at, Most: s.cfg.MaxRatio}
	return src, nil
}

// guess names the compression of an input that does not begin as any, by its name and by
// what stands in its first bytes, but for numbered records by its name alone; "" is none.
func (s *Source) guess(src *compress.Sections) (string, error) {
	switch {
	case strings.HasSuffix(s.name, ".gz"):
		return "gzip", nil
	case strings.HasSuffix(s.name, ".zst"):
		return "zstd", nil
	}
	if s.framed.frames.Numbered() {
		return "", nil
	}
	first, _ := src.Br.Peek(compress.Attempt) // an error comes again
	if !bytes.Contains(first, []byte(compress.GzipMagic)) && !bytes.Contains(first, []byte(compress.ZstdMagic)) {
		return "", nil
	}
	src.Gzip = new(gzip.Reader)
	if err := s.openZstd(src); err != nil {
		return "", err
	}
	kind := src.Guess()
	src.Zstd.Close()
	return map[compress.CodecKind]string{compress.KindGzip: "gzip", compress.KindZstd: "zstd"}[kind], nil
}

// openZstd makes a decoder, with the dictionary that the input may begin with.
func (s *Source) openZstd(src *compress.Sections) error {
	options := []zstd.DOption{
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(s.cfg.MaxWindow)),
	}
	dict, err := compress.ReadDictionary(src.Br, s.cfg.MaxWindow)
	if err != nil {
		return fmt.Errorf("reading %s: its dictionary cannot be read, and nothing without it: %w", s.name, err)
	}
	if bytes.HasPrefix(dict, []byte("\x37\xa4\x30\xec")) {
		options = append(options, zstd.WithDecoderDicts(dict))
	} else if dict != nil {
		options = append(options, zstd.WithDecoderDictRaw(0, dict))
	}
	if src.Zstd, err = zstd.NewReader(nil, options...); err != nil {
		return fmt.Errorf("reading %s: %w", s.name, err)
	}
	return nil
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
	if e.Plain() {
		return s.sections(compress.Counter{R: e.Stored(file), N: &s.read}, e.At())
	}
	src, err := s.sections(compress.Counter{R: input.Content(e, file, s.cfg.MaxRatio), N: new(int64)}, e.At())
	if err == nil {
		src.Single = true
	}
	return src, err
}
