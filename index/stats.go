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
type TableStats = docmap.Stats

// TableStats returns the counts of the index's table, nil in an index without one.
func (x *Index) TableStats() *TableStats {
	if x.table == nil {
		return nil
	}
	s := x.table.Stats()
	return &s
}

// State returns the state of the index's filter, zero after Close.
func (x *Index) State() FilterState {
	if x.filter == nil {
		return FilterState{}
	}
	return stateOf(bloomstore.Header{Shape: x.filter.Shape(), Ones: x.filter.Ones(), Items: x.filter.Items()})
}

// FilterState returns the state of the filter file with the pending keys of the table, whose one bits
// it estimates. It returns nil if none was saved, and the state of the file if the table is damaged.
func (f *Files) FilterState() *FilterState {
	if f.Filter == nil {
		return nil
	}
	h := *f.Filter
	if f.Table != nil {
		_, _ = follows(f.Table, h.Stamp, func(keys []uint64) { h.Items += uint64(len(keys)) })
		m, added := float64(h.Shape.Bits), float64(h.Items-f.Filter.Items)
		h.Ones += uint64(math.Round((m - float64(h.Ones)) * -math.Expm1(-added*float64(h.Shape.Hashes)/m)))
	}
	s := stateOf(h)
	return &s
}

func stateOf(h bloomstore.Header) FilterState {
	fill := float64(h.Ones) / float64(h.Shape.Bits)
	return FilterState{
		Bytes: h.Shape.Bytes(), Items: h.Items, Capacity: h.Shape.Capacity(),
		Fill: fill, Rate: math.Pow(fill, float64(h.Shape.Hashes)),
	}
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
		var r dedup.Record
		if err := r.Parse(d.Data); err != nil {
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
