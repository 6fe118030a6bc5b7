package report

import (
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
)

// tabled is a [Reported] as a row of Parquet. docs/manual.md names the fields that it lacks.
type tabled struct {
	ID        string       `json:"id"`
	Verdict   string       `json:"verdict"`
	Kept      bool         `json:"kept"`
	Of        *string      `json:"of"`
	Why       *string      `json:"why"`
	Exact     bool         `json:"exact"`
	SameID    bool         `json:"same_id"`
	Again     bool         `json:"again"`
	Score     float64      `json:"score"`
	Seen      float64      `json:"seen"`
	Contained float64      `json:"contained"`
	Estimated bool         `json:"estimated"`
	Shared    int32        `json:"shared"`
	Count     int32        `json:"segments"`
	OfCount   int32        `json:"of_segments"`
	Also      []tabledAlso `json:"also"`
	Sample    []string     `json:"sample"`
	Differs   *string      `json:"differs"`
	File      string       `json:"file"`
	Line      corpus.Place `json:"line" columns:"part line"`
	Time      *string      `json:"time"`
}

type tabledAlso struct {
	ID     string `json:"id"`
	Shared int32  `json:"shared"`
}

// Tabled returns an enclosure for a report in Parquet: its lines become rows.
func Tabled() (output.Enclosure, error) { return parquet.Lines[tabled]() }
