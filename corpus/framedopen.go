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
)

// chooseFramed has the input read in a format that is a Framer.
func (s *Source) chooseFramed(f Format, stored *storedInput) error {
	if err := s.choose(f); err != nil {
		return err
	}
	return s.beginFramed(stored)
}

// beginFramed has the input read by a Framer, from its beginning.
func (s *Source) beginFramed(stored *storedInput) error {
	f := &framed{buf: s.window, frames: s.chosen.(Framer).Frames(s.cfg.MaxRecord)}
	s.framed = f
	if s.charset != "" && Decodes(s.chosen) {
		s.frameDecoded(stored)
		return nil
	}
	s.back, s.carry, s.broken, s.eof, s.charset = s.back[:0], nil, nil, false, ""
	stored.again()
	s.read = s.began
	if s.zipped != nil {
		return s.beginEntries(stored)
	}
	var err error
	if f.src, err = s.sections(counter{stored, &s.read}, 0); err == nil {
		f.src.single = isNumbered(f.frames)
	}
	return err
}

// sections opens what is stored from the offset base of the input on.
func (s *Source) sections(r counter, base int64) (*sections, error) {
	began := *r.n
	src := &sections{raw: &history{r: r, limit: s.cfg.MaxWindow, keeps: true}, frames: s.framed.frames, base: base}
	src.br = buffered(&s.stored, src.raw)
	var head []byte
	var err error
	if isNumbered(src.frames) { // no record is looked for
		head, err = peekHead(src.br)
	} else {
		head, err = src.br.Peek(RecognizedBy)
	}
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", s.name, err)
	}
	at := func() int64 { return *r.n - began - int64(src.br.Buffered()) }
	name := compressionOf(head[:min(len(head), headSize)])
	if name == "" && !src.frames.Starts(head) { // the beginning may be damaged
		if name, err = s.guess(src); err != nil {
			return nil, err
		}
	}
	switch name {
	case "gzip":
		src.kind, src.gzip = kindGzip, new(gzip.Reader)
	case "zstd":
		src.kind = kindZstd
		if err := s.openZstd(src); err != nil {
			return nil, err
		}
	case "":
		src.kind = kindPlain
		src.raw.forget()
		return src, nil
	default:
		src.kind = kindStream
		src.raw.forget()
		in, err := s.dec.decodeStream(name, src.br)
		if err != nil {
			return nil, readError(s.name, noEOF(err))
		}
		src.in = &expansion{r: in, stored: at, most: s.cfg.MaxRatio}
	}
	src.ratio = expansion{stored: at, most: s.cfg.MaxRatio}
	return src, nil
}

// guess names the compression of an input that does not begin as any, by its name and by
// what stands in its first bytes, but for a [Numbered] by its name alone; "" is none.
func (s *Source) guess(src *sections) (string, error) {
	switch {
	case strings.HasSuffix(s.name, ".gz"):
		return "gzip", nil
	case strings.HasSuffix(s.name, ".zst"):
		return "zstd", nil
	}
	if isNumbered(src.frames) {
		return "", nil
	}
	first, _ := src.br.Peek(attempt) // an error comes again
	if !bytes.Contains(first, []byte(gzipMagic)) && !bytes.Contains(first, []byte(zstdMagic)) {
		return "", nil
	}
	src.gzip = new(gzip.Reader)
	if err := s.openZstd(src); err != nil {
		return "", err
	}
	kind := src.guess()
	src.zstd.Close()
	return map[codecKind]string{kindGzip: "gzip", kindZstd: "zstd"}[kind], nil
}

// openZstd makes a decoder, with the dictionary that the input may begin with.
func (s *Source) openZstd(src *sections) error {
	options := []zstd.DOption{
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(s.cfg.MaxWindow)),
	}
	dict, err := readDictionary(src.br, s.cfg.MaxWindow)
	if err != nil {
		return fmt.Errorf("reading %s: its dictionary cannot be read, and nothing without it: %w", s.name, err)
	}
	if bytes.HasPrefix(dict, []byte("\x37\xa4\x30\xec")) {
		options = append(options, zstd.WithDecoderDicts(dict))
	} else if dict != nil {
		options = append(options, zstd.WithDecoderDictRaw(0, dict))
	}
	if src.zstd, err = zstd.NewReader(nil, options...); err != nil {
		return fmt.Errorf("reading %s: %w", s.name, err)
	}
	return nil
}

// openZip lists what a WACZ (specs.webrecorder.net/wacz/1.1.1/) has to read: the
// files below archive/. It is none where there is no such file.
func openZip(stored *storedInput, size int64) []archive.Member {
	if stored.file == nil {
		return nil
	}
	l := archive.Lister{Want: func(name string) bool { return strings.HasPrefix(name, "archive/") }}
	found, err := l.Zip(stored.file.At, size)
	if err != nil {
		return nil
	}
	return found.Members
}

// isInWACZ reports whether a name is that of a web archive in a WACZ.
func isInWACZ(name string) bool {
	return strings.HasPrefix(name, "archive/") && strings.HasSuffix(uncompressedName(name), ".warc")
}

// beginEntries has the entries of a zip archive read, in the order in which they stand
// in it.
func (s *Source) beginEntries(stored *storedInput) error {
	entries := s.zipped
	s.zipped, s.size = nil, -1
	slices.SortFunc(entries, func(a, b archive.Member) int { return cmp.Compare(a.At(), b.At()) })
	for _, e := range entries {
		s.framed.rest = append(s.framed.rest, func() (*sections, error) { return s.openEntry(stored.file.At, &e) })
	}
	var err error
	s.framed.src, err = s.framed.rest[0]()
	s.framed.rest = s.framed.rest[1:]
	return err
}

// openEntry opens a file of a zip archive. Where it is compressed by zip, offsets in it
// mean nothing, and its records are counted.
func (s *Source) openEntry(file io.ReaderAt, e *archive.Member) (*sections, error) {
	if e.Plain() {
		return s.sections(counter{e.Stored(file), &s.read}, e.At())
	}
	src, err := s.sections(counter{content(e, file, s.cfg.MaxRatio), new(int64)}, e.At())
	if err == nil {
		src.single = true
	}
	return src, err
}
