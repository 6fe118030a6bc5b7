package index

import (
	"math"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
)

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
	Documents   uint32 `json:"documents"` // those taken back included
	Entries     uint64 `json:"entries"`   // pairs of a key and a document
	PendingKeys uint64 `json:"pending_keys"`
	Runs        []int  `json:"runs"` // how many of each level
	Merges      uint64 `json:"merges"`
	Checkpoints uint64 `json:"checkpoints"`
	Bytes       int64  `json:"bytes"`               // of the file
	FreeBytes   int64  `json:"free_bytes"`          // of it, reusable
	Forgotten   uint32 `json:"forgotten,omitempty"` // of the documents, taken back
	Batches     int    `json:"batches,omitempty"`
}

// StatsOf returns what a table holds.
func StatsOf(t *docmap.Table) TableStats {
	st := t.Stats()
	s := TableStats{
		Documents: st.Docs, Forgotten: st.Dead, Batches: st.Batches, Entries: st.Entries, PendingKeys: st.PendingKeys, Runs: []int{},
		Merges: st.Merges, Checkpoints: st.Checkpoints, Bytes: st.FileBytes, FreeBytes: st.FreeBytes,
	}
	for _, level := range st.Runs {
		s.Runs = append(s.Runs, level.Runs)
	}
	return s
}

// TableStats returns what the index's table holds, nil where there is none.
func (x *Index) TableStats() *TableStats {
	if x.table == nil {
		return nil
	}
	s := StatsOf(x.table)
	return &s
}

// State returns the condition of the index's filter, zero after Close.
func (x *Index) State() FilterState {
	f := x.filter
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
