package corpus

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

// errSection is returned at the end of a member.
var errSection = errors.New("the end of a member")

// RecognizedBy is how many bytes at least tell whether a record begins, or what an
// input is.
const RecognizedBy = 512

// attempt is how many stored bytes are looked at to tell whether a member begins
// where the bytes look like it.
const attempt = 64 << 10

// sections reads an input for a [Framer]: its members one after the other, each with
// the place where it begins. What is damaged is passed over, up to the next member
// that begins with a record.
type sections struct {
	raw    *history
	br     *bufio.Reader // over raw
	frames Frames
	kind   codecKind
	gzip   *gzip.Reader
	zstd   *zstd.Decoder
	frame  zstdFrame

	in     io.Reader // the open member
	open   bool      // the only one there is
	ratio  expansion // of what members are decoded to
	base   int64     // what is added to offsets
	single bool      // no offset tells where a member begins
	begin  int64     // where the open member begins
}

// codecKind is how an input is compressed.
type codecKind uint8

const (
	kindPlain codecKind = iota
	kindGzip
	kindZstd
	kindStream // of another kind, which is decoded as a whole
)

// at is how many stored bytes have been used.
func (s *sections) at() int64 { return s.raw.at() - int64(s.br.Buffered()) }

// next opens the member that follows. It returns io.EOF where nothing does, and
// Damage where something does that is none.
func (s *sections) next() error {
	switch s.kind {
	case kindGzip:
		if err := skipZeros(s.br); err != nil {
			return err
		}
	case kindPlain, kindStream:
		if s.open {
			return io.EOF
		}
		s.open = true
	}
	if _, err := s.br.Peek(1); err != nil {
		return err
	}
	s.begin = s.at()
	s.raw.mark(s.begin)
	var err error
	switch s.kind {
	case kindGzip:
		s.in, err = s.gzip, s.gzip.Reset(s.br)
		s.gzip.Multistream(false)
	case kindZstd:
		s.frame = zstdFrame{r: s.br}
		s.in, err = s.zstd, s.zstd.Reset(&s.frame)
	case kindPlain:
		s.in = s.br
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
func (s *sections) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	if err == io.EOF && s.kind == kindZstd && s.frame.err != nil {
		err = s.frame.err
	}
	if s.kind == kindGzip || s.kind == kindZstd {
		if err := s.ratio.add(n); err != nil {
			return n, err
		}
	}
	switch {
	case err == nil || n > 0 && err == io.EOF: // the end comes again
		return n, nil
	case err == io.EOF:
		return n, errSection
	}
	return n, s.damage(err)
}

// damage tells apart what is wrong with the bytes and what with reading them.
func (s *sections) damage(err error) error {
	switch {
	case err == nil:
		return nil
	case s.raw.err != nil:
		return s.raw.err
	case s.kind == kindPlain, s.kind == kindStream:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return &Damage{"the compressed data ends too early: it is cut off here"}
	case s.kind == kindZstd:
		err = s.frame.explain(err, s.raw.limit)
	}
	return &Damage{fmt.Sprintf("the compressed data is damaged: %v", err)}
}

// resync goes to the next member that begins with a record, behind the beginning of
// the damaged one, or returns io.EOF.
func (s *sections) resync() error {
	s.raw.rewind(s.begin+1, s.at())
	s.br.Reset(s.raw)
	magic := []byte(gzipMagic + "\x08")
	if s.kind == kindZstd {
		magic = []byte(zstdMagic)
	}
	for {
		head, err := s.br.Peek(attempt)
		if len(head) < len(magic) {
			return err
		}
		i := bytes.Index(head, magic)
		if i < 0 {
			i = len(head) - len(magic) + 1
			_, _ = s.br.Discard(i) // they are there
			continue
		}
		_, _ = s.br.Discard(i)
		head, _ = s.br.Peek(attempt)
		if s.frames.Starts(s.headOf(head)) {
			return nil
		}
		_, _ = s.br.Discard(1)
	}
}

// guess finds out how an input is compressed that does not begin as any: whether there is
// a member with a record in its first bytes.
func (s *sections) guess() codecKind {
	head, _ := s.br.Peek(attempt)
	for _, c := range []struct {
		kind  codecKind
		magic string
	}{{kindGzip, gzipMagic + "\x08"}, {kindZstd, zstdMagic}} {
		s.kind = c.kind
		for at := 0; ; at++ {
			i := bytes.Index(head[at:], []byte(c.magic))
			if i < 0 {
				break
			}
			if at += i; s.frames.Starts(s.headOf(head[at:])) {
				return c.kind
			}
		}
	}
	return kindPlain
}

// headOf decodes the first bytes of what may be a member.
func (s *sections) headOf(stored []byte) []byte {
	var r io.Reader
	var err error
	if s.kind == kindZstd {
		err = s.zstd.Reset(&zstdFrame{r: bytes.NewReader(stored)})
		r = s.zstd
	} else {
		err = s.gzip.Reset(bytes.NewReader(stored))
		s.gzip.Multistream(false)
		r = s.gzip
	}
	if err != nil {
		return nil
	}
	head := make([]byte, RecognizedBy)
	n, _ := io.ReadFull(r, head)
	return head[:n]
}

// history reads, and can go back to a place that was marked, or to the oldest it
// remembers behind that.
type history struct {
	r     io.Reader
	kept  []byte
	base  int64 // where kept begins
	pos   int   // in kept: what is read next; at its end, what r brings
	from  int64 // marked
	gone  int64 // back, all in all
	err   error // of reading, but for the end
	limit int64 // of windows, for messages
	keeps bool  // it can go back
}

// maxHistory bounds what a history remembers: a member that is damaged and longer is
// looked through from there on.
const maxHistory = 4 << 20

func (h *history) at() int64 { return h.base + int64(h.pos) }

func (h *history) mark(at int64) { h.from = at }

// rewind goes back to a place, from another behind it. It goes back no further than
// keeps the time in proportion to the input: damaged members may be made to stand in each
// other by the thousands.
func (h *history) rewind(to, from int64) {
	back := min(from-max(to, h.base), maxHistory+2*from-h.gone)
	h.gone += back
	h.pos = int(from - back - h.base)
}

// forget says that it need not go back.
func (h *history) forget() {
	h.keeps, h.base, h.kept, h.pos = false, h.at(), nil, 0
}

func (h *history) Read(p []byte) (int, error) {
	if h.pos < len(h.kept) {
		n := copy(p, h.kept[h.pos:])
		h.pos += n
		return n, nil
	}
	n, err := h.r.Read(p)
	if err != nil && err != io.EOF {
		h.err = err
	}
	if !h.keeps {
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
