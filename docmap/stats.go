package docmap

import (
	"fmt"
	"os"
	"time"
)

// Stats describe a table. The JSON form is a contract.
type Stats struct {
	Documents   uint32       `json:"documents"` // including those not in the file yet, taken back or expired
	Entries     uint64       `json:"entries"`   // pairs of a key and a document, in runs and in memory
	PendingKeys uint64       `json:"pending_keys"`
	Runs        []int        `json:"runs"` // runs of keys by level, from 0
	Merges      uint64       `json:"merges"`
	Checkpoints uint64       `json:"checkpoints"`
	Bytes       int64        `json:"bytes"`               // of the file
	FreeBytes   int64        `json:"free_bytes"`          // of these, not in use
	Forgotten   uint32       `json:"forgotten,omitempty"` // documents taken back and not expired
	Counted     uint32       `json:"counted,omitempty"`   // live documents that only count
	Batches     int          `json:"batches,omitempty"`
	Window      *WindowStats `json:"window,omitempty"`
}

// WindowStats describes the window of a table.
type WindowStats struct {
	Seconds  uint32    `json:"seconds"` // for which documents count, at least
	Clock    time.Time `json:"clock"`   // latest time of a document
	Edge     time.Time `json:"edge"`    // documents of an earlier time do not count
	Slices   int       `json:"slices"`
	Counting uint32    `json:"counting"` // documents that count
	Expired  uint32    `json:"expired"`  // documents older than the window
}

// Live returns the number of kept documents that still count.
func (s *Stats) Live() uint32 {
	if s.Window != nil {
		return s.Window.Counting
	}
	return s.Documents - s.Forgotten - s.Counted
}

// Kept returns the number of documents kept, including those taken back or expired.
func (s *Stats) Kept() uint32 { return s.Documents - s.Counted }

// String describes the window in one line.
func (w *WindowStats) String() string {
	return fmt.Sprintf("%v to %s; %d documents count, from %s on, in %d slices; %d expired",
		time.Duration(w.Seconds)*time.Second, w.Clock.Format(time.RFC3339), w.Counting, w.Edge.Format(time.RFC3339), w.Slices, w.Expired)
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
		Documents: t.docs, Forgotten: g.dead.n, Batches: len(t.batches.names()), Entries: t.Entries(),
		PendingKeys: t.head.pending, Runs: []int{}, Merges: t.head.merges, Checkpoints: t.head.seq,
	}
	if w := &g.win; w.length > 0 || g.counted.n > 0 {
		expired := w.watermark() - 1
		st.Forgotten = 0
		for num := w.watermark(); num <= t.docs; num++ {
			switch {
			case w.expired(num):
				expired++
			case g.dead.has(num):
				st.Forgotten++
			case g.counted.has(num):
				st.Counted++
			}
		}
		if w.length > 0 {
			st.Window = &WindowStats{
				Seconds: w.length, Clock: time.Unix(int64(w.clock), 0).UTC(), Edge: time.Unix(int64(w.edge), 0).UTC(),
				Slices: len(w.slices), Counting: t.docs - expired - st.Forgotten - st.Counted, Expired: expired,
			}
		}
	}
	for _, r := range t.spaces[ofKeys].runs {
		for len(st.Runs) <= int(r.level) {
			st.Runs = append(st.Runs, 0)
		}
		st.Runs[r.level]++
	}
	if info, err := os.Stat(t.path); err == nil {
		st.Bytes = info.Size()
	}
	_ = t.look(func(s *snapshot) error {
		pages := t.db.Stats().FreePageN
		switch {
		case t.frozen:
			pages = t.freePages
		case t.pages != nil:
			pages = t.pages.Free()
		}
		st.FreeBytes = st.Bytes - s.tx.Size() + int64(pages)*pageSize
		return nil
	})
	return st
}
