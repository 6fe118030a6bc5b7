package filterlog

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/step"
)

const (
	// journalGroup is the number of waiting keys at which a group is due: 4 MiB.
	journalGroup = 512 << 10
	// A filter is saved when its journals reach a quarter of its size, and at least 8 MiB. Reading
	// the journals then takes no longer than reading the filter, and disk space is bounded.
	journalShare = 4
	journalLeast = 8 << 20
)

// stream makes the keys of a filter without a table durable while a stream is read. The keys of
// kept documents are appended to a log in groups, after the answers to the group's documents. When
// the log is long, a goroutine saves the filter, and the next log takes new keys:
//
//  1. The log of the next generation is created.
//  2. The filter is copied. The copy may hold bits of documents answered meanwhile.
//  3. The next group after that is durable. Now every document in the copy is answered.
//  4. The copy becomes the filter, of the new generation.
//  5. The logs of earlier generations are removed.
//
// A crash before step 4 leaves the old filter and all logs; later, the new one and any obsolete
// logs.
type stream struct {
	log    *journal.Log // nil except while a stream is added
	keys   []uint64
	group  []byte // encoded
	saving *bloomstore.Snapshot

	bound int64 // length of the logs at which the filter is saved
}

// Begin makes added keys durable from now on. After an unclean end, Value returns the owner's
// values in state. Until Save, the run is unfinished.
func (s *Store) Begin(state map[string][]byte) error {
	s.stream = stream{bound: cmp.Or(s.opt.Bound, journalLimit(s.Filter.Shape()))}
	m := s.at
	if len(s.chain) > 0 {
		m = s.following()
	}
	log, err := s.createLog(m, state)
	if err != nil {
		return fmt.Errorf("beginning the filter's journal: %w", err)
	}
	s.log, s.state = log, state
	return nil
}

// createLog creates the log of a generation, the last of the chain.
func (s *Store) createLog(m mark, state map[string][]byte) (*journal.Log, error) {
	h := LogHeader{mark: m, Shape: s.Filter.Shape(), Scheme: s.opt.Scheme, State: state}
	if n := len(s.chain); n > 0 {
		h.Before = s.chain[n-1].header.Token
	}
	path := s.path(LogName(m.Generation))
	log, err := logKind.Create(path, &h)
	if err != nil {
		return nil, err
	}
	s.chain = append(s.chain, chained{path: path, header: h, size: log.Size()})
	return log, nil
}

// Add adds the keys of a kept document. Without a journal it does nothing.
func (s *Store) Add(keys []uint64) {
	if s.Streaming() {
		s.keys = append(s.keys, keys...)
	}
}

// Due reports whether the group of keys should not grow further.
func (s *Store) Due() bool { return len(s.keys) >= journalGroup }

// Commit makes the added keys durable. All their documents must be answered. Without a journal it is
// an error.
func (s *Store) Commit(documents uint64, now time.Time) error {
	if !s.Streaming() {
		return errors.New("no journal has begun")
	}
	g := Group{Documents: documents, Time: now.Unix(), Keys: s.keys}
	s.group = g.append(s.group[:0])
	if err := s.log.Append(s.group); err != nil {
		return err
	}
	s.keys = s.keys[:0]
	size := s.log.Size()
	s.chain[len(s.chain)-1].size = size
	if err := step.Done("a group is durable"); err != nil {
		return err
	}
	all := int64(0)
	for _, c := range s.chain {
		all += c.size
	}
	switch {
	case s.saving == nil && all >= s.bound:
		return s.beginSaving()
	case s.saving != nil && (size >= s.bound || s.saving.Written()):
		return s.install() // at the bound the disk is slower than the stream, which waits
	}
	return nil
}

func journalLimit(s bloomstore.Shape) int64 {
	return max(journalLeast, int64(s.Bytes()/journalShare))
}

// Disk returns the largest size in bytes of a filter and its journals while a stream is added. It
// counts the filter, its replacement, and the journals before and during that, each one group over
// the limit. keys bounds the keys of a document. Repeated kills while a filter is written leave
// more, until one run completes.
func Disk(s bloomstore.Shape, keys int) uint64 {
	most := 8*(journalGroup+uint64(keys)) + 64<<10 // a group and a log's header
	return 2*(s.Bytes()+4<<10) + 2*(uint64(journalLimit(s))+most)
}

// beginSaving does step 1 and begins step 2.
func (s *Store) beginSaving() error {
	if err := step.Done("before the next log"); err != nil {
		return err
	}
	m := s.following()
	log, err := s.createLog(m, s.state)
	if err != nil {
		return fmt.Errorf("the filter's next journal: %w", err)
	}
	err = errors.Join(step.Done("the next log is there"), s.log.Close())
	s.log = log
	if err != nil {
		return err
	}
	s.saving, err = s.Filter.Snapshot(s.path(newFilterFile), s.stamp(m))
	return err
}

// install does steps 4 and 5, once the filter is written.
func (s *Store) install() error {
	if err := s.saving.Wait(); err != nil {
		return err
	}
	if err := step.Done("the filter is written"); err != nil {
		return err
	}
	if err := durable.Rename(s.path(newFilterFile), s.path(FilterFile)); err != nil {
		return fmt.Errorf("saving the filter: %w", err)
	}
	s.saving, s.at = nil, s.chain[len(s.chain)-1].header.mark
	if err := step.Done("the filter is in place"); err != nil {
		return err
	}
	return s.dropLogs(1)
}

// dropLogs removes the oldest logs, whose keys are in the filter now. left is the number to keep.
func (s *Store) dropLogs(left int) error {
	for len(s.chain) > left {
		if err := durable.Remove(s.chain[0].path); err != nil {
			return fmt.Errorf("removing a journal that is in the filter now: %w", err)
		}
		s.chain = s.chain[1:]
		if err := step.Done("a log is removed"); err != nil {
			return err
		}
	}
	return nil
}

// EndJournal closes the journal, if any, and stops saving the filter. A nil Store has none.
func (s *Store) EndJournal() error {
	if !s.Streaming() {
		return nil
	}
	err := s.log.Close()
	if s.saving != nil {
		err = errors.Join(err, s.saving.Abort())
	}
	s.stream = stream{}
	return err
}

// Streaming reports whether a journal makes added keys durable. It is false for a nil Store.
func (s *Store) Streaming() bool { return s != nil && s.log != nil }

// Saving returns the filter being saved, or nil.
func (s *Store) Saving() *bloomstore.Snapshot { return s.saving }
