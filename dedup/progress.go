package dedup

// Position is a place between two records.
type Position struct {
	Input int   `json:"input"` // index into the inputs
	Line  int64 `json:"line"`  // of the next record, from 1
}

// Written is how long each output was: kept, report, rejects.
type Written [3]int64

// Progress is how far a run has come. It is stored in the same transaction as
// what the run has remembered so far.
type Progress struct {
	At      Position `json:"at"`
	Tally   Tally    `json:"tally"`
	Written Written  `json:"written"`
	Ended   bool     `json:"ended"` // all is decided; outputs may not have their names yet
}
