package compress

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Damage says that a piece of an input cannot be read. Behind it reading goes on.
type Damage struct{ Reason string }

func (d *Damage) Error() string { return d.Reason }

// ErrSection is returned at the end of a member.
var ErrSection = errors.New("the end of a member")

// RecognizedBy is the least number of bytes that decide whether a record begins, or the kind of an
// input.
const RecognizedBy = 512

// Attempt is the number of stored bytes examined to decide whether a member begins at a likely place.
const Attempt = 64 << 10

// Sections reads an input with framed records: its members one after the other, each with the place of
// its beginning. Damage is passed over, up to the next member that begins with a record.
type Sections struct {
	Raw    *History
	Br     *bufio.Reader          // over raw
	Starts func(data []byte) bool // reports whether a record begins in data, or an input
	Kind   CodecKind
	Gzip   *gzip.Reader
	Zstd   *zstd.Decoder
	frame  *zstdFrame

	In     io.Reader // the open member
	open   bool      // the only one there is
	Ratio  Expansion // of what members are decoded to
	Base   int64     // added to offsets
	Single bool      // members have no offsets
	Begin  int64     // beginning of the open member
}

// CodecKind is how an input is compressed.
type CodecKind uint8

const (
	KindPlain CodecKind = iota
	KindGzip
	KindZstd
	KindStream // of another kind, which is decoded as a whole
)

// at is how many stored bytes have been used.
func (s *Sections) at() int64 { return s.Raw.at() - int64(s.Br.Buffered()) }

// Next opens the next member. It returns io.EOF at the end, and Damage before bytes of no member.
func (s *Sections) Next() error {
	switch s.Kind {
	case KindGzip:
		if err := skipZeros(s.Br); err != nil {
			return err
		}
	case KindPlain, KindStream:
		if s.open {
			return io.EOF
		}
		s.open = true
	}
	if _, err := s.Br.Peek(1); err != nil && s.Kind != KindStream { // a decoder may have read all of it
		return err
	}
	s.Begin = s.at()
	s.Raw.from = s.Begin
	var err error
	switch s.Kind {
	case KindGzip:
		s.In, err = s.Gzip, s.Gzip.Reset(s.Br)
		s.Gzip.Multistream(false)
	case KindZstd:
		s.frame = newZstdFrame(s.Br)
		s.In, err = s.Zstd, s.Zstd.Reset(s.frame)
	case KindPlain:
		s.In = s.Br
	}
	return s.damage(err)
}

// skipZeros passes over zeros, with which tapes and some file systems pad.
func skipZeros(br *bufio.Reader) error {
	for {
		c, err := br.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			return br.UnreadByte()
		}
	}
}

// Read reads of the open member. At its end it returns errSection.
func (s *Sections) Read(p []byte) (int, error) {
	n, err := s.In.Read(p)
	if err == io.EOF && s.Kind == KindZstd && s.frame.err != nil {
		err = s.frame.err
	}
	if s.Kind == KindGzip || s.Kind == KindZstd {
		if err := s.Ratio.Add(n); err != nil {
			return n, err
		}
	}
	switch {
	case err == nil || n > 0 && (err == io.EOF || s.Kind == KindPlain): // it comes again
		return n, nil
	case err == io.EOF:
		return n, ErrSection
	}
	return n, s.damage(err)
}

// damage separates errors in the bytes from errors of reading.
func (s *Sections) damage(err error) error {
	switch {
	case err == nil:
		return nil
	case s.Raw.err != nil:
		return s.Raw.err
	case s.Kind == KindPlain, s.Kind == KindStream:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return &Damage{"the compressed data ends too early: it is cut off here"}
	case s.Kind == KindZstd:
		err = s.frame.explain(err, s.Raw.Limit)
	}
	return &Damage{fmt.Sprintf("the compressed data is damaged: %v", err)}
}

// Resync goes to the next member that begins with a record, behind the beginning of
// the damaged one, or returns io.EOF.
func (s *Sections) Resync() error {
	s.Raw.rewind(s.Begin+1, s.at())
	s.Br.Reset(s.Raw)
	magic := []byte(GzipMagic + "\x08")
	if s.Kind == KindZstd {
		magic = []byte(ZstdMagic)
	}
	for {
		head, err := s.Br.Peek(Attempt)
		if len(head) < len(magic) {
			return err
		}
		i := bytes.Index(head, magic)
		if i < 0 {
			i = len(head) - len(magic) + 1
			_, _ = s.Br.Discard(i) // they are there
			continue
		}
		_, _ = s.Br.Discard(i)
		head, _ = s.Br.Peek(Attempt)
		if s.Starts(s.headOf(head)) {
			return nil
		}
		_, _ = s.Br.Discard(1)
	}
}

// Guess finds out how an input is compressed that does not begin as any: whether there is
// a member with a record in its first bytes.
func (s *Sections) Guess() CodecKind {
	head, _ := s.Br.Peek(Attempt)
	for _, c := range []struct {
		kind  CodecKind
		magic string
	}{{KindGzip, GzipMagic + "\x08"}, {KindZstd, ZstdMagic}} {
		s.Kind = c.kind
		for at := 0; ; at++ {
			i := bytes.Index(head[at:], []byte(c.magic))
			if i < 0 {
				break
			}
			if at += i; s.Starts(s.headOf(head[at:])) {
				return c.kind
			}
		}
	}
	return KindPlain
}

// headOf decodes the first bytes of what may be a member.
func (s *Sections) headOf(stored []byte) []byte {
	var r io.Reader
	var err error
	if s.Kind == KindZstd {
		err = s.Zstd.Reset(newZstdFrame(bufio.NewReader(bytes.NewReader(stored))))
		r = s.Zstd
	} else {
		err = s.Gzip.Reset(bytes.NewReader(stored))
		s.Gzip.Multistream(false)
		r = s.Gzip
	}
	if err != nil {
		return nil
	}
	head := make([]byte, RecognizedBy)
	n, _ := io.ReadFull(r, head)
	return head[:n]
}

// History reads, and can go back to a place that was marked, or to the oldest it
// remembers behind that.
type History struct {
	R     io.Reader
	kept  []byte
	base  int64 // beginning of kept
	pos   int   // in kept: the next byte; at its end, r goes on
	from  int64 // marked
	gone  int64 // back, all in all
	err   error // of reading, but for the end
	Limit int64 // of windows, for messages
	Keeps bool  // it can go back
}

// maxHistory bounds a history, in bytes. A longer damaged member is searched from there on.
const maxHistory = 4 << 20

func (h *History) at() int64 { return h.base + int64(h.pos) }

// rewind goes back to a place, from another behind it. It goes back no further than
// keeps the time in proportion to the input: damaged members may be made to stand in each
// other by the thousands.
func (h *History) rewind(to, from int64) {
	back := min(from-max(to, h.base), maxHistory+2*from-h.gone)
	h.gone += back
	h.pos = int(from - back - h.base)
}

// Forget says that it need not go back.
func (h *History) Forget() {
	h.Keeps, h.base, h.kept, h.pos = false, h.at(), nil, 0
}

func (h *History) Read(p []byte) (int, error) {
	if h.pos < len(h.kept) {
		n := copy(p, h.kept[h.pos:])
		h.pos += n
		return n, nil
	}
	n, err := h.R.Read(p)
	if err != nil && err != io.EOF {
		h.err = err
	}
	if !h.Keeps {
		h.base += int64(n)
		return n, err
	}
	if len(h.kept)+n > maxHistory {
		drop := min(max(int(h.from-h.base), len(h.kept)-maxHistory/2), len(h.kept))
		h.kept = h.kept[:copy(h.kept, h.kept[drop:])]
		h.base += int64(drop)
	}
	h.kept = append(h.kept, p[:n]...)
	h.pos = len(h.kept)
	return n, err
}
