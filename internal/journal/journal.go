// Package journal is a log of groups of bytes: the answers of a server since the last checkpoint of
// its index. A group survives a crash once Append has returned nil for it. A torn group at the end is
// recognised and passed over, damage before the end is refused. docs/format.md has the format.
package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/durable"
	"github.com/firstseen/firstseen/internal/step"
)

// Header is the description at the head of a journal.
type Header struct {
	Generation uint64   // the number of the journal
	Owner      [16]byte // the uuid of the side table that it belongs to
	Settings   string   // by which its documents were decided
}

var (
	// ErrDamaged means that the journal is not as it was written, and not merely cut at its end.
	ErrDamaged = errors.New("the journal is damaged")
	// ErrVersion means that a later version has written it.
	ErrVersion = errors.New("the journal is of another version")
)

const (
	magic       = "firstseen.served"
	version     = 1
	fixedSize   = 56 // header before the settings
	maxSettings = 1 << 16
	sumSize     = 8
	groupHead   = 32

	// MaxGroup is how many bytes a group may have.
	MaxGroup = 1 << 30
)

func (h *Header) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, fixedSize, fixedSize+len(h.Settings)+sumSize)
	copy(b, magic)
	le.PutUint32(b[16:], version)
	le.PutUint32(b[20:], uint32(len(h.Settings)))
	le.PutUint64(b[24:], h.Generation)
	copy(b[32:], h.Owner[:])
	b = append(b, h.Settings...)
	return le.AppendUint64(b, xxh3.Hash(b))
}

// A Log is open for appending. It is for one goroutine.
type Log struct {
	file *os.File
	path string
	seed uint64 // the checksum of the header: groups of one journal are worthless in another
	next uint64 // number of the next group
	size int64
	head [groupHead]byte
	err  error // of a failed append: anything after it would be lost
}

// Create makes a journal complete with its header, or none at all. It replaces the content of path.
func Create(path string, h Header) (*Log, error) {
	if len(h.Settings) > maxSettings {
		return nil, fmt.Errorf("creating %s: settings of %d bytes, at most %d fit", path, len(h.Settings), maxSettings)
	}
	head := h.encode()
	err := durable.Replace(path, func(f *os.File) error {
		_, err := f.Write(head)
		return err
	})
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	return &Log{file: f, path: path, seed: seedOf(head), next: 1, size: int64(len(head))}, nil
}

// seedOf is the checksum at the end of a header.
func seedOf(head []byte) uint64 { return binary.LittleEndian.Uint64(head[len(head)-sumSize:]) }

// Append adds a group, 1 to MaxGroup bytes, and brings it to the disk. After an error the journal
// takes no more, because nothing behind a torn group is read.
func (l *Log) Append(group []byte) error {
	if l.err != nil {
		return l.err
	}
	if len(group) == 0 || len(group) > MaxGroup {
		return fmt.Errorf("appending to %s: a group of %d bytes, want 1 to %d", l.path, len(group), MaxGroup)
	}
	le := binary.LittleEndian
	le.PutUint64(l.head[8:], l.next)
	le.PutUint64(l.head[16:], uint64(len(group)))
	le.PutUint64(l.head[24:], xxh3.HashSeed(group, l.seed))
	le.PutUint64(l.head[:], xxh3.HashSeed(l.head[8:], l.seed))
	if err := l.append(group); err != nil {
		l.err = fmt.Errorf("appending to %s: %w", l.path, err)
		return l.err
	}
	l.next++
	l.size += groupHead + int64(len(group))
	return nil
}

func (l *Log) append(group []byte) error {
	if _, err := l.file.Write(l.head[:]); err != nil {
		return err
	}
	if _, err := l.file.Write(group); err != nil {
		return err
	}
	if err := step.Done("wrote the journal"); err != nil {
		return err
	}
	return syncData(l.file)
}

// Size is the length of the file in bytes.
func (l *Log) Size() int64 { return l.size }

// Close closes the file. The appended groups are on the disk already.
func (l *Log) Close() error { return l.file.Close() }

// Read gives the groups of a journal to each, in order; a group is valid until it returns. torn is how
// many bytes at the end are no whole group. No group is lost with them for which Append has returned
// nil. An error of each is returned as it is. Others wrap ErrDamaged or ErrVersion, or come from
// reading the file.
func Read(path string, each func(group []byte) error) (h Header, torn int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return h, 0, err
	}
	defer f.Close() // only read from
	info, err := f.Stat()
	if err != nil {
		return h, 0, err
	}
	in := reader{r: f, size: info.Size()}
	h, err = in.header()
	if err == nil && each != nil {
		torn, err = in.groups(each)
	}
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrVersion) {
		err = fmt.Errorf("reading %s: %w; put the index back from a copy, or remove this file: then the documents answered since the last checkpoint are kept again", path, err)
	}
	return h, torn, err
}

func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

type reader struct {
	r    io.ReaderAt
	size int64
	at   int64
	seed uint64
	buf  []byte
}

// header checks everything before it allocates memory.
func (in *reader) header() (h Header, err error) {
	var b [fixedSize]byte
	le := binary.LittleEndian
	if in.size < fixedSize {
		return h, damage("it is cut short")
	}
	if _, err := in.r.ReadAt(b[:], 0); err != nil {
		return h, err
	}
	if string(b[:16]) != magic {
		return h, damage("it does not begin like a journal")
	}
	if v := le.Uint32(b[16:]); v != version {
		return h, fmt.Errorf("%w: version %d, known is %d", ErrVersion, v, version)
	}
	n := int64(le.Uint32(b[20:]))
	if n > maxSettings || fixedSize+n+sumSize > in.size {
		return h, damage("a header with settings of %d bytes cannot be", n)
	}
	head := make([]byte, fixedSize+n+sumSize)
	if _, err := in.r.ReadAt(head, 0); err != nil {
		return h, err
	}
	h = Header{Generation: le.Uint64(head[24:]), Settings: string(head[fixedSize : fixedSize+n])}
	copy(h.Owner[:], head[32:])
	if string(h.encode()) != string(head) {
		return h, damage("the header does not match its checksum")
	}
	in.at, in.seed = int64(len(head)), seedOf(head)
	return h, nil
}

func (in *reader) groups(each func([]byte) error) (torn int64, err error) {
	for number := uint64(1); in.at < in.size; number++ {
		group, err := in.group(number)
		if err != nil {
			return 0, err
		}
		if group == nil {
			return in.size - in.at, in.onlyTorn(number)
		}
		if err := each(group); err != nil {
			return 0, err
		}
		in.at += groupHead + int64(len(group))
	}
	return 0, nil
}

// group reads the group at in.at. It is nil if anything differs from the form that Append writes.
func (in *reader) group(number uint64) ([]byte, error) {
	var head [groupHead]byte
	if in.size-in.at < groupHead {
		return nil, nil
	}
	if _, err := in.r.ReadAt(head[:], in.at); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	n := le.Uint64(head[16:])
	if !in.isHead(head[:]) || le.Uint64(head[8:]) != number || n == 0 || n > MaxGroup || int64(n) > in.size-in.at-groupHead {
		return nil, nil
	}
	if uint64(cap(in.buf)) < n {
		in.buf = make([]byte, n)
	}
	group := in.buf[:n]
	if _, err := in.r.ReadAt(group, in.at+groupHead); err != nil {
		return nil, err
	}
	if xxh3.HashSeed(group, in.seed) != le.Uint64(head[24:]) {
		return nil, nil
	}
	return group, nil
}

func (in *reader) isHead(b []byte) bool {
	return binary.LittleEndian.Uint64(b) == xxh3.HashSeed(b[8:groupHead], in.seed)
}

// onlyTorn checks that no later group follows an incomplete one. A group is written when the one
// before is on the disk. So a crash leaves nothing behind the group it has torn.
func (in *reader) onlyTorn(number uint64) error {
	const window = 1 << 20
	buf := make([]byte, window+groupHead)
	for at := in.at + 1; at+groupHead <= in.size; at += window {
		b := buf[:min(int64(len(buf)), in.size-at)]
		if _, err := in.r.ReadAt(b, at); err != nil {
			return err
		}
		for i := 0; i < window && i+groupHead <= len(b); i++ {
			// Almost no text has a small number there, so few heads are hashed.
			if n := binary.LittleEndian.Uint64(b[i+8:]); n > number && n < 1<<40 && in.isHead(b[i:i+groupHead]) {
				return damage("group %d is not as it was written, and there are later ones", number)
			}
		}
	}
	return nil
}
