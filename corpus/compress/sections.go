package compress

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Damage is an error in part of an input. Reading resumes after it.
type Damage struct{ Reason string }

func (d *Damage) Error() string { return d.Reason }

// ErrSection is returned at the end of a member.
var ErrSection = errors.New("the end of a member")

// RecognizedBy is the number of bytes that suffice to recognize a record, or the kind of an input.
const RecognizedBy = 512

// attempt is the number of stored bytes examined to decide whether a member begins.
const attempt = 64 << 10

// memberBegins holds the first bytes of members: the magic, and then a byte with some bits clear.
var memberBegins = map[string]struct {
	magic   string
	without byte
}{
	"gzip": {GzipMagic + "\x08", 0xe0}, // method, and no reserved flag (RFC 1952, section 2.3)
	"zstd": {ZstdMagic, 0x08},          // reserved bit of the descriptor (RFC 8878, section 3.1.1)
}

// nextMagic returns the index of a magic whose next byte has these bits clear, or -1.
func nextMagic(data []byte, magic string, without byte) int {
	for at := 0; ; at++ {
		i := bytes.Index(data[at:], []byte(magic))
		if at += i; i < 0 || at+len(magic) >= len(data) {
			return -1
		}
		if data[at+len(magic)]&without == 0 {
			return at
		}
	}
}

// Sections reads an input with framed records, one member after the other. It skips damage, up to
// the next member that begins with a record.
type Sections struct {
	Kind   string // compression, or ""
	Base   int64  // added to offsets
	Single bool   // members have no offsets
	Begin  int64  // offset of the open member

	raw     *history
	members members   // over raw
	in      io.Reader // the open member, or an input without members
	begun   bool
	own     Decoders               // with a dictionary
	ratio   Expansion              // of the decoded bytes
	starts  func(data []byte) bool // reports whether data begins a record or an input
}

// SectionsOf reads decoded text as a single section.
func SectionsOf(text io.Reader) *Sections {
	raw := &history{r: text}
	br := bufio.NewReaderSize(raw, ReadBuffer)
	return &Sections{Single: true, raw: raw, members: members{r: br}, in: br}
}

// Sections opens an input. It does not search for the start of numbered records.
func (d *Decoders) Sections(name string, r Counter, numbered bool, starts func(data []byte) bool) (*Sections, error) {
	s := &Sections{Single: numbered, raw: &history{r: r, keeps: true}, starts: starts}
	br, began := d.buffered(s.raw, ReadBuffer), *r.N
	s.ratio = Expansion{Stored: func() int64 { return *r.N - began - int64(br.Buffered()) }, Most: d.MaxRatio}
	s.members = members{r: br, at: s.at}
	var head []byte
	var err error
	if numbered {
		head, err = peekHead(br)
	} else {
		head, err = br.Peek(RecognizedBy)
	}
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	s.Kind = CompressionOf(head[:min(len(head), HeadSize)])
	if s.Kind == "" && !starts(head) { // the first bytes may be damaged
		s.Kind = s.guess(d, name, numbered)
	}
	if s.Kind == "zstd" {
		dict, err := readDictionary(br, d.MaxWindow)
		if err != nil {
			return nil, fmt.Errorf("reading %s: its dictionary cannot be read, and nothing else can without it: %w", name, err)
		}
		if dict != nil {
			s.own = Decoders{Bounds: d.Bounds, dict: dict}
			d = &s.own
		}
	}
	if s.in = br; s.Kind != "" {
		if s.in, err = d.open(s.Kind, &s.members); err != nil {
			return nil, ReadError(name, NoEOF(err))
		}
	}
	if h := s.raw; !s.HasMembers() { // it never rewinds
		h.keeps, h.base, h.kept, h.pos = false, h.at(), nil, 0
	}
	return s, nil
}

// HasMembers reports whether the input has members, each with a checksum.
func (s *Sections) HasMembers() bool { return s.Kind == "gzip" || s.Kind == "zstd" }

func (s *Sections) Close() { s.own.Close() }

// at returns the number of stored bytes consumed.
func (s *Sections) at() int64 { return s.raw.at() - int64(s.members.r.Buffered()) }

// Next opens the next member. It returns io.EOF at the end, and Damage before bytes of no member.
func (s *Sections) Next() error {
	if s.begun && !s.HasMembers() {
		return io.EOF
	}
	s.begun = true
	if s.Kind == "gzip" {
		if err := skipZeros(s.members.r); err != nil {
			return err
		}
	}
	if s.Kind == "" || s.HasMembers() { // otherwise a decoder may have read everything
		if _, err := s.members.r.Peek(1); err != nil {
			return err
		}
	}
	s.Begin = s.at()
	s.raw.from = s.Begin
	if !s.HasMembers() {
		return nil
	}
	err := s.members.next()
	if s.in = s.members.open; err == io.EOF { // after skippable frames
		return err
	}
	return s.damage(err)
}

// Read reads from the open member. At its end it returns ErrSection.
func (s *Sections) Read(p []byte) (n int, err error) {
	n, err = s.in.Read(p)
	if s.Kind != "" {
		if err := s.ratio.Add(int64(n)); err != nil {
			return n, err
		}
	}
	switch {
	case err == nil || n > 0 && (err == io.EOF || s.Kind == ""): // the error is returned again
		return n, nil
	case err == io.EOF:
		return n, ErrSection
	}
	return n, s.damage(err)
}

// damage distinguishes damaged data from read errors.
func (s *Sections) damage(err error) error {
	switch {
	case err == nil:
		return nil
	case s.raw.err != nil:
		return s.raw.err
	case !s.HasMembers():
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Damage{"the compressed data ends too early: it is cut off here"}
	case errors.Is(err, errForeign): // later data may be intact
		return &Damage{"the compressed data is damaged: this part is not " + s.members.kind}
	}
	return &Damage{fmt.Sprintf("the compressed data is damaged: %v", err)}
}

// Resync moves from a damaged member to the next that begins with a record, or returns io.EOF.
func (s *Sections) Resync() error {
	s.raw.rewind(s.Begin+1, s.at())
	br, magic := s.members.r, memberBegins[s.Kind].magic
	br.Reset(s.raw)
	for {
		head, err := br.Peek(attempt)
		if len(head) <= len(magic) {
			return err
		}
		i := nextMagic(head, magic, 0)
		if i < 0 {
			_, _ = br.Discard(len(head) - len(magic)) // already buffered
			continue
		}
		_, _ = br.Discard(i)
		head, _ = br.Peek(attempt)
		if s.startsIn(s.members, head) {
			return nil
		}
		_, _ = br.Discard(1)
	}
}

// guess returns the compression of an input with unknown first bytes, or "". It uses the name or,
// unless records are numbered, a member with a record in the first bytes.
func (s *Sections) guess(d *Decoders, name string, numbered bool) string {
	switch {
	case strings.HasSuffix(name, ".gz"):
		return "gzip"
	case strings.HasSuffix(name, ".zst"):
		return "zstd"
	case numbered:
		return ""
	}
	head, _ := s.members.r.Peek(attempt) // an error is returned again
	for _, kind := range []string{"gzip", "zstd"} {
		m := s.members
		_, _ = d.open(kind, &m) // never fails
		for at := 0; ; at++ {
			i := nextMagic(head[at:], memberBegins[kind].magic, 0)
			if i < 0 {
				break
			}
			if at += i; s.startsIn(m, head[at:]) {
				return kind
			}
		}
	}
	return ""
}

// startsIn reports whether stored may begin a member with a record.
func (s *Sections) startsIn(m members, stored []byte) bool {
	m.r = bufio.NewReader(bytes.NewReader(stored))
	if m.next() != nil {
		return false
	}
	head := make([]byte, RecognizedBy)
	n, _ := io.ReadFull(m.open, head)
	return s.starts(head[:n])
}

// history is a reader that can go back to a marked offset, or to the oldest byte kept after it.
type history struct {
	r     io.Reader
	kept  []byte
	base  int64 // offset of kept
	pos   int   // index in kept of the next byte; at its end, r continues
	from  int64 // marked offset
	gone  int64 // total distance gone back
	err   error // of r, except io.EOF
	keeps bool  // it can go back
}

// maxHistory bounds kept, in bytes. A longer damaged member is searched only from there on.
const maxHistory = 4 << 20

func (h *history) at() int64 { return h.base + int64(h.pos) }

// rewind goes back from one offset to another. It limits the total distance in proportion to the
// input, since thousands of crafted members may be nested.
func (h *history) rewind(to, from int64) {
	back := min(from-max(to, h.base), maxHistory+2*from-h.gone)
	h.gone += back
	h.pos = int(from - back - h.base)
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
