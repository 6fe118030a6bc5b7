package pipeline

import (
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/report"
)

// Position is a place between two records.
type Position struct {
	Input int          `json:"input"` // index into the inputs
	At    corpus.Place `json:"line"`  // of the next record
	// Sum is corpus.AddRecord over all records of the input before it.
	Sum uint64 `json:"sum"`
}

// Written is how far each output was written: kept, report, rejects.
type Written [3]corpus.Mark

// Progress is how far a run has come. It is stored in the same transaction as
// what the run has remembered so far.
type Progress struct {
	At      Position     `json:"at"`
	Tally   report.Tally `json:"tally"`
	Written Written      `json:"written"`
	Ended   bool         `json:"ended"` // all is decided; outputs may not have their names yet
}
