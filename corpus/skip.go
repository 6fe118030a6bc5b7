package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"

	"github.com/zeebo/xxh3"
)

// ErrChanged is returned for an input that is not the one that was read before.
var ErrChanged = errors.New("the input was changed")

// LineSum is the checksum of a record's line.
func LineSum(raw []byte) uint64 { return xxh3.Hash(raw) }

// AddLine adds a line to the checksum of the lines before it, whose order it
// holds fast. The sum of no line is 0.
func AddLine(sum, line uint64) uint64 {
	return (bits.RotateLeft64(sum*0x9e3779b97f4a7c15, 29) + line) | 1
}

// skipped are the lines passed over so far.
type skipped struct {
	sum  uint64
	over bool
}

// pass takes the lines up to SkipLines away from the chunk. ended says that the
// input has no more.
func (s *skipped) pass(c *Chunk, cfg *SourceConfig, ended bool) error {
	for len(c.Data) > 0 && c.Line <= cfg.SkipLines {
		raw, rest, whole := bytes.Cut(c.Data, newline)
		if !blank(raw, c.Reject) {
			s.sum = AddLine(s.sum, LineSum(raw))
		}
		c.Data = rest
		if !whole {
			c.Lines = 0
		}
		if whole { // else the end of the input, or a line that is too long
			c.Line++
			c.Lines--
			c.Offset += int64(len(raw) + 1)
		}
	}
	s.over = ended || len(c.Data) > 0
	if s.over && cfg.SkipSum != 0 && s.sum != cfg.SkipSum {
		c.Data = nil
		return fmt.Errorf("%w: its first %d lines are not those that were read before", ErrChanged, cfg.SkipLines)
	}
	return nil
}

// Fingerprint tells files apart by the XXH3 of their size and their first and
// last 64 KiB, as stored. It reads no more than that.
func Fingerprint(path string) (sum uint64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	h := xxh3.New()
	_, _ = fmt.Fprintln(h, info.Size()) // never fails
	last := max(min(info.Size(), tailSize), info.Size()-tailSize)
	for _, part := range []io.Reader{io.NewSectionReader(f, 0, tailSize), io.NewSectionReader(f, last, tailSize)} {
		if _, err := io.Copy(h, part); err != nil {
			return 0, err
		}
	}
	return h.Sum64(), nil
}
