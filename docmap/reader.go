package docmap

import (
	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/docmap/boltcheck"
	"github.com/firstseen/firstseen/docmap/memtable"
	"github.com/firstseen/firstseen/docmap/sorted"
)

// A snapshot is a read transaction. Bin addresses are valid only while one is open: a commit,
// during which none is open, may make bbolt remap the file.
type snapshot struct {
	tx    *bbolt.Tx
	docs  *bbolt.Cursor
	pages *boltcheck.Pages // nil if all pages are checked
	block []byte           // read last: the next document is often in it, too
}

// get returns the value of a key, nil without one, once the pages on the way to it are checked.
func (s *snapshot) get(b *bbolt.Bucket, key []byte) ([]byte, error) {
	found, err := s.floor(b, key)
	if err != nil || string(found) != string(key) {
		return nil, err
	}
	return b.Get(key), nil
}

// floor returns the last key up to key. bbolt then finds that key on checked pages.
func (s *snapshot) floor(b *bbolt.Bucket, key []byte) ([]byte, error) {
	if s.pages == nil || b.Root() == 0 { // a small bucket is inside a checked page
		return key, nil
	}
	return s.pages.Floor(uint64(b.Root()), key)
}

// A reader holds one goroutine's snapshot and buffers. A Table embeds one; Share makes others.
type reader struct {
	table   *Table
	read    *snapshot // opened on demand, held until the next write transaction
	blocks  [lookupGroup]located
	warm    byte     // keeps the compiler from dropping prefetching loads
	copies  []byte   // returned by Records
	entries []uint32 // of one key, see all
	build   sorted.Builder
}

// Share prepares the table for concurrent look-ups by n goroutines, until its next change. Each
// goroutine uses its own reader, numbered from 0. Add does its work through run, which calls f with
// 0 to tasks-1, concurrently or not, and returns when all calls have.
func (t *Table) Share(n int, run func(tasks int, f func(task int))) error {
	t.sharing(n)
	t.spread = memtable.Spread{Parts: n, Run: run}
	return t.look(nothing) // drops bin addresses of an earlier mapping
}

func (t *Table) sharing(n int) []*reader {
	for len(t.shared) < n {
		t.shared = append(t.shared, &reader{table: t})
	}
	return t.shared[:n]
}

// An Asker is a reader prepared by Share. Results of Records are valid until the next such call.
type Asker = interface {
	Lookup(keys []uint64, holders []uint32, n []uint8) error
	Records(nums []uint32, ids, data [][]byte) error
}

// Asker returns the reader of that number.
func (t *Table) Asker(reader int) Asker { return t.shared[reader] }

func (r *reader) reading() (*snapshot, error) {
	t := r.table
	switch {
	case t.db == nil:
		return nil, errClosed
	case t.unsure:
		return nil, errUnsure
	case r.read != nil:
		return r.read, nil
	}
	tx, err := t.db.Begin(false)
	if err != nil {
		return nil, err
	}
	s := &snapshot{tx: tx, pages: t.pages}
	if docs := tx.Bucket(bucketDocs); docs != nil {
		s.docs = docs.Cursor()
	}
	if r == &t.reader {
		t.mapped(s)
	}
	r.read = s
	return s, nil
}

// mapped records the mapping that a snapshot reads. Runs forget bins of an earlier mapping.
func (t *Table) mapped(s *snapshot) {
	t.used = s.tx.Size()
	at := t.db.Info().Data
	if at != t.mapping {
		for i := range t.spaces {
			for _, r := range t.spaces[i].runs {
				r.Forget()
			}
		}
	}
	t.mapping = at
}

func (r *reader) look(f func(s *snapshot) error) error {
	return r.table.guarded(func() error {
		s, err := r.reading()
		if err != nil {
			return err
		}
		return f(s)
	})
}

func nothing(*snapshot) error { return nil }

func (r *reader) stop() error {
	s := r.read
	r.read = nil
	if s == nil {
		return nil
	}
	return s.tx.Rollback()
}
