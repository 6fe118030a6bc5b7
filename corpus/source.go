package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// SourceConfig sets how inputs are cut into chunks. Its zero value is good.
type SourceConfig struct {
	ChunkSize int       // bytes of a chunk, 0 means 1 MiB; a longer line makes a longer chunk
	MaxLine   int       // longest line in bytes, at least 16, 0 means 1 GiB; a longer one becomes a bad record
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
	Reject string // if not empty, every line in Data is bad for this reason

	buf []byte // Data and the beginning of the next chunk
	ids []byte // ids that are not in Data as they are, see Parser.Parse
}

// Source reads inputs one after the other. It is for one goroutine.
type Source struct {
	inputs []Input
	cfg    SourceConfig
	limit  int // bytes looked at before a line is too long: MaxLine and its '\n'

	index  int           // of the next input to open
	in     io.ReadCloser // nil between inputs
	dec    decoders
	name   string
	reject string
	live   bool  // the input is a pipe: what came is handed out at once
	line   int64 // number of the next line
	offset int64 // decoded bytes handed out
	read   int64
	carry  []byte // bytes read and not handed out yet, less than a chunk
	eof    bool   // the input has nothing left beyond carry
	broken error  // the input cannot be read further
	err    error  // what Next returns from now on
	skip   skipped
}

const (
	defaultChunk   = 1 << 20
	defaultMaxLine = 1 << 30
	overlongHead   = 4096 // bytes kept of a line that is too long

	// growth is the factor of a buffer for a long line. For one of 234 MB, 4
	// takes 0.35 s of CPU time and 317 MiB, 2 takes 0.7 to 1.6 s and 488 MiB,
	// much of it in page faults.
	growth = 4
)

// NewSource returns a source over the inputs. Files are opened when their turn
// comes, one at a time.
func NewSource(inputs []Input, cfg SourceConfig) *Source {
	if cfg.MaxLine <= 0 {
		cfg.MaxLine = defaultMaxLine
	}
	cfg.MaxLine = max(cfg.MaxLine, 16) // room for a byte order mark
	if cfg.ChunkSize <= 0 {
		cfg.ChunkSize = defaultChunk
	}
	if cfg.Stdin == nil {
		cfg.Stdin = os.Stdin
	}
	limit := cfg.MaxLine + 1
	// A buffer of at most limit bytes cannot hold a line that is too long
	// together with its end, so such a line is noticed at any chunk size.
	cfg.ChunkSize = min(cfg.ChunkSize, limit)
	s := &Source{inputs: inputs, cfg: cfg, limit: limit}
	s.index = min(max(cfg.SkipInputs, 0), len(inputs))
	for _, in := range inputs[:s.index] {
		s.read += max(in.Size, 0)
	}
	return s
}

// Next fills c with the next lines and returns nil, or io.EOF when all inputs
// are read, or an error naming the input that could not be read. Lines that
// were complete before an error are handed out first. What c held before is
// overwritten, and its records with it. A read that blocks is not interrupted
// by ctx; between reads it is honoured.
func (s *Source) Next(ctx context.Context, c *Chunk) error {
	for s.err == nil {
		if s.in == nil {
			s.err = s.open(ctx)
			continue
		}
		if err := s.fill(ctx, c); err != nil {
			s.err = err
		}
		done := s.eof && len(s.carry) == 0
		if done || s.err != nil {
			s.err = s.closeInput(s.err)
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
	stream, err := s.dec.openInput(in, s.cfg.Stdin, &s.read)
	if err != nil {
		return err
	}
	s.in, s.name, s.index = stream, in.Name, s.index+1
	s.line, s.offset, s.reject, s.eof = 1, 0, "", false
	s.live = in.Size < 0
	// An error here is met again by fill, after what was read before it.
	s.carry, _ = s.readTo(ctx, s.carry[:0], 3)
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
	if s.live && bytes.IndexByte(buf, '\n') >= 0 {
		return buf, s.broken // a first line of two bytes: open has read it
	}
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
	if cap(c.buf) > 4*s.cfg.ChunkSize {
		c.buf = nil // one long line must not hold its memory for ever
	}
	c.Data = nil
	buf, err := append(c.buf[:0], s.carry...), error(nil)
	for want, searched := s.cfg.ChunkSize, 0; ; want = min(growth*want, s.limit) {
		buf, err = s.readTo(ctx, buf, want)
		c.buf = buf
		if i := bytes.LastIndexByte(buf[searched:], '\n'); i >= 0 {
			s.emit(c, buf[:searched+i+1], searched+i+1)
			s.carry = append(s.carry[:0], buf[searched+i+1:]...)
			return err
		}
		searched = len(buf)
		switch {
		case err != nil:
			return err
		case searched == s.limit:
			return s.overlong(ctx, c)
		case s.eof:
			s.carry = s.carry[:0]
			s.emit(c, buf, len(buf))
			return nil
		}
	}
}

// emit describes data, of which size bytes of the input are used up, in c.
func (s *Source) emit(c *Chunk, data []byte, size int) {
	c.Data, c.Reject = data, s.reject
	c.Input, c.File, c.Line, c.Read = s.index-1, s.name, s.line, s.read
	c.Offset, c.End = s.offset, s.offset+int64(size)
	s.offset = c.End
	s.line += int64(bytes.Count(data, []byte("\n")))
}

// overlong reads over a line whose first s.limit bytes are in c.buf, keeping
// only its head, and hands it out as a chunk of its own.
func (s *Source) overlong(ctx context.Context, c *Chunk) error {
	head := append([]byte(nil), c.buf[:min(len(c.buf), overlongHead)]...)
	size, buf := len(c.buf), c.buf[:0]
	var err error
	for {
		buf, err = s.readTo(ctx, buf[:0], s.cfg.ChunkSize)
		if i := bytes.IndexByte(buf, '\n'); i >= 0 {
			s.carry = append(s.carry[:0], buf[i+1:]...)
			size += i + 1
			break
		}
		size += len(buf)
		if err != nil || s.eof {
			s.carry = s.carry[:0]
			break
		}
	}
	s.emit(c, head, size)
	s.line++
	c.Reject = fmt.Sprintf("the line is longer than the limit of %d bytes", s.cfg.MaxLine)
	return err
}
