// Package journal appends groups of bytes to a file. A group survives a crash once Append has
// returned nil for it. A torn group at the end is recognized and skipped; damage before the end is
// refused. docs/format.md, "Journals", describes the file.
package journal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/step"
)

// A Kind names what the groups of a journal hold.
type Kind struct {
	Magic  string // 16 bytes
	Remedy string // how to go on without a damaged journal, for messages
}

var (
	// ErrDamaged means that a journal is damaged, and not merely cut off at its end.
	ErrDamaged = errors.New("the journal is damaged")
	// ErrVersion means that another version wrote the journal.
	ErrVersion = errors.New("another version of firstseen wrote it")
)

const (
	version    = 2
	prefixSize = 24 // magic, version, length of the description
	mostAbout  = 16 << 20
	sumSize    = 8
	headSize   = 32 // of a group: checksum, number, length and checksum of its body
	mostBody   = 1 << 30
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

// An Encoder makes the parts of a journal in their order, for a file or a connection.
type Encoder struct {
	seed, next uint64 // next is the number of the next group
	head       []byte
}

// NewEncoder returns the header of a journal, which holds about as JSON.
func (k *Kind) NewEncoder(about any) (e *Encoder, header []byte, err error) {
	text, err := json.Marshal(about)
	if err == nil && len(text) > mostAbout {
		err = fmt.Errorf("a description of %d bytes, at most %d fit", len(text), mostAbout)
	}
	le := binary.LittleEndian
	header = le.AppendUint32(le.AppendUint32([]byte(k.Magic), version), uint32(len(text)))
	header = append(header, text...)
	seed := xxh3.Hash(header)
	return &Encoder{seed: seed, next: 1}, le.AppendUint64(header, seed), err
}

// Head returns what precedes the body of the next group. It is valid until the next call.
func (e *Encoder) Head(body []byte) []byte {
	le := binary.LittleEndian
	e.head = le.AppendUint64(append(e.head[:0], make([]byte, 8)...), e.next)
	e.head = le.AppendUint64(le.AppendUint64(e.head, uint64(len(body))), xxh3.HashSeed(body, e.seed))
	le.PutUint64(e.head, xxh3.HashSeed(e.head[8:], e.seed))
	e.next++
	return e.head
}

// A Log is a journal open for appending. It is not safe for concurrent use.
type Log struct {
	*Encoder
	file *os.File
	sync func(*os.File) error
	path string
	size int64
	err  error // of a failed append: anything after it would be lost
}

// Create creates a journal complete with its header, or none. It replaces the content of path.
// The header holds about as JSON.
func (k *Kind) Create(path string, about any) (*Log, error) {
	encoder, header, err := k.NewEncoder(about)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	err = durable.Replace(path, func(f *os.File) error {
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
	return &Log{Encoder: encoder, file: f, sync: (*os.File).Sync, path: path, size: int64(len(header))}, nil
}

// Append appends a group of 1 byte to 1 GiB and brings it to disk. After an error the journal
// accepts no more, because groups after a torn one are never read.
func (l *Log) Append(body []byte) error {
	if l.err != nil {
		return l.err
	}
	if len(body) == 0 || len(body) > mostBody {
		return fmt.Errorf("appending to %s: a group of %d bytes, want 1 to %d", l.path, len(body), mostBody)
	}
	head := l.Head(body)
	if err := l.write(head, body); err != nil {
		l.err = fmt.Errorf("appending to %s: %w", l.path, err)
		return l.err
	}
	l.size += int64(len(head) + len(body))
	return nil
}

func (l *Log) write(parts ...[]byte) error {
	for _, b := range parts {
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

// Served is the journal of a server: the answers since the last checkpoint of its index. Its groups
// hold entries.
var Served = Kind{
	Magic:  "firstseen.served",
	Remedy: "remove this file and run firstseen index abandon: then the documents answered since the last checkpoint are kept again",
}

// The kinds of entries; docs/format.md, "A server's journal" and "A log".
const (
	Seen      = 1 // a document was decided
	Forgotten = 2 // the documents of an id were taken back
	Cancelled = 3 // a batch was taken back
	Settings  = 4 // of a log: its rules from here on
	Sketched  = 5 // of a log: a document to decide by its features
)

// lastKind bounds the kinds that later versions may define.
const lastKind = 31

const entryHead = 32

// Entry is a step to apply to an index.
type Entry struct {
	Kind        byte
	Exact       bool   // of a document: only the same text is a copy
	Time        int64  // of arrival, ns since 1970
	Batch, ID   string // the batch to cancel is in ID
	Added, Text []byte // settings and features are in Text
}

// Append appends the encoded entry to b.
func (e *Entry) Append(b []byte) []byte {
	le := binary.LittleEndian
	exact := byte(0)
	if e.Exact {
		exact = 1
	}
	b = append(b, e.Kind, exact, 0, 0)
	b = le.AppendUint32(b, uint32(len(e.Batch)))
	b = le.AppendUint64(b, uint64(e.Time))
	b = le.AppendUint32(b, uint32(len(e.ID)))
	b = le.AppendUint32(b, uint32(len(e.Added)))
	b = le.AppendUint64(b, uint64(len(e.Text)))
	b = append(append(b, e.Batch...), e.ID...)
	return append(append(b, e.Added...), e.Text...)
}

var errEntry = damage("an entry is malformed")

// CutEntry reads the entry at the beginning of b. Added and Text share its bytes. It returns
// ErrVersion, and the rest, for an entry that only a later version can have written.
func CutEntry(b []byte) (e Entry, rest []byte, err error) {
	le := binary.LittleEndian
	if len(b) < entryHead || b[0] == 0 || b[0] > lastKind {
		return e, nil, errEntry
	}
	lengths := [4]uint64{uint64(le.Uint32(b[4:])), uint64(le.Uint32(b[16:])), uint64(le.Uint32(b[20:])), le.Uint64(b[24:])}
	rest = b[entryHead:]
	var parts [4][]byte
	for i, n := range lengths {
		if n > uint64(len(rest)) {
			return e, nil, errEntry
		}
		parts[i], rest = rest[:n:n], rest[n:]
	}
	if b[0] > Sketched || b[1] > 1 || b[2]|b[3] != 0 {
		return e, rest, fmt.Errorf("%w: an entry of kind %d", ErrVersion, b[0])
	}
	e.Kind, e.Exact, e.Time = b[0], b[1] == 1, int64(le.Uint64(b[8:]))
	e.Batch, e.ID, e.Added, e.Text = string(parts[0]), string(parts[1]), parts[2], parts[3]
	return e, rest, nil
}
