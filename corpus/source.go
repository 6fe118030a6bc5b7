package corpus

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

// SourceConfig sets how inputs are read and cut into blocks. Its zero value is
// good.
type SourceConfig struct {
	compress.Bounds

	BlockSize int // most bytes of a block, 0 means 1 MiB; a longer record is a block of its own
	MaxRecord int // longest record in bytes, but for one byte of its end, at least 16, 0 means 64 MiB; a longer one becomes a bad record
	// Ahead is how many goroutines decode compressed files, and pieces of them, before
	// they are read, at most 8; 0 and 1 have them decoded as they are read. What is
	// read is the same. They take 48 MiB at most. Pipes and standard input are not read
	// ahead, nor are inputs with [Frames].
	Ahead int

	Stdin io.Reader // what "-" reads, nil means os.Stdin

	// Formats are further possible formats of the inputs, recognized by their beginning. All inputs
	// have one format.
	Formats []Format

	// Accept refuses a format by its error, as soon as an input is found to be of it; nil
	// refuses none.
	Accept func(Format) error

	Encoding Encoding // of inputs outside UTF-8; the zero value takes all inputs unchanged

	// These continue an earlier run: inputs passed over without being opened, and records of the
	// next input, up to a place, that are read and not handed out. Places and numbers of inputs do
	// not change.
	SkipInputs int
	SkipTo     Place
	SkipSum    uint64 // AddRecord over the records passed over, 0: not checked

	sizes *compress.AheadSizes // for tests: instead of those that follow from Ahead
}

// Source reads inputs one after the other. It is for one goroutine.
type Source struct {
	inputs []input.Input
	format Format           // of inputs that none of cfg.Formats recognizes, or of all
	chosen Format           // of the inputs that were opened
	vague  bool             // these are blank
	cutter Cutter           // of these, nil for another kind
	framed *framed          // the input, if so
	opened *opened          // the input, if its kind is AtRandom
	window window           // of the input, unless it is opened
	zipped []archive.Member // the members to read, if it is a zip archive
	cfg    SourceConfig
	limit  int // bytes looked at before a record is too long: MaxRecord and a byte of its end
	room   func(ctx context.Context, n int) error

	index   int       // of the next input to open
	in      io.Closer // nil between inputs
	decoded io.Reader // its content, if a Cutter reads it
	dec     compress.Decoders
	ahead   *compress.Ahead // nil unless compressed files are decoded ahead
	name    string
	reject  string
	charset string // that the input is decoded from; "" is none
	live    bool   // the input is a pipe: what came is handed out at once
	next    Place  // of the next record
	most    int    // records of a block
	read    int64
	began   int64 // value of read at the start of the input
	size    int64 // stored bytes the input had when it was listed, or -1
	eof     bool  // all of the input was handed out
	err     error // what Next returns from now on
	skip    skipped
}

const (
	defaultBlock = 1 << 20
	overlongHead = 4096 // bytes kept of an overlong record

	// recordCost is about the memory of a reader for each record beside its bytes. Blocks of tiny
	// records end early, so that all of a block takes at most twice its size.
	recordCost = 256
)

// DefaultMaxRecord is the longest record in bytes, unless a SourceConfig says otherwise.
const DefaultMaxRecord = 64 << 20

// NewSource returns a source over the inputs, which are all of one format. Files
// are opened when their turn comes, one at a time.
func NewSource(inputs []input.Input, format Format, cfg SourceConfig) *Source {
	if cfg.MaxRecord <= 0 {
		cfg.MaxRecord = DefaultMaxRecord
	}
	cfg.MaxRecord = max(cfg.MaxRecord, 16) // room for a byte order mark
	dec := cfg.Decoders()
	cfg.Bounds = dec.Bounds
	if cfg.Stdin == nil {
		cfg.Stdin = os.Stdin
	}
	s := &Source{inputs: inputs, format: format, cutter: format.Cutter(), cfg: cfg, dec: dec, limit: cfg.MaxRecord + 1}
	s.Bound(cfg.BlockSize, nil)
	s.index = min(max(cfg.SkipInputs, 0), len(inputs))
	for _, in := range inputs[:s.index] {
		s.read += max(in.Size, 0)
	}
	return s
}

// Bound has the source keep to the memory of a pipeline, before the first call
// of Next: blocks have at most blockSize bytes, 0 meaning 1 MiB, and room, unless
// it is nil, is called before a longer record takes n bytes. It may wait until
// others have given back theirs; its error ends the reading.
func (s *Source) Bound(blockSize int, room func(ctx context.Context, n int) error) {
	if blockSize <= 0 {
		blockSize = defaultBlock
	}
	if room == nil {
		room = func(context.Context, int) error { return nil }
	}
	// A buffer of at most limit bytes cannot hold an overlong record together with its end, so such
	// a record is noticed at any block size.
	s.cfg.BlockSize = min(blockSize, s.limit)
	s.room = room
}

// Next fills b with the next records and returns nil, or io.EOF when all inputs
// are read, or an error naming the input that could not be read. Records that
// were complete before an error are handed out first. What b held before is
// overwritten, and its documents with it. A read that blocks is not interrupted
// by ctx; between reads it is honoured.
func (s *Source) Next(ctx context.Context, b *Block) error {
	for s.err == nil {
		b.Release() // passed-over records, too
		if s.in == nil {
			s.err = s.open(ctx)
			continue
		}
		if err := s.fill(ctx, b); err != nil {
			s.err = err
		}
		if s.eof || s.err != nil {
			s.err = s.closeInput(cmp.Or(s.err, s.checkSize()))
		}
		if s.index-1 == s.cfg.SkipInputs && !s.skip.over {
			if err := s.skip.pass(b, s, s.in == nil); err != nil {
				s.err = fmt.Errorf("reading %s: %w", s.name, err)
			}
		}
		if b.Records > 0 {
			return nil
		}
	}
	s.err = s.closeInput(s.err)
	s.closeAhead()
	return s.err
}

// Close releases what reading holds. It is needed only when reading ends before
// io.EOF.
func (s *Source) Close() error {
	err := s.closeInput(nil)
	s.closeAhead()
	s.dec.Close()
	if s.err == nil {
		s.err = fmt.Errorf("reading inputs: %w", os.ErrClosed)
	}
	return err
}

func (s *Source) closeInput(err error) error {
	if s.in == nil {
		return err
	}
	if s.framed != nil && s.framed.src != nil {
		s.framed.src.Close()
	}
	s.opened, s.framed = nil, nil
	s.window.free()
	closeErr := s.in.Close()
	s.in = nil
	if err == nil && closeErr != nil {
		err = fmt.Errorf("closing %s: %w", s.name, closeErr)
	}
	return err
}

// fill puts the next whole records into b.Data, or none at all.
func (s *Source) fill(ctx context.Context, b *Block) error {
	b.buf, b.Data, b.Spans, b.Records = b.buf[:0], nil, b.Spans[:0], 0
	switch {
	case s.opened != nil:
		return s.opened.fill(ctx, s, b)
	case s.framed != nil:
		return s.framed.fill(ctx, s, b)
	}
	return s.cut(ctx, b)
}

// emit describes data in b. So many of its records are whole.
func (s *Source) emit(b *Block, data []byte, whole int) {
	b.Input, b.File, b.First, b.Read = s.index-1, s.name, s.next, s.read
	b.Data, b.Reject, b.Records, b.Format, b.Charset = data, s.reject, whole, s.chosen, s.charset
	if b.stored, b.maxRatio = s.size, s.cfg.MaxRatio; s.size < 0 {
		b.stored = s.read - s.began
	}
	s.next.Record += int64(whole)
	if whole == 0 && len(data) > 0 {
		b.Records = 1
	}
}

// emitSpans describes the records that were found in b, if any.
func (s *Source) emitSpans(b *Block) {
	if len(b.Spans) == 0 {
		return
	}
	if !b.Long() {
		b.Data = b.buf
	}
	s.next = b.Spans[0].At
	s.emit(b, b.Data, len(b.Spans))
}

// checkSize is called at the end of an input.
func (s *Source) checkSize() error {
	if got := s.read - s.began; s.size >= 0 && got < s.size {
		return fmt.Errorf("reading %s: it became shorter while the run was under way, %d bytes of %d are left: leave inputs alone until it is done",
			s.name, got, s.size)
	}
	return nil
}
