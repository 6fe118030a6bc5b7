package index

import (
	"fmt"
	"iter"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
)

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
	// KeyLine is a key, and the documents that hold it: the first eight at most.
	KeyLine struct {
		Key       string   `json:"key"` // 16 hexadecimal digits
		Documents []uint32 `json:"documents"`
		Common    bool     `json:"common"` // eight held it at one time: it is no evidence
	}
	// RunLine is a sorted run of the table.
	RunLine struct {
		Run     uint32 `json:"run"`
		Of      string `json:"of"` // "keys" or "ids"
		Level   int    `json:"level"`
		First   uint32 `json:"first"` // document it covers; 0 where dead ones were left out
		Last    uint32 `json:"last"`
		Entries uint64 `json:"entries"`
		Merging bool   `json:"merging"`
	}
	// BatchLine is a batch.
	BatchLine struct {
		Batch     string `json:"batch"`
		Documents uint32 `json:"documents"` // kept
		Live      uint32 `json:"live"`      // of them, not taken back
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

// linesOf iterates over the lines of a sequence. An error ends it.
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

// Runs lists the runs of the table.
func (f *Files) Runs() []RunLine {
	var lines []RunLine
	for _, r := range f.Table.Runs() {
		of := "keys"
		if r.IDs {
			of = "ids"
		}
		lines = append(lines, RunLine{r.ID, of, r.Level, r.First, r.Last, r.Entries, r.Merging})
	}
	return lines
}

// Batches lists the batches by name.
func (f *Files) Batches() []BatchLine {
	lines := []BatchLine{}
	for _, b := range f.Table.Batches() {
		lines = append(lines, BatchLine{b.Name, b.Documents, b.Live})
	}
	return lines
}
