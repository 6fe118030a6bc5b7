package dedup

import (
	"fmt"
	"io"
	"math"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
)

// Tally counts what a run decided. It is part of a checkpoint, so a resumed run
// counts on.
type Tally struct {
	Documents  int64 `json:"documents"`
	Kept       int64 `json:"kept"`
	Removed    int64 `json:"removed"`
	Unique     int64 `json:"unique"`
	Duplicates int64 `json:"duplicates"`
	Exact      int64 `json:"exact"`   // of the duplicates, those equal in their whole text
	SameID     int64 `json:"same_id"` // of the duplicates, those whose witness has their id
	Mosaics    int64 `json:"mosaics"`
	Related    int64 `json:"related"`
	Again      int64 `json:"again"` // of the kept, those that had been kept before and were sent again
	Bad        int64 `json:"bad_records"`
	LineBytes  int64 `json:"line_bytes"` // of all lines, decompressed
}

func (t *Tally) count(r *Result) {
	t.Documents++
	if r.Kept {
		t.Kept++
	} else {
		t.Removed++
	}
	if r.Again {
		t.Again++
	}
	switch r.Verdict {
	case Unique:
		t.Unique++
	case Mosaic:
		t.Mosaics++
	case Related:
		t.Related++
	case Duplicate:
		t.Duplicates++
		if r.Exact {
			t.Exact++
		}
		if r.SameID {
			t.SameID++
		}
	}
}

// FilterState is the filter's condition.
type FilterState struct {
	Bytes    uint64  `json:"bytes"`
	Items    uint64  `json:"items"`
	Capacity uint64  `json:"capacity"`
	Fill     float64 `json:"fill"`                // share of one bits; 0.393 at design load
	Rate     float64 `json:"false_positive_rate"` // per segment, as it stands
}

// TableStats is what a side table holds.
type TableStats struct {
	Documents   uint32 `json:"documents"`
	Entries     uint64 `json:"entries"` // pairs of a key and a document
	PendingKeys uint64 `json:"pending_keys"`
	Runs        []int  `json:"runs"` // how many of each level
	Merges      uint64 `json:"merges"`
	Checkpoints uint64 `json:"checkpoints"`
	Bytes       int64  `json:"bytes"`      // of the file
	FreeBytes   int64  `json:"free_bytes"` // of it, reusable
}

// StatsOf returns what a table holds.
func StatsOf(t *docmap.Table) TableStats {
	st := t.Stats()
	s := TableStats{
		Documents: st.Docs, Entries: st.Entries, PendingKeys: st.PendingKeys, Runs: []int{},
		Merges: st.Merges, Checkpoints: st.Checkpoints, Bytes: st.FileBytes, FreeBytes: st.FreeBytes,
	}
	for _, level := range st.Runs {
		s.Runs = append(s.Runs, level.Runs)
	}
	return s
}

// TableState is the side table's condition.
type TableState struct {
	TableStats
	Lookups   uint64 `json:"lookups"`   // documents for which it was asked
	Confirmed uint64 `json:"confirmed"` // filter hits that it knew
	Refuted   uint64 `json:"refuted"`   // filter hits that were false
}

// Summary is what a run tells at its end. The JSON form is a contract.
type Summary struct {
	Tally
	Resumed     bool            `json:"resumed"`
	StoredBytes int64           `json:"stored_bytes"` // read from the inputs, as stored
	Seconds     float64         `json:"seconds"`      // of this process
	Filter      FilterState     `json:"filter"`
	Table       *TableState     `json:"table"` // null with --filter-only
	Grown       int             `json:"filter_grown"`
	Commonest   []CommonSegment `json:"commonest_segments"`
}

// State returns the condition of the index's filter, zero after Close.
func (x *Index) State() FilterState {
	f := x.Filter
	if f == nil {
		return FilterState{}
	}
	return FilterState{Bytes: f.Shape().Bytes(), Items: f.Items(), Capacity: f.Shape().Capacity(), Fill: f.Fill(), Rate: f.Rate()}
}

// HeaderState is State of a filter file that is not loaded.
func HeaderState(h bloomstore.Header) FilterState {
	fill := float64(h.Ones) / float64(h.Shape.Bits)
	return FilterState{
		Bytes: h.Shape.Bytes(), Items: h.Items, Capacity: h.Shape.Capacity(),
		Fill: fill, Rate: math.Pow(fill, float64(h.Shape.Hashes)),
	}
}

// WriteText writes the summary for people.
func (s *Summary) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%d documents: %d kept, %d removed (%s)\n", s.Documents, s.Kept, s.Removed, percent(s.Removed, s.Documents))
	fmt.Fprintf(w, "  unique %d, duplicate %d (%d exact, %d of the same id), mosaic %d, related %d\n",
		s.Unique, s.Duplicates, s.Exact, s.SameID, s.Mosaics, s.Related)
	if s.Again > 0 {
		fmt.Fprintf(w, "  sent again, and answered as before: %d\n", s.Again)
	}
	if s.Bad > 0 {
		fmt.Fprintf(w, "  bad records: %d\n", s.Bad)
	}
	rate := 0.0
	if s.Seconds > 0 {
		rate = float64(s.LineBytes) / 1e6 / s.Seconds
	}
	fmt.Fprintf(w, "  %.1f MB of lines in %.1f s (%.0f MB/s)\n", float64(s.LineBytes)/1e6, s.Seconds, rate)
	fmt.Fprintf(w, "  filter: %.1f MiB, %.1f%% of its bits set, false positives 1 in %s a segment\n",
		float64(s.Filter.Bytes)/(1<<20), 100*s.Filter.Fill, oneIn(s.Filter.Rate))
	if t := s.Table; t != nil {
		fmt.Fprintf(w, "  side table: asked for %d documents, %d filter hits confirmed, %d refuted\n", t.Lookups, t.Confirmed, t.Refuted)
	}
	for i, c := range s.Commonest {
		if i == 3 {
			break
		}
		fmt.Fprintf(w, "  common: %d× %q\n", c.Documents, c.Text)
	}
}

func percent(part, whole int64) string {
	if whole == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

func oneIn(rate float64) string {
	if rate < 1e-12 {
		return "10^12"
	}
	return fmt.Sprintf("%.3g", 1/rate)
}
