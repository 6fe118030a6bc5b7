package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/durable"
	"github.com/firstseen/firstseen/internal/keylog"
	"github.com/firstseen/firstseen/internal/step"
)

const (
	// journalGroup is how many keys at most wait for the next group: 4 MiB.
	journalGroup = 512 << 10
	// A filter is saved anew when its journals have a quarter of its bytes, so
	// that reading them takes no longer than reading the filter, and disk is
	// bounded; but not for less than this.
	journalShare = 4
	journalLeast = 8 << 20
)

// journal remembers what a filter without a table learns while it reads a pipe. Keys
// of kept documents are appended to a log in groups, each after its documents were
// answered. When the log is long the filter itself is saved, piece by piece,
// between two documents, while the next log takes the new keys:
//
//  1. the log of the next generation is made;
//  2. the filter is copied; it may hold any bits of documents answered meanwhile;
//  3. all answers go out, and their keys into the new log: now nothing in the copy
//     is unanswered;
//  4. the copy becomes the filter, of the new generation;
//  5. the logs of the generations before are removed.
//
// A crash before 4 leaves the old filter and all logs, one after it the new filter
// and, perhaps, logs that mean nothing any more.
type journal struct {
	index  *Index
	log    *keylog.Log
	before int64 // bytes of the logs before it that still count
	keys   []uint64
	saving *bloomstore.Snapshot
	next   mark // of the filter being saved

	bound int64 // of the logs; see Options.JournalBytes
}

// mark says which state of a filter-only index a filter or log belongs to.
type mark struct {
	generation uint64
	token      keylog.Token
}

// markBytes is the length of a mark in a stamp. Where the owner's values follow, the stamp
// is longer than any of a filter saved beside a table, and no such stamp has this length.
const (
	markBytes  = 25
	markLetter = 'j'
)

// stamp is the mark as a filter file carries it.
func (m mark) stamp() []byte {
	return append(binary.LittleEndian.AppendUint64([]byte{markLetter}, m.generation), m.token[:]...)
}

// beginJournal makes an index without a table remember what it is given while it is
// open. state, the owner's values, come back from Value after an unclean end. Until
// Finish, the index says that a run is under way.
func (x *Index) beginJournal(state map[string][]byte) error {
	j := &journal{index: x, bound: x.bound}
	here, before := x.at, keylog.Token{}
	if n := len(x.chain); n > 0 {
		here, before = x.following(), x.chain[n-1].header.Token
		for _, c := range x.chain {
			j.before += c.size
		}
	}
	log, err := x.createLog(here, before, state)
	if err != nil {
		return fmt.Errorf("beginning the filter's journal: %w", err)
	}
	x.journal, j.log, x.state = j, log, state
	return nil
}

// createLog makes the log of a generation, the last of the chain.
func (x *Index) createLog(m mark, before keylog.Token, state map[string][]byte) (*keylog.Log, error) {
	shape := x.filter.Shape()
	h := keylog.Header{
		Generation: m.generation, Token: m.token, Before: before,
		Bits: shape.Bits, Hashes: uint32(shape.Hashes), Scheme: x.name, Note: encodeNote(state),
	}
	path := x.logPath(m.generation)
	log, err := keylog.Create(path, h)
	if err != nil {
		return nil, err
	}
	x.chain = append(x.chain, chained{path: path, header: h, size: log.Size()})
	return log, nil
}

// add takes the keys of a kept document.
func (j *journal) add(keys []uint64) { j.keys = append(j.keys, keys...) }

// due reports whether a group should not grow further.
func (j *journal) due() bool { return len(j.keys) >= journalGroup }

// commit makes durable what was added. All of it must have been answered.
func (j *journal) commit(documents uint64, now time.Time) error {
	err := j.log.Append(keylog.Group{Documents: documents, Time: now.Unix(), Keys: j.keys})
	if err != nil {
		return err
	}
	j.keys = j.keys[:0]
	x := j.index
	x.chain[len(x.chain)-1].size = j.log.Size()
	if err := step.Done("a group is durable"); err != nil {
		return err
	}
	switch size := j.log.Size(); {
	case j.saving == nil && j.before+size >= j.limit():
		return j.beginSaving()
	case j.saving != nil && size >= j.limit():
		return j.hurry()
	}
	return nil
}

func (j *journal) limit() int64 {
	if j.bound > 0 {
		return j.bound
	}
	return journalLimit(j.index.filter.Shape())
}

func journalLimit(s bloomstore.Shape) int64 {
	return max(journalLeast, int64(s.Bytes()/journalShare))
}

// StreamDisk is the most disk, in bytes, that an index without a table takes while a
// stream is added to it: the filter, the one that is written to replace it, and the
// journals before and beside that, each as long as they become before something is
// done, and a group longer. Runs that are killed again and again while a filter is
// written leave more, until one is.
func StreamDisk(s bloomstore.Shape) uint64 {
	const most = 8*(journalGroup+dedup.WholeKeys+feature.MaxSegments) + 64<<10 // a group, and what a log tells of itself
	return 2*(s.Bytes()+4<<10) + 2*(uint64(journalLimit(s))+most)
}

// beginSaving is steps 1 and the beginning of 2.
func (j *journal) beginSaving() error {
	x := j.index
	if err := step.Done("before the next log"); err != nil {
		return err
	}
	m := x.following()
	log, err := x.createLog(m, x.chain[len(x.chain)-1].header.Token, x.state)
	if err != nil {
		return fmt.Errorf("the filter's next journal: %w", err)
	}
	err = errors.Join(step.Done("the next log is there"), j.log.Close())
	j.log, j.next = log, m
	if err != nil {
		return err
	}
	j.saving, err = x.filter.Snapshot(x.path(newFilterFile), x.stampFilterOnly(m))
	return err
}

// copyPiece is a part of step 2.
func (j *journal) copyPiece(buf []uint64) error {
	j.saving.Copy(buf)
	return step.Done("a piece is copied")
}

// hurry saves the rest of the filter at once: the new log has become as long as the
// old while the disk could not take the filter.
func (j *journal) hurry() error {
	for {
		select {
		case buf := <-j.saving.Ready():
			if err := j.copyPiece(buf); err != nil {
				return err
			}
		case <-j.saving.Ended(): // Done will say how
			return nil
		}
	}
}

// installSaved is steps 4 and 5. What is in the new filter must have been answered
// and be in the new log.
func (j *journal) installSaved() error {
	x := j.index
	if err := step.Done("the filter is written"); err != nil {
		return err
	}
	if err := durable.Rename(x.path(newFilterFile), x.path(FilterFile)); err != nil {
		return fmt.Errorf("saving the filter: %w", err)
	}
	j.saving, j.before, x.at = nil, 0, j.next
	if err := step.Done("the filter is in place"); err != nil {
		return err
	}
	for len(x.chain) > 1 {
		if err := durable.Remove(x.chain[0].path); err != nil {
			return fmt.Errorf("removing a journal that is in the filter now: %w", err)
		}
		x.chain = x.chain[1:]
		if err := step.Done("a log is removed"); err != nil {
			return err
		}
	}
	return nil
}

// close gives the journal up as it is.
func (j *journal) close() error {
	err := j.log.Close()
	if j.saving != nil {
		err = errors.Join(err, j.saving.Abort())
		j.saving = nil
	}
	return err
}

// Pieces, CopyPiece, Written and Install save the filter of an index without a table
// while a stream is added. The goroutine that decides serves both channels between two
// documents; they are nil while nothing is being saved:
//
//	case buf := <-x.Pieces():
//		err = x.CopyPiece(buf)
//	case err := <-x.Written():
//		err = x.Install(err)
func (x *Index) Pieces() <-chan []uint64 {
	if x.journal == nil || x.journal.saving == nil {
		return nil
	}
	return x.journal.saving.Ready()
}

// CopyPiece copies the next piece of the filter into a buffer from Pieces.
func (x *Index) CopyPiece(buf []uint64) error { return x.journal.copyPiece(buf) }

// Written gives, once, how the writing of the filter has ended. See Pieces.
func (x *Index) Written() <-chan error {
	if x.journal == nil || x.journal.saving == nil {
		return nil
	}
	return x.journal.saving.Done()
}

// Install puts the filter that was written in its place; err is from Written. It may
// hold bits of all documents until now, so their answers go out first.
func (x *Index) Install(err error) error {
	if err != nil {
		return err
	}
	if err := x.checkpoint(false); err != nil {
		return err
	}
	return x.journal.installSaved()
}

// serve does what Pieces and Written have, without waiting.
func (x *Index) serve() error {
	select {
	case buf := <-x.Pieces():
		return x.CopyPiece(buf)
	case err := <-x.Written():
		return x.Install(err)
	default:
		return nil
	}
}
