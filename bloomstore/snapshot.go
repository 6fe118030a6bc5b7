package bloomstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/zeebo/xxh3"
)

// snapshotWords is the number of words that a step copies: 1 MiB, 0.1 to 0.4 ms.
const snapshotWords = 128 << 10

// A Snapshot is a filter being written into a file while keys are added to it. Between two calls
// of the filter, its owner copies a piece of it; another goroutine writes the pieces.
//
//	case buf := <-s.Ready():
//		s.Copy(buf)
//	case err := <-s.Done():
//
// The file holds all keys added before the snapshot was begun. Since bits only ever become one,
// it also holds some of those added until the last piece was copied. Once Done has returned nil,
// it is a whole filter file on the disk.
type Snapshot struct {
	filter *Filter
	path   string
	header Header
	file   snapshotFile
	next   int // word to copy
	free   chan []uint64
	full   chan []uint64
	done   chan error
	quit   chan struct{}
	ended  chan struct{}
	turn   func() error
	turns  chan func() error
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
// is as for Save. The caller renames the file when it is done. turn is for Turns.
func (f *Filter) Snapshot(path string, stamp []byte, turn func() error) (*Snapshot, error) {
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
	return f.startSnapshot(path, file, stamp, turn), nil
}

func (f *Filter) startSnapshot(path string, file snapshotFile, stamp []byte, turn func() error) *Snapshot {
	const buffers = 2 // one is filled while the other is written
	s := &Snapshot{
		filter: f, path: path, file: file, header: Header{Shape: f.shape, Scheme: f.scheme, Stamp: stamp},
		free: make(chan []uint64, buffers), full: make(chan []uint64, buffers),
		done: make(chan error, 1), quit: make(chan struct{}), ended: make(chan struct{}),
		turn: turn, turns: make(chan func() error, buffers+1),
	}
	for range buffers {
		s.free <- make([]uint64, min(snapshotWords, len(f.words)))
		s.announce()
	}
	go s.write()
	return s
}

// Ready returns a channel of buffers for the next piece, or nil once everything is copied.
func (s *Snapshot) Ready() <-chan []uint64 {
	if s.next == len(s.filter.words) {
		return nil
	}
	return s.free
}

// Copy copies the next piece of the filter into a buffer from Ready.
func (s *Snapshot) Copy(buf []uint64) {
	n := copy(buf, s.filter.words[s.next:])
	s.next += n
	s.full <- buf[:n] // as many places as buffers: this never waits
	if s.next == len(s.filter.words) {
		s.header.Items = s.filter.items
		close(s.full)
	}
}

// Done returns a channel of one value, the snapshot's result: nil when the whole file is on the
// disk.
func (s *Snapshot) Done() <-chan error { return s.done }

// Turns returns a channel that yields turn whenever Ready or Done may have something. An owner
// with other work waits for it in place of those two, and turn then takes what there is.
func (s *Snapshot) Turns() <-chan func() error { return s.turns }

// announce yields a turn. A full channel has one for each buffer and one for the end.
func (s *Snapshot) announce() {
	select {
	case s.turns <- s.turn:
	default:
	}
}

// Ended returns a channel that is closed when Done has a value, or had one.
func (s *Snapshot) Ended() <-chan struct{} { return s.ended }

// Abort stops the snapshot if it is not done, and removes its file in either case.
func (s *Snapshot) Abort() error {
	close(s.quit)
	<-s.ended
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("giving up a saved filter: %w", err)
	}
	return nil
}

var errAborted = errors.New("given up")

func (s *Snapshot) write() {
	defer close(s.ended)
	err := s.writeFile()
	if closeErr := s.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		err = fmt.Errorf("saving filter %s: %w", s.path, err)
	}
	s.done <- err
	s.announce()
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
			s.free <- buf[:cap(buf)]
			s.announce()
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
