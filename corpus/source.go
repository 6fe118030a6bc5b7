package corpus

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// SourceConfig sets how inputs are read and cut into chunks. Its zero value is
// good.
type SourceConfig struct {
	ChunkSize int       // most bytes of a chunk, 0 means 1 MiB; a longer line is a chunk of its own
	MaxLine   int       // longest line in bytes, at least 16, 0 means 64 MiB; a longer one becomes a bad record
	MaxWindow int64     // largest window of a zstd frame in bytes, 0 means 128 MiB; the decoder takes as much memory
	MaxRatio  int       // decoded bytes for each stored one, 0 means 1000, negative any number; see DefaultMaxRatio
	Stdin     io.Reader // what "-" reads, nil means os.Stdin

	// Reading goes on where an earlier run ended: inputs passed over without
	// being opened, and lines of the input after them that are read and not
	// handed out. Numbers of lines and inputs stay what they are.
	SkipInputs int
	SkipLines  int64
	SkipSum    uint64 // AddLine over the records passed over, 0: not checked
}

// Chunk is a piece of one input: whole lines, in the order of the input. Its
// zero value is ready for [Source.Next], and a chunk should be used again, for
// its buffers.
type Chunk struct {
	Input  int    // index into the inputs
	File   string // name of the input, for records and messages
	Line   int64  // number of the first line, from 1
	Offset int64  // where Data begins in the decoded input, in bytes
	End    int64  // where the next chunk begins in the decoded input
	Read   int64  // stored bytes of all inputs read so far, for progress
	Data   []byte // the lines; only the last one of an input may lack its '\n'
	Lines  int    // how many there are in Data, white lines too
	Reject string // if not empty, every line in Data is bad for this reason

	buf  []byte   // Data and the beginning of the next chunk
	line block    // Data where it is one long line
	text [2]block // of the long line, see Parser.readText
	ids  []byte   // ids that are not in Data as they are, see Parser.Parse
}

// Long tells whether the chunk is one line longer than ChunkSize. The text that
// [Parser.Parse] finds in it stays valid
// as long as the chunk is not filled again.
func (c *Chunk) Long() bool { return c.line.mem != nil }

// Release gives back the memory of a long line, which is none of the Go heap;
// Data and the records are gone then. [Source.Next] does so too.
func (c *Chunk) Release() {
	if c.Long() {
		c.Data = nil
	}
	c.line.free()
	c.text[0].free()
	c.text[1].free()
}

// Source reads inputs one after the other. It is for one goroutine.
type Source struct {
	inputs []Input
	cfg    SourceConfig
	limit  int // bytes looked at before a line is too long: MaxLine and its '\n'
	want   int // bytes to gather for the next chunk, up to ChunkSize
	room   func(ctx context.Context, n int) error

	index  int           // of the next input to open
	in     io.ReadCloser // nil between inputs
	dec    decoders
	name   string
	reject string
	live   bool  // the input is a pipe: what came is handed out at once
	line   int64 // number of the next line
	lines  int   // most lines of a chunk
	offset int64 // decoded bytes handed out
	read   int64
	began  int64  // value of read at the start of the input
	size   int64  // stored bytes the input had when it was listed, or -1
	carry  []byte // bytes read and not handed out yet, at most a chunk
	back   []byte // the memory of carry
	eof    bool   // the input has nothing left beyond carry
	broken error  // the input cannot be read further
	err    error  // what Next returns from now on
	skip   skipped
}

const (
	defaultChunk   = 1 << 20
	defaultMaxLine = DefaultMaxRecord
	overlongHead   = 4096 // bytes kept of a line that is too long

	// lineCost is about what a reader holds for each line beside its bytes.
	// Chunks of tiny lines end early, so that all of a chunk takes at most
	// twice its size.
	lineCost = 256

	// growth is the factor of the memory for a long line. Of what is asked
	// for only what is touched is taken, so it costs a quarter of the line
	// while this is copied.
	growth = 4
)

// Limits of inputs unless a SourceConfig says otherwise.
const (
	DefaultMaxRecord = 64 << 20  // bytes of a line
	DefaultMaxWindow = 128 << 20 // of zstd: that of the zstd tool itself

	// DefaultMaxRatio bounds what a small file can cost: no honest corpus of
	// a GiB and more (below, the ratio is not looked at) is made of lines that
	// repeat each other a thousand times.
	DefaultMaxRatio = 1000
)

// NewSource returns a source over the inputs. Files are opened when their turn
// comes, one at a time.
func NewSource(inputs []Input, cfg SourceConfig) *Source {
	if cfg.MaxLine <= 0 {
		cfg.MaxLine = defaultMaxLine
	}
	cfg.MaxLine = max(cfg.MaxLine, 16) // room for a byte order mark
	if cfg.MaxWindow <= 0 {
		cfg.MaxWindow = DefaultMaxWindow
	}
	if cfg.MaxRatio == 0 {
		cfg.MaxRatio = DefaultMaxRatio
	}
	if cfg.Stdin == nil {
		cfg.Stdin = os.Stdin
	}
	s := &Source{inputs: inputs, cfg: cfg, limit: cfg.MaxLine + 1}
	s.dec = decoders{maxWindow: cfg.MaxWindow, maxRatio: cfg.MaxRatio}
	s.Bound(cfg.ChunkSize, nil)
	s.index = min(max(cfg.SkipInputs, 0), len(inputs))
	for _, in := range inputs[:s.index] {
		s.read += max(in.Size, 0)
	}
	return s
}

// Bound has the source keep to the memory of a pipeline, before the first call
// of Next: chunks have at most chunkSize bytes, 0 meaning 1 MiB, and room, unless
// it is nil, is called before a longer line takes n bytes. It may wait until
// others have given back theirs; its error ends the reading.
func (s *Source) Bound(chunkSize int, room func(ctx context.Context, n int) error) {
	if chunkSize <= 0 {
		chunkSize = defaultChunk
	}
	// A buffer of at most limit bytes cannot hold a line that is too long
	// together with its end, so such a line is noticed at any chunk size.
	s.cfg.ChunkSize = min(chunkSize, s.limit)
	s.want, s.room = s.cfg.ChunkSize, room
}

// Next fills c with the next lines and returns nil, or io.EOF when all inputs
// are read, or an error naming the input that could not be read. Lines that
// were complete before an error are handed out first. What c held before is
// overwritten, and its records with it. A read that blocks is not interrupted
// by ctx; between reads it is honoured.
func (s *Source) Next(ctx context.Context, c *Chunk) error {
	c.Release()
	for s.err == nil {
		if s.in == nil {
			s.err = s.open(ctx)
			continue
		}
		if err := s.fill(ctx, c); err != nil {
			s.err = err
		}
		if s.eof && len(s.carry) == 0 || s.err != nil {
			s.err = s.closeInput(cmp.Or(s.err, s.checkSize()))
		}
		if s.index-1 == s.cfg.SkipInputs && !s.skip.over {
			if err := s.skip.pass(c, &s.cfg, s.in == nil); err != nil {
				return s.stop(fmt.Errorf("reading %s: %w", s.name, err))
			}
		}
		if len(c.Data) > 0 {
			return nil
		}
	}
	return s.err
}

// stop ends reading with an error.
func (s *Source) stop(err error) error {
	s.err = errors.Join(err, s.closeInput(nil))
	return s.err
}

// Close releases what reading holds. It is needed only when reading ends before
// io.EOF.
func (s *Source) Close() error {
	err := s.closeInput(nil)
	s.dec.close()
	if s.err == nil {
		s.err = fmt.Errorf("reading inputs: %w", os.ErrClosed)
	}
	return err
}

func (s *Source) closeInput(err error) error {
	if s.in == nil {
		return err
	}
	closeErr := s.in.Close()
	s.in = nil
	if err == nil && closeErr != nil {
		err = fmt.Errorf("closing %s: %w", s.name, closeErr)
	}
	return err
}

func (s *Source) open(ctx context.Context) error {
	if s.index == len(s.inputs) {
		s.dec.close()
		return io.EOF
	}
	in := s.inputs[s.index]
	s.began = s.read
	stream, err := s.dec.openInput(in, s.cfg.Stdin, &s.read)
	if err != nil {
		return err
	}
	s.in, s.name, s.index = stream, in.Name, s.index+1
	s.line, s.offset, s.reject, s.eof = 1, 0, "", false
	s.live, s.size = in.Size < 0, in.Size
	if in.Path == Stdin {
		s.size = -1 // it may have been read in part
	}
	s.lines = max(s.cfg.ChunkSize/(lineCost+len(s.name)), 1)
	// An error here is met again by fill, after what was read before it.
	s.back, _ = s.readTo(ctx, s.back[:0], 3)
	s.carry = s.back
	if bytes.HasPrefix(s.carry, []byte("\xef\xbb\xbf")) {
		s.carry, s.offset = s.carry[3:], 3
	}
	if isUTF16(s.carry) {
		s.reject = "the file is UTF-16, not UTF-8: convert it first, for example with iconv -f UTF-16 -t UTF-8"
	}
	return nil
}

// isUTF16 looks for a byte order mark, or an opening brace of two bytes.
func isUTF16(head []byte) bool {
	if len(head) < 2 {
		return false
	}
	switch [2]byte(head) {
	case [2]byte{0xff, 0xfe}, [2]byte{0xfe, 0xff}, [2]byte{'{', 0}, [2]byte{0, '{'}:
		return true
	}
	return false
}

// readTo appends to buf until it holds n bytes, the input ends or, from a pipe, a
// whole line has come.
func (s *Source) readTo(ctx context.Context, buf []byte, n int) ([]byte, error) {
	if cap(buf) < n {
		buf = append(make([]byte, 0, n), buf...)
	}
	for idle := 0; len(buf) < n && !s.eof && s.broken == nil; idle++ {
		if err := ctx.Err(); err != nil {
			return buf, err
		}
		got, err := s.in.Read(buf[len(buf):n])
		buf = buf[:len(buf)+got]
		switch {
		case err == io.EOF:
			s.eof = true
		case err != nil:
			s.broken = readError(s.name, err)
		case s.live && bytes.IndexByte(buf[len(buf)-got:], '\n') >= 0:
			// A crawler that waits for the answer to its document sends
			// no more until it comes.
			return buf, nil
		case got > 0:
			idle = 0
		case idle == 100:
			s.broken = readError(s.name, io.ErrNoProgress)
		}
	}
	return buf, s.broken
}

// fill puts the next whole lines into c.Data, or none at all.
func (s *Source) fill(ctx context.Context, c *Chunk) error {
	c.Data = nil
	for {
		want := s.want
		buf, err := s.gather(ctx, c.buf[:0], want)
		c.buf = buf
		if end, lines := s.wholeLines(buf); end > 0 {
			s.emit(c, buf[:end], end, lines)
			s.unread(buf[end:])
			return err
		}
		switch {
		case err != nil:
			return err
		case len(buf) == s.limit:
			return s.overlong(ctx, c, buf)
		case s.eof && len(s.carry) == 0:
			s.emit(c, buf, len(buf), 0)
			return nil
		case want == s.cfg.ChunkSize:
			return s.longLine(ctx, c)
		}
		s.unread(buf)
	}
}

// gather appends to buf until it holds n bytes or what readTo stops at: first
// what was put back.
func (s *Source) gather(ctx context.Context, buf []byte, n int) ([]byte, error) {
	if cap(buf) < n {
		buf = append(make([]byte, 0, n), buf...)
	}
	k := min(len(s.carry), n-len(buf))
	kept := s.carry[:k]
	buf, s.carry = append(buf, kept...), s.carry[k:]
	if len(s.carry) > 0 || s.live && bytes.IndexByte(kept, '\n') >= 0 {
		return buf, nil
	}
	return s.readTo(ctx, buf, n)
}

// unread puts the end of what was gathered back.
func (s *Source) unread(rest []byte) {
	if n := len(s.carry); n > 0 { // then all of rest came from before it
		s.carry = s.back[len(s.back)-n-len(rest):]
		return
	}
	s.back = append(s.back[:0], rest...)
	s.carry = s.back
}

// wholeLines returns how many bytes of buf are whole lines, as many of them as a
// chunk may have, and how many these are.
func (s *Source) wholeLines(buf []byte) (end, lines int) {
	end = bytes.LastIndexByte(buf, '\n') + 1
	lines = bytes.Count(buf[:end], newline)
	if lines <= s.lines {
		s.want = min(2*s.want, s.cfg.ChunkSize)
		return end, lines
	}
	end = 0
	for range s.lines {
		end += bytes.IndexByte(buf[end:], '\n') + 1
	}
	s.want = min(max(2*end, 4<<10), s.cfg.ChunkSize)
	return end, s.lines
}

// emit describes data, of which size bytes of the input are used up, in c.
func (s *Source) emit(c *Chunk, data []byte, size, lines int) {
	c.Data, c.Reject, c.Lines = data, s.reject, lines
	if n := len(data); n > 0 && data[n-1] != '\n' {
		c.Lines++
	}
	c.Input, c.File, c.Line, c.Read = s.index-1, s.name, s.line, s.read
	c.Offset, c.End = s.offset, s.offset+int64(size)
	s.offset = c.End
	s.line += int64(lines)
}

// checkSize is called at the end of an input.
func (s *Source) checkSize() error {
	if got := s.read - s.began; s.size >= 0 && got < s.size {
		return fmt.Errorf("reading %s: it became shorter while the run was under way, %d bytes of %d are left: leave inputs alone until it is done",
			s.name, got, s.size)
	}
	return nil
}
