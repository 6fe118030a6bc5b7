package docmap

import (
	"os"
)

// Stats describe a table. Entries are pairs of a key and a document.
type Stats struct {
	Docs    uint32 // documents, including those not in the file yet and those taken back
	Dead    uint32 // those of them taken back or older than the window
	Expired uint32 // those of the dead older than the window
	Counted uint32 // live ones that only count
	Batches int    // named ones
	Entries uint64 // in the file's runs and in memory

	PendingKeys uint64 // keys in the file that are not in a run yet
	UnsavedDocs uint32 // documents added since the last checkpoint

	Runs        []LevelStats // by level, from 0
	Merges      uint64       // merges of runs finished, of keys and of ids
	MergedKeys  uint64       // entries written by those
	FileBytes   int64        // of the file
	FreeBytes   int64        // bytes of the file that this state does not need
	Checkpoints uint64       // number of checkpoints
}

// LevelStats describe the runs of keys of one level.
type LevelStats struct {
	Runs    int
	Merging int // those of them in a merge
}

// A RunStats describes a run. The JSON form is a contract.
type RunStats struct {
	ID      uint32 `json:"run"`
	Of      string `json:"of"` // "keys" or "ids"
	Level   int    `json:"level"`
	First   uint32 `json:"first"` // document it covers; 0 if dead ones were left out
	Last    uint32 `json:"last"`
	Entries uint64 `json:"entries"`
	Merging bool   `json:"merging"` // it takes part in a merge
}

// Runs lists the runs in the file, those of keys first, the oldest of each first.
func (t *Table) Runs() []RunStats {
	var list []RunStats
	for of := range t.spaces {
		for _, r := range t.spaces[of].runs {
			list = append(list, RunStats{
				ID: r.id, Of: [...]string{ofKeys: "keys", ofIDs: "ids"}[of], Level: int(r.level), First: r.first, Last: r.last,
				Entries: r.entries, Merging: r.busy(),
			})
		}
	}
	return list
}

// countDead counts the documents that are dead or only count.
func (t *Table) countDead(st *Stats) {
	g := &t.tombstones
	if g.win.length == 0 && g.counted.n == 0 {
		st.Dead = g.dead
		return
	}
	st.Expired = g.win.watermark() - 1
	st.Dead = st.Expired
	for num := st.Expired + 1; num <= t.docs; num++ {
		switch {
		case g.win.expired(num):
			st.Expired++
			st.Dead++
		case g.forgotten(num):
			st.Dead++
		case g.counted.which.has(num):
			st.Counted++
		}
	}
}

// Unsaved returns the number of documents added since the last checkpoint.
func (t *Table) Unsaved() uint32 { return t.docs - t.head.docs }

// Entries returns the number of pairs of a key and a document, in the file's runs and in memory.
func (t *Table) Entries() uint64 { return t.spaces[ofKeys].entries() }

// Stats returns the present state of the table. With a window that takes some nanoseconds for
// each of its documents.
func (t *Table) Stats() Stats {
	if t.db == nil {
		return Stats{}
	}
	st := Stats{
		Docs: t.docs, Batches: len(t.batches.spans), Entries: t.Entries(),
		PendingKeys: t.head.pending,
		UnsavedDocs: t.Unsaved(),
		Merges:      t.head.merges, MergedKeys: t.head.merged,
		Checkpoints: t.head.seq,
	}
	t.countDead(&st)
	for _, r := range t.spaces[ofKeys].runs {
		for len(st.Runs) <= int(r.level) {
			st.Runs = append(st.Runs, LevelStats{})
		}
		l := &st.Runs[r.level]
		l.Runs++
		if r.busy() {
			l.Merging++
		}
	}
	if info, err := os.Stat(t.path); err == nil {
		st.FileBytes = info.Size()
	}
	st.FreeBytes = t.freeBytes(st.FileBytes)
	return st
}

// freeBytes returns the length of the pages for reuse and those beyond the last. bbolt counts the
// former only in a writer. In a table opened for reading they are the pages that no page refers
// to.
func (t *Table) freeBytes(size int64) (free int64) {
	_ = t.own.look(func(s *snapshot) error {
		if !t.opt.ReadOnly {
			free = size - s.tx.Size() + int64(t.db.Stats().FreePageN)*pageSize
			return nil
		}
		const headersAndList = 3
		reached, err := t.pagesReached(s)
		if err == nil {
			free = size - int64(reached+headersAndList)*pageSize
		}
		return err
	})
	return free
}
