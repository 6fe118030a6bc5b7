package index

import (
	"cmp"
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
	// journalGroup is the largest number of keys that wait for the next group: 4 MiB.
	journalGroup = 512 << 10
	// A filter is saved when its journals have a quarter of its bytes, and at least this many.
	// Reading the journals then takes no longer than reading the filter, and disk is bounded.
	journalShare = 4
	journalLeast = 8 << 20
)

// journal makes the keys of a filter without a table durable while a stream is read. It appends the
// keys of kept documents to a log, in groups, after the answers to the documents of the group. When
// the log is long, the filter is saved piece by piece, between two documents. Meanwhile the next log
// takes the new keys:
//
//  1. The log of the next generation is created.
//  2. The filter is copied. The copy may hold bits of documents answered meanwhile.
//  3. All answers go out, and their keys into the new log. Now every document in the copy is
//     answered.
//  4. The copy becomes the filter, of the new generation.
//  5. The logs of earlier generations are removed.
//
// A crash before step 4 leaves the old filter and all logs. A later crash leaves the new filter and
// perhaps logs without a meaning.
type journal struct {
	index  *Index
	log    *keylog.Log
	before int64 // bytes of the logs before it that still count
	keys   []uint64
	saving *bloomstore.Snapshot
	next   mark // of the filter being saved

	bound int64 // of the logs: when they are as long, the filter is saved
}

// mark identifies the state of a filter-only index, for a filter or log.
type mark struct {
	generation uint64
	token      keylog.Token
}

// markBytes is the length of a mark in a stamp. No stamp of a filter beside a table has this length.
// A mark followed by the owner's values is longer than any of them.
const (
	markBytes  = 25
	markLetter = 'j'
)

// stamp encodes the mark for a filter file.
func (m mark) stamp() []byte {
	return append(binary.LittleEndian.AppendUint64([]byte{markLetter}, m.generation), m.token[:]...)
}

// beginJournal makes the documents of a filter-only index durable while it is open. After an unclean
// end, Value returns the owner's values in state. Until Finish, the index is marked as unfinished.
func (x *Index) beginJournal(state map[string][]byte) error {
	j := &journal{index: x, bound: cmp.Or(x.bound, journalLimit(x.filter.Shape()))}
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
	path := x.path(LogName(m.generation))
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

// commit makes the added keys durable. All their documents must be answered.
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
	case j.saving == nil && j.before+size >= j.bound:
		return j.beginSaving()
	case j.saving != nil && size >= j.bound:
		return j.hurry()
	}
	return nil
}

func journalLimit(s bloomstore.Shape) int64 {
	return max(journalLeast, int64(s.Bytes()/journalShare))
}

// StreamDisk is the largest size in bytes of a filter-only index while a stream is added. It counts
// the filter, its replacement, and the journals before and during the replacement, each at the limit
// and one group more. Runs killed again and again while a filter is written leave more, until one
// completes.
func StreamDisk(s bloomstore.Shape) uint64 {
	const most = 8*(journalGroup+dedup.WholeKeys+feature.MaxSegments) + 64<<10 // a group and a log's header
	return 2*(s.Bytes()+4<<10) + 2*(uint64(journalLimit(s))+most)
}

// beginSaving is step 1 and the beginning of step 2.
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
	j.saving, err = x.filter.Snapshot(x.path(newFilterFile), x.stampFilterOnly(m), x.serve)
	return err
}

// copyPiece is a part of step 2.
func (j *journal) copyPiece(buf []uint64) error {
	j.saving.Copy(buf)
	return step.Done("a piece is copied")
}

// hurry saves the rest of the filter at once. The new log is at its limit, and the disk is slower
// than the stream.
func (j *journal) hurry() error {
	for {
		select {
		case buf := <-j.saving.Ready():
			if err := j.copyPiece(buf); err != nil {
				return err
			}
		case <-j.saving.Ended(): // Done has the result
			return nil
		}
	}
}

// installSaved is steps 4 and 5. All documents of the new filter must be answered and in the new
// log.
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

// closeJournal closes the journal, if there is one, and stops the saving of the filter.
func (x *Index) closeJournal() error {
	j := x.journal
	if j == nil {
		return nil
	}
	x.journal = nil
	err := j.log.Close()
	if j.saving != nil {
		err = errors.Join(err, j.saving.Abort())
	}
	return err
}

// Work returns a channel of work for the goroutine that decides: to call between two documents.
// It is nil while there is none. The work saves the filter of an index without a table while a
// stream is added:
//
//	case work := <-x.Work():
//		err = work()
func (x *Index) Work() <-chan func() error {
	if x.journal == nil || x.journal.saving == nil {
		return nil
	}
	return x.journal.saving.Turns()
}

// serve copies a piece of the filter or puts the saved filter in place, if either is due.
func (x *Index) serve() error {
	if x.journal == nil || x.journal.saving == nil {
		return nil
	}
	select {
	case buf := <-x.journal.saving.Ready():
		return x.journal.copyPiece(buf)
	case err := <-x.journal.saving.Done():
		return x.install(err)
	default:
		return nil
	}
}

// install puts the saved filter in its place; err is how the writing ended. The filter may hold
// bits of all documents until now, so their answers go out first.
func (x *Index) install(err error) error {
	if err != nil {
		return err
	}
	if err := x.checkpoint(false); err != nil {
		return err
	}
	return x.journal.installSaved()
}
