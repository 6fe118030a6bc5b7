package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
)

// SourceConfig sets how inputs are read and cut into blocks. Its zero value is ready to use.
type SourceConfig struct {
	compress.Bounds

	BlockSize int // maximum bytes of a block, 0 means 1 MiB; a longer record gets a block to itself
	// MaxRecord is the longest record in bytes, not counting one byte of its end. It is at least
	// 16, and 0 means 64 MiB. A longer record becomes a bad one.
	MaxRecord int
	// Ahead is the number of goroutines that decode compressed files, or pieces of them, ahead of
	// reading, at most 8. 0 and 1 disable this. The result is the same. They use at most 48 MiB.
	// Pipes, standard input and inputs with [Frames] are not read ahead.
	Ahead int

	Stdin io.Reader // what "-" reads, nil means os.Stdin

	// Formats are further formats, recognized by first bytes. All inputs must have one format.
	Formats []Format

	// Accept, unless nil, is called with the format of each input. Its error ends the reading.
	Accept func(Format) error

	Encoding Encoding // for inputs outside UTF-8; the zero value leaves all inputs unchanged

	// The next fields continue an earlier run. SkipInputs inputs are not opened. Records of the
	// next one before SkipTo are read, but not returned. Places and input indexes do not change.
	SkipInputs int
	SkipTo     Place
	SkipSum    uint64 // AddRecord over the skipped records, 0 disables the check

	sizes *compress.AheadSizes // for tests: replaces the sizes derived from Ahead
}

// Source reads inputs one after the other. It must be used by one goroutine only.
type Source struct {
	inputs []input.Input
	format Format           // of all inputs, or of those that none of cfg.Formats recognizes
	chosen Format           // of the inputs opened so far
	vague  bool             // all inputs opened so far are blank, so chosen is not final
	cutter Cutter           // of chosen; nil unless its kind is ByEnds
	framed *framed          // the current input, if its kind is ByFrames
	opened *opened          // the current input, if its kind is AtRandom
	window window           // of the current input, unless its kind is AtRandom
	zipped []archive.Member // members to read, if the input is a zip archive
	cfg    SourceConfig
	limit  int // bytes searched before a record is too long: MaxRecord and one byte of its end
	room   func(ctx context.Context, n int) error

	index   int       // of the next input to open
	in      io.Closer // nil between inputs
	decoded io.Reader // content of in, if a Cutter reads it
	dec     compress.Decoders
	ahead   *compress.Ahead // nil unless compressed files are decoded ahead
	name    string
	reject  string
	charset string // source encoding of the input; "" if it is not decoded
	live    bool   // the input is a pipe: records are handed out as they arrive
	next    Place  // of the next record
	most    int    // maximum number of records in a block
	read    int64
	began   int64  // value of read at the start of the input
	size    int64  // stored bytes of the input when it was listed, or -1
	eof     bool   // the whole input was handed out
	err     error  // returned by all further calls of Next
	skipped uint64 // AddRecord over the records skipped so far
	reached bool   // SkipTo
}

const (
	defaultBlock = 1 << 20
	overlongHead = 4096 // bytes kept of an overlong record

	// recordCost is the approximate memory of a reader for each record, besides its bytes. It ends
	// blocks of tiny records early, so a block takes at most twice its size in total.
	recordCost = 256
)

// DefaultMaxRecord is the default for SourceConfig.MaxRecord.
const DefaultMaxRecord = 64 << 20

// NewSource returns a source over inputs of one format. It opens one file at a time.
func NewSource(inputs []input.Input, format Format, cfg SourceConfig) *Source {
	cfg.MaxRecord = cmp.Or(max(cfg.MaxRecord, 0), DefaultMaxRecord)
	cfg.MaxRecord = max(cfg.MaxRecord, 16) // enough for a byte order mark
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

// Bound limits the source to the memory of a pipeline. It must be called before Next. Blocks have
// at most blockSize bytes; 0 means 1 MiB. If room is not nil, it is called before a longer record
// takes n bytes. It may wait until others release memory; its error ends the reading.
func (s *Source) Bound(blockSize int, room func(ctx context.Context, n int) error) {
	if room == nil {
		room = func(context.Context, int) error { return nil }
	}
	// A buffer of at most limit bytes cannot hold an overlong record with its end. So blocks of any
	// size detect it.
	s.cfg.BlockSize = min(cmp.Or(max(blockSize, 0), defaultBlock), s.limit)
	s.room = room
}

// Next fills b with the next records and overwrites the previous ones, with their documents. It
// returns io.EOF after the last input, or an error that names the unreadable input. Complete
// records before an error come first. Next checks ctx between reads, but does not interrupt a
// blocked read.
func (s *Source) Next(ctx context.Context, b *Block) error {
	for s.err == nil {
		b.Release() // also frees skipped records
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
		if s.index-1 == s.cfg.SkipInputs && !s.reached {
			if err := s.skip(b, s.in == nil); err != nil {
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

// Close releases all resources. It is needed only when reading ends before io.EOF.
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
	b.buf, b.Data, b.Spans, b.Records, b.cutter = b.buf[:0], nil, b.Spans[:0], 0, s.cutter
	switch {
	case s.opened != nil:
		return s.opened.fill(ctx, s, b)
	case s.framed != nil:
		return s.framed.fill(ctx, s, b)
	}
	return s.cut(ctx, b)
}

// emit describes the records found in b.Data or, unless it is set, in b.buf.
func (s *Source) emit(b *Block) {
	if len(b.Spans) == 0 {
		return
	}
	if b.Data == nil {
		b.Data = b.buf
	}
	b.Input, b.File, b.First, b.Read = s.index-1, s.name, b.Spans[0].At, s.read
	b.Reject, b.Records, b.Format, b.Charset = s.reject, len(b.Spans), s.chosen, s.charset
	if b.stored, b.maxRatio = s.size, s.cfg.MaxRatio; s.size < 0 {
		b.stored = s.read - s.began
	}
	s.next = b.Spans[len(b.Spans)-1].At.Next()
}

// checkSize returns an error if the input became shorter since it was listed.
func (s *Source) checkSize() error {
	if got := s.read - s.began; s.size >= 0 && got < s.size {
		return fmt.Errorf("reading %s: it became shorter during the run, %d bytes of %d are left: do not change inputs until the run is done",
			s.name, got, s.size)
	}
	return nil
}

// ErrChanged is returned if an input differs from the one read before.
var ErrChanged = errors.New("the input was changed")

// skip removes the records before SkipTo from the block. ended reports the end of the input.
func (s *Source) skip(b *Block, ended bool) error {
	for len(b.Spans) > 0 && b.Spans[0].At.Compare(s.cfg.SkipTo) < 0 {
		if raw, empty := b.raw(b.Spans[0]); !empty {
			s.skipped = output.AddRecord(s.skipped, output.RecordSum(raw))
		}
		b.Spans = b.Spans[1:]
		b.Records--
	}
	if len(b.Spans) > 0 {
		b.First = b.Spans[0].At
	}
	s.reached = ended || b.Records > 0
	if s.reached && s.cfg.SkipSum != 0 && s.skipped != s.cfg.SkipSum {
		b.Data, b.Records = nil, 0
		return fmt.Errorf("%w: its first %d %ss are not those that were read before", ErrChanged, s.cfg.SkipTo.Record-1, s.chosen.Noun())
	}
	return nil
}
