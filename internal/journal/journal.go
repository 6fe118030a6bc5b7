// Package journal appends groups of bytes to a file. A group survives a crash once Append has
// returned nil for it. A torn group at the end is recognized and skipped; damage before the end is
// refused. docs/format.md has both kinds: a server's journal, here, and a filter's, in filterlog.
package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/durable"
	"github.com/firstseen/firstseen/internal/step"
)

// A Kind is a journal format. A header begins with 16 bytes of magic, the version, and a number
// that gives its length. It ends with its checksum. The head of a group has its checksum, the
// group's number, the owner's fields, the body's length, and the body's checksum.
type Kind struct {
	Magic   string
	Version uint32

	// The length of a header is HeaderBase plus the number in it, from HeaderLeast to HeaderMost.
	HeaderBase, HeaderLeast, HeaderMost int64
	// Seed returns the seed of a journal's checksums, so that none is valid in another journal.
	Seed func(header []byte) uint64
	// Whole, if not nil, reports whether the parts of a header are consistent.
	Whole func(header []byte) bool

	Fields      int    // bytes of the owner's fields
	Wide        bool   // length and checksum of a body have 64 bits, not 32
	Unit        int    // bytes that the length counts; headers and bodies are multiples of it
	Least, Most uint64 // length of a body
	Remedy      string // how to go on without a damaged journal, for messages
}

var (
	// ErrDamaged means that a journal is damaged, and not merely cut off at its end.
	ErrDamaged = errors.New("the journal is damaged")
	// ErrVersion means that a later version wrote the journal.
	ErrVersion = errors.New("another version of firstseen wrote it")
)

// Name returns the file name of a journal of a generation.
func Name(prefix string, generation uint64) string {
	return fmt.Sprintf("%s.%d.log", prefix, generation)
}

// Generations returns the generations of the journals in dir, ascending.
func Generations(dir, prefix string) (generations []uint64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		number, _ := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".log"), prefix+".")
		if n, bad := strconv.ParseUint(number, 10, 64); bad == nil && e.Name() == Name(prefix, n) {
			generations = append(generations, n)
		}
	}
	slices.Sort(generations)
	return generations, err
}

const (
	prefixSize = 24 // magic, version, number
	sumSize    = 8
	fieldsAt   = 16 // in the head of a group
)

// NewHeader begins a header with the number that gives its length.
func (k *Kind) NewHeader(number int) []byte {
	b := append([]byte(k.Magic), make([]byte, prefixSize-len(k.Magic))...)
	binary.LittleEndian.PutUint32(b[16:], k.Version)
	binary.LittleEndian.PutUint32(b[20:], uint32(number))
	return b
}

// Seal appends the checksum that ends a header.
func Seal(header []byte) []byte {
	return binary.LittleEndian.AppendUint64(header, xxh3.Hash(header))
}

// head returns the length of the head of a group.
func (k *Kind) head() int {
	if k.Wide {
		return fieldsAt + k.Fields + 16
	}
	return fieldsAt + k.Fields + 8
}

// A Log is a journal open for appending. It is not safe for concurrent use.
type Log struct {
	kind *Kind
	file *os.File
	sync func(*os.File) error
	path string
	seed uint64
	next uint64 // number of the next group
	size int64
	head []byte
	err  error // of a failed append: anything after it would be lost
}

// Create creates a journal complete with its header, or none. It replaces the content of path.
func (k *Kind) Create(path string, header []byte) (*Log, error) {
	if int64(len(header)) > k.HeaderMost {
		return nil, fmt.Errorf("creating %s: a header of %d bytes, at most %d fit", path, len(header), k.HeaderMost)
	}
	err := durable.Replace(path, func(f *os.File) error {
		_, err := f.Write(header)
		return err
	})
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	return &Log{kind: k, file: f, sync: (*os.File).Sync, path: path, seed: k.Seed(header), next: 1, size: int64(len(header))}, nil
}

// Append appends a group and brings it to disk. After an error the journal accepts no more, because
// groups after a torn one are never read.
func (l *Log) Append(fields, body []byte) error {
	if l.err != nil {
		return l.err
	}
	k, le := l.kind, binary.LittleEndian
	n := uint64(len(body) / k.Unit)
	if n < k.Least || n > k.Most {
		return fmt.Errorf("appending to %s: a group of %d bytes, want %d to %d", l.path, len(body), k.Least*uint64(k.Unit), k.Most*uint64(k.Unit))
	}
	l.head = append(append(l.head[:0], make([]byte, fieldsAt)...), fields...)
	sum := xxh3.HashSeed(body, l.seed)
	if k.Wide {
		l.head = le.AppendUint64(le.AppendUint64(l.head, n), sum)
	} else {
		l.head = le.AppendUint32(le.AppendUint32(l.head, uint32(n)), uint32(sum))
	}
	le.PutUint64(l.head[8:], l.next)
	le.PutUint64(l.head, xxh3.HashSeed(l.head[8:], l.seed))
	if err := l.write(body); err != nil {
		l.err = fmt.Errorf("appending to %s: %w", l.path, err)
		return l.err
	}
	l.next++
	l.size += int64(len(l.head) + len(body))
	return nil
}

func (l *Log) write(body []byte) error {
	for _, b := range [][]byte{l.head, body} {
		if _, err := l.file.Write(b); err != nil {
			return err
		}
	}
	if err := step.Done("wrote the journal"); err != nil {
		return err
	}
	return l.sync(l.file)
}

// Size returns the length of the file in bytes.
func (l *Log) Size() int64 { return l.size }

// Close closes the file. The appended groups are on the disk already.
func (l *Log) Close() error { return l.file.Close() }
