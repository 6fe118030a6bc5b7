package bloomstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/step"
)

// snapshotWords is the number of words that a step copies: 1 MiB, 0.1 to 0.4 ms.
const snapshotWords = 128 << 10

// A Snapshot is a filter being written into a file while keys are added to it. Its owner does the
// work from Work between two calls of the filter: it copies a piece, which another goroutine
// writes.
//
// The file holds all keys added before the snapshot was begun. Since bits only ever become one,
// it also holds some of those added until the last piece was copied.
type Snapshot struct {
	filter  *Filter
	words   []uint64 // of the filter
	path    string
	header  Header
	file    snapshotFile
	end     func(error) error
	asked   int // words that the work so far copies
	copied  int
	work    chan func() error
	full    chan []uint64 // copied pieces
	quit    chan struct{}
	written chan struct{}
	err     error // of the writing, once written is closed
}

// snapshotFile holds the methods of *os.File that writing a snapshot needs.
type snapshotFile interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
	io.Seeker
	Sync() error
	Close() error
}

// Snapshot begins to save the filter into a new file, and removes an old one of that name. stamp
// is as for Save. The last work calls end with the result: nil if the whole file is on the disk.
// The caller renames it then.
func (f *Filter) Snapshot(path string, stamp []byte, end func(error) error) (*Snapshot, error) {
	if len(stamp) > maxStamp {
		return nil, fmt.Errorf("saving filter %s: a stamp of %d bytes, at most %d fit", path, len(stamp), maxStamp)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("saving filter: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("saving filter: %w", err)
	}
	return f.startSnapshot(path, file, stamp, end), nil
}

func (f *Filter) startSnapshot(path string, file snapshotFile, stamp []byte, end func(error) error) *Snapshot {
	const buffers = 2 // one is filled while the other is written
	s := &Snapshot{
		filter: f, words: f.words, path: path, file: file, header: Header{Shape: f.shape, Scheme: f.scheme, Stamp: stamp},
		end: end, work: make(chan func() error, buffers+1), full: make(chan []uint64, buffers),
		quit: make(chan struct{}), written: make(chan struct{}),
	}
	for range buffers {
		s.ask(make([]uint64, min(snapshotWords, len(f.words))))
	}
	go s.write()
	return s
}

// ask has the owner copy the next piece into a buffer. The channels have a place for each buffer, so
// that nothing waits for them.
func (s *Snapshot) ask(buf []uint64) {
	from := s.asked
	n := min(len(buf), len(s.words)-from)
	if n == 0 {
		return
	}
	s.asked += n
	s.work <- func() error {
		s.copied += copy(buf[:n], s.words[from:])
		s.full <- buf[:n]
		if s.copied == len(s.words) {
			s.header.Items = s.filter.items
			close(s.full)
		}
		return step.Done("a piece is copied")
	}
}

// Work returns a channel of work for the owner. Each piece is to be done once, in order.
func (s *Snapshot) Work() <-chan func() error { return s.work }

// Written returns a channel that is closed when the file is written, or its writing has failed.
func (s *Snapshot) Written() <-chan struct{} { return s.written }

// Rush copies the rest at once, and waits until the file is written. Only the last work is then left.
func (s *Snapshot) Rush() error {
	for s.copied < len(s.words) {
		select {
		case work := <-s.work:
			if err := work(); err != nil {
				return err
			}
		case <-s.written: // it has failed before all was copied
			return s.err
		}
	}
	<-s.written
	return nil
}

// Abort stops the snapshot if it is not done, and removes its file in either case.
func (s *Snapshot) Abort() error {
	close(s.quit)
	<-s.written
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("giving up a saved filter: %w", err)
	}
	return nil
}

var errAborted = errors.New("given up")

func (s *Snapshot) write() {
	defer close(s.written)
	err := s.writeFile()
	if closeErr := s.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		err = fmt.Errorf("saving filter %s: %w", s.path, err)
	}
	s.err = err
	s.work <- func() error { return s.end(err) }
}

// writeFile writes the bits first, because the header has their number of ones, and the checksum
// of the whole last.
func (s *Snapshot) writeFile() error {
	if _, err := s.file.Seek(int64(s.header.size()), io.SeekStart); err != nil {
		return err
	}
	for {
		select {
		case buf, more := <-s.full:
			if !more {
				return s.seal()
			}
			s.header.Ones += countOnes(buf)
			if err := writeWords(s.file, buf, false); err != nil {
				return err
			}
			s.ask(buf[:cap(buf)])
		case <-s.quit:
			return errAborted
		}
	}
}

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
