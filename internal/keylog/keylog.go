// Package keylog is a log of 64-bit keys in groups: those added to a filter after it was saved. A
// group survives a crash once Append has returned nil for it. A torn group at the end is recognised
// and passed over, damage before the end is refused. docs/format.md has the format.
package keylog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/cpu"

	"github.com/firstseen/firstseen/internal/durable"
)

// Token identifies logs, and the filters they belong to.
type Token [16]byte

// Header is the description at the head of a log.
type Header struct {
	Generation uint64 // of the filter; the log holds its later keys
	Token      Token  // of that generation
	Before     Token  // of the generation before; its log precedes this one; zero for none
	Bits       uint64 // shape of the filter
	Hashes     uint32
	Scheme     string // how the keys are made
	Note       []byte // of the owner, not interpreted here
}

// Group is the unit of appending.
type Group struct {
	Documents uint64 // the owner's count
	Time      int64  // Unix seconds
	Keys      []uint64
}

var (
	// ErrDamaged means that the log is not as it was written, and not merely
	// cut at its end.
	ErrDamaged = errors.New("the log is damaged")
	// ErrVersion means that a later version has written it.
	ErrVersion = errors.New("the log is of another version")
)

const (
	magic      = "firstseen.keylog"
	version    = 1
	prefixSize = 24 // magic, version, length of the header
	fixedSize  = 88 // header before scheme and note
	sumSize    = 8
	maxHeader  = 16 << 20
	groupHead  = 40

	// MaxKeys is how many keys a group may have.
	MaxKeys = 1 << 24
)

func (h *Header) encode() []byte {
	le := binary.LittleEndian
	size := (fixedSize + len(h.Scheme) + len(h.Note) + sumSize + 7) &^ 7
	b := make([]byte, size)
	copy(b, magic)
	le.PutUint32(b[16:], version)
	le.PutUint32(b[20:], uint32(size))
	le.PutUint64(b[24:], h.Generation)
	copy(b[32:], h.Token[:])
	copy(b[48:], h.Before[:])
	le.PutUint64(b[64:], h.Bits)
	le.PutUint32(b[72:], h.Hashes)
	le.PutUint32(b[76:], uint32(len(h.Scheme)))
	le.PutUint32(b[80:], uint32(len(h.Note)))
	copy(b[fixedSize:], h.Scheme)
	copy(b[fixedSize+len(h.Scheme):], h.Note)
	le.PutUint64(b[size-sumSize:], xxh3.Hash(b[:size-sumSize]))
	return b
}

// A Log is open for appending. It is for one goroutine.
type Log struct {
	file file
	path string
	seed uint64
	next uint64 // number of the next group
	size int64
	buf  []byte
	err  error // of a failed append: anything after it would be lost
}

// file holds the methods of an *os.File that a Log needs.
type file interface {
	Write([]byte) (int, error)
	Sync() error
	Close() error
}

// Create makes a log complete with its header, or none at all. It replaces the content of path.
func Create(path string, h Header) (*Log, error) {
	head := h.encode()
	if len(head) > maxHeader {
		return nil, fmt.Errorf("creating %s: a header of %d bytes, at most %d fit", path, len(head), maxHeader)
	}
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
	return &Log{file: f, path: path, seed: seedOf(h.Token), next: 1, size: int64(len(head))}, nil
}

// seedOf makes checksums of one log worthless in another.
func seedOf(t Token) uint64 { return binary.LittleEndian.Uint64(t[:]) }

// Append adds a group, at most MaxKeys keys, and brings it to the disk. After an error the log
// takes no more, because nothing behind a torn group is read.
func (l *Log) Append(g Group) error {
	if l.err != nil {
		return l.err
	}
	if len(g.Keys) > MaxKeys {
		return fmt.Errorf("appending to %s: %d keys, at most %d fit", l.path, len(g.Keys), MaxKeys)
	}
	le := binary.LittleEndian
	b := append(l.buf[:0], make([]byte, groupHead)...)
	for _, k := range g.Keys {
		b = le.AppendUint64(b, k)
	}
	l.buf = b
	le.PutUint64(b[8:], l.next)
	le.PutUint64(b[16:], g.Documents)
	le.PutUint64(b[24:], uint64(g.Time))
	le.PutUint32(b[32:], uint32(len(g.Keys)))
	le.PutUint32(b[36:], uint32(xxh3.HashSeed(b[groupHead:], l.seed)))
	le.PutUint64(b, xxh3.HashSeed(b[8:groupHead], l.seed))
	_, err := l.file.Write(b)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.err = fmt.Errorf("appending to %s: %w", l.path, err)
		return l.err
	}
	l.next++
	l.size += int64(len(b))
	return nil
}

// Size is the length of the file in bytes.
func (l *Log) Size() int64 { return l.size }

// Close closes the file. The appended groups are on the disk already.
func (l *Log) Close() error { return l.file.Close() }

// asBytes is the memory of keys, as it is on a little-endian machine.
func asBytes(keys []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(keys))), 8*len(keys))
}

// fromLittle turns keys read as bytes into numbers.
func fromLittle(keys []uint64) {
	if !cpu.IsBigEndian {
		return
	}
	for i := range keys {
		keys[i] = binary.LittleEndian.Uint64(asBytes(keys[i : i+1]))
	}
}
