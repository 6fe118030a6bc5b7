package index

import (
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
)

// FilterState describes a filter.
type FilterState struct {
	Bytes    uint64  `json:"bytes"`
	Items    uint64  `json:"items"`
	Capacity uint64  `json:"capacity"`
	Fill     float64 `json:"fill"`                // share of one bits; 0.393 at design load
	Rate     float64 `json:"false_positive_rate"` // per segment, at this fill
}

// TableStats describes a side table.
type TableStats struct {
	Documents   uint32       `json:"documents"` // including those taken back or expired
	Entries     uint64       `json:"entries"`   // pairs of a key and a document
	PendingKeys uint64       `json:"pending_keys"`
	Runs        []int        `json:"runs"` // number by level
	Merges      uint64       `json:"merges"`
	Checkpoints uint64       `json:"checkpoints"`
	Bytes       int64        `json:"bytes"`               // of the file
	FreeBytes   int64        `json:"free_bytes"`          // of these, reusable
	Forgotten   uint32       `json:"forgotten,omitempty"` // documents taken back
	Counted     uint32       `json:"counted,omitempty"`   // removed documents that only count
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
func (s *TableStats) Live() uint32 {
	if s.Window != nil {
		return s.Window.Counting
	}
	return s.Documents - s.Forgotten - s.Counted
}

// Kept returns the number of documents kept, including those taken back or expired.
func (s *TableStats) Kept() uint32 { return s.Documents - s.Counted }

// StatsOf returns the sizes of a table.
func StatsOf(t *docmap.Table) TableStats {
	st := t.Stats()
	s := TableStats{
		Documents: st.Docs, Counted: st.Counted, Forgotten: st.Dead - st.Expired, Batches: st.Batches, Entries: st.Entries, PendingKeys: st.PendingKeys, Runs: append([]int{}, st.Runs...),
		Merges: st.Merges, Checkpoints: st.Checkpoints, Bytes: st.FileBytes, FreeBytes: st.FreeBytes,
	}
	if seconds, clock, edge := t.Window(); seconds > 0 {
		s.Window = &WindowStats{
			Seconds: seconds, Clock: time.Unix(int64(clock), 0).UTC(), Edge: time.Unix(int64(edge), 0).UTC(),
			Slices: t.Slices(), Counting: st.Docs - st.Dead - st.Counted, Expired: st.Expired,
		}
	}
	return s
}

// TableStats returns the counts of the index's table, nil in an index without one.
func (x *Index) TableStats() *TableStats {
	if x.table == nil {
		return nil
	}
	s := StatsOf(x.table)
	return &s
}

// State returns the state of the index's filter, zero after Close.
func (x *Index) State() FilterState {
	if x.filter == nil {
		return FilterState{}
	}
	return HeaderState(bloomstore.Header{Shape: x.filter.Shape(), Ones: x.filter.Ones(), Items: x.filter.Items()})
}

// HeaderState is State for a filter file, without loading it.
func HeaderState(h bloomstore.Header) FilterState {
	fill := float64(h.Ones) / float64(h.Shape.Bits)
	return FilterState{
		Bytes: h.Shape.Bytes(), Items: h.Items, Capacity: h.Shape.Capacity(),
		Fill: fill, Rate: math.Pow(fill, float64(h.Shape.Hashes)),
	}
}

// String describes the window in one line.
func (w *WindowStats) String() string {
	return fmt.Sprintf("%v to %s; %d documents count, from %s on, in %d slices; %d expired",
		time.Duration(w.Seconds)*time.Second, w.Clock.Format(time.RFC3339), w.Counting, w.Edge.Format(time.RFC3339), w.Slices, w.Expired)
}

// The lines of a dump. The JSON forms are a contract.
type (
	// DocumentLine is a kept document.
	DocumentLine struct {
		Document uint32    `json:"document"` // its number, in order of arrival, from 1
		ID       string    `json:"id"`
		Verdict  string    `json:"verdict"`
		Time     time.Time `json:"time"` // when it was kept
		Batch    string    `json:"batch,omitempty"`
	}
	// KeyLine is a key and the first documents that hold it, at most eight.
	KeyLine struct {
		Key       string   `json:"key"` // 16 hexadecimal digits
		Documents []uint32 `json:"documents"`
		Common    bool     `json:"common"` // eight held it at once: it is no evidence
	}
)

// Documents iterates over the live documents, in order. An error ends it.
func (f *Files) Documents() iter.Seq2[DocumentLine, error] {
	return linesOf(f.Table.Docs(1), func(d docmap.NumberedDoc) (DocumentLine, error) {
		r, err := dedup.ParseRecord(d.Data)
		if err != nil {
			return DocumentLine{}, fmt.Errorf("document %d: %w", d.Num, err)
		}
		return DocumentLine{
			Document: d.Num, ID: d.ID, Verdict: r.Verdict.String(),
			Time: time.Unix(r.Time, 0).UTC(), Batch: f.Table.BatchOf(d.Num),
		}, nil
	})
}

// linesOf converts the elements of a sequence to lines. An error ends it.
func linesOf[T, Line any](seq iter.Seq2[T, error], lineOf func(T) (Line, error)) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for t, err := range seq {
			var line Line
			if err == nil {
				line, err = lineOf(t)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// Keys iterates over the keys that live documents hold, ascending. An error ends it.
func (f *Files) Keys() iter.Seq2[KeyLine, error] {
	return linesOf(f.Table.All(), func(p docmap.Posting) (KeyLine, error) {
		line := KeyLine{Key: fmt.Sprintf("%016x", p.Key), Documents: p.Docs, Common: len(p.Docs) == dedup.MaxHolders}
		for len(line.Documents) > 0 && line.Documents[0] == 0 {
			line.Documents = line.Documents[1:]
		}
		return line, nil
	})
}
