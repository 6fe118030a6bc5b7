package bloomstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/base/durable"
)

// snapshotWords is the number of words copied at a time: 1 MiB. Add waits 0.1 to 0.4 ms for it.
const snapshotWords = 128 << 10

// A Snapshot is a filter that a goroutine writes to a file while keys are added.
//
// The file holds all keys added before the snapshot began. Since bits only ever become one, it also
// holds some of those added before it is complete.
type Snapshot struct {
	filter  *Filter
	path    string
	header  Header
	file    snapshotFile
	quit    atomic.Bool
	written chan struct{}
	err     error // valid once written is closed
}

// snapshotFile has the methods of *os.File for writing a snapshot.
type snapshotFile interface {
	io.WriterAt
	io.ReaderAt
	Sync() error
	Close() error
}

// Snapshot starts saving the filter to a new file, and removes an old one of that name. stamp is as
// for Save. The caller renames the file when Wait returns nil.
func (f *Filter) Snapshot(path string, stamp []byte) (*Snapshot, error) {
	if len(stamp) > maxStamp {
		return nil, fmt.Errorf("saving filter %s: a stamp of %d bytes, at most %d fit", path, len(stamp), maxStamp)
	}
	if err := durable.RemoveLeft(path); err != nil {
		return nil, fmt.Errorf("saving filter: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("saving filter: %w", err)
	}
	return f.startSnapshot(path, file, stamp), nil
}

func (f *Filter) startSnapshot(path string, file snapshotFile, stamp []byte) *Snapshot {
	s := &Snapshot{
		filter: f, path: path, file: file, header: Header{Shape: f.shape, Scheme: f.scheme, Stamp: slices.Clone(stamp)},
		written: make(chan struct{}),
	}
	go s.write()
	return s
}

// Written reports whether Wait would return at once.
func (s *Snapshot) Written() bool {
	select {
	case <-s.written:
		return true
	default:
		return false
	}
}

// Wait waits until the whole file is on disk or writing has failed.
func (s *Snapshot) Wait() error {
	<-s.written
	return s.err
}

// Abort stops writing, if still in progress, and removes the file in any case.
func (s *Snapshot) Abort() error {
	s.quit.Store(true)
	<-s.written
	if err := durable.RemoveLeft(s.path); err != nil {
		return fmt.Errorf("discarding a saved filter: %w", err)
	}
	return nil
}

var errAborted = errors.New("given up")

func (s *Snapshot) write() {
	defer close(s.written)
	err := s.writeBits()
	if err == nil {
		err = s.seal()
	}
	if closeErr := s.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		s.err = fmt.Errorf("saving filter %s: %w", s.path, err)
	}
}

// writeBits writes the bits before the header, which includes the number of ones.
func (s *Snapshot) writeBits() error {
	out := io.NewOffsetWriter(s.file, int64(s.header.size()))
	piece := make([]uint64, min(snapshotWords, len(s.filter.words)))
	for words := range slices.Chunk(s.filter.words, snapshotWords) {
		if s.quit.Load() {
			return errAborted
		}
		s.filter.adding.Lock()
		n := copy(piece, words)
		s.header.Items = s.filter.items
		s.filter.adding.Unlock()
		s.header.Ones += countOnes(piece[:n])
		if err := writeWords(out, piece[:n], false); err != nil {
			return err
		}
	}
	return nil
}

// seal writes the header and, last, the checksum of the whole file.
func (s *Snapshot) seal() error {
	if _, err := s.file.WriteAt(s.header.encode(), 0); err != nil {
		return err
	}
	size := int64(s.header.fileSize()) - sumSize
	sum := xxh3.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(s.file, 0, size), make([]byte, 8*chunkWords)); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(binary.LittleEndian.AppendUint64(nil, sum.Sum64()), size); err != nil {
		return err
	}
	return s.file.Sync()
}
