package docmap

import "os"

// Stats describe a table. Entries are pairs of a key and a document.
type Stats struct {
	Docs    uint32 // documents, including those not in the file yet and those taken back
	Dead    uint32 // documents taken back or older than the window
	Expired uint32 // dead documents older than the window
	Counted uint32 // live documents that only count
	Batches int    // named batches
	Entries uint64 // in the file's runs and in memory

	PendingKeys uint64 // keys in the file that are not in a run yet

	Runs        []int  // runs of keys by level, from 0
	Merges      uint64 // finished merges, of keys and of ids
	FileBytes   int64  // of the file
	FreeBytes   int64  // bytes of the file not in use: free pages, and those beyond the last page
	Checkpoints uint64
}

// A RunStats describes a run. The JSON form is a contract.
type RunStats struct {
	ID      uint32 `json:"run"`
	Of      string `json:"of"` // "keys" or "ids"
	Level   int    `json:"level"`
	First   uint32 `json:"first"` // first document covered; 0 if dead ones were left out
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

// Unsaved returns the number of documents added since the last checkpoint.
func (t *Table) Unsaved() uint32 { return t.docs - t.head.docs }

// Entries returns the number of pairs of a key and a document, in the file's runs and in memory.
func (t *Table) Entries() uint64 { return t.spaces[ofKeys].entries() }

// Stats returns the current state of the table. With a window, or with documents that only count,
// it takes some nanoseconds for each document.
func (t *Table) Stats() Stats {
	if t.db == nil {
		return Stats{}
	}
	g := &t.tombstones
	st := Stats{
		Docs: t.docs, Dead: g.dead.n, Batches: len(t.batches.names()), Entries: t.Entries(),
		PendingKeys: t.head.pending, Merges: t.head.merges, Checkpoints: t.head.seq,
	}
	if g.win.length > 0 || g.counted.n > 0 {
		st.Expired, st.Dead = g.win.watermark()-1, 0
		for num := st.Expired + 1; num <= t.docs; num++ {
			switch {
			case g.win.expired(num):
				st.Expired++
			case g.dead.has(num):
				st.Dead++
			case g.counted.has(num):
				st.Counted++
			}
		}
		st.Dead += st.Expired
	}
	for _, r := range t.spaces[ofKeys].runs {
		for len(st.Runs) <= int(r.level) {
			st.Runs = append(st.Runs, 0)
		}
		st.Runs[r.level]++
	}
	if info, err := os.Stat(t.path); err == nil {
		st.FileBytes = info.Size()
	}
	_ = t.look(func(s *snapshot) error {
		pages := t.db.Stats().FreePageN
		if t.frozen {
			pages = t.freePages
		}
		st.FreeBytes = st.FileBytes - s.tx.Size() + int64(pages)*pageSize
		return nil
	})
	return st
}
