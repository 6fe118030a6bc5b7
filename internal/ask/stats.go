package ask

import (
	"context"
	"errors"
	"net/http"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// Summary is the output of firstseen index stats. The JSON form is a contract.
type Summary struct {
	Scheme string             `json:"scheme"`
	Table  *index.TableStats  `json:"table"`  // null without a side table
	Filter *index.FilterState `json:"filter"` // null if it was not saved
	// Unfinished reports an interrupted run on the index; see dedup --help.
	Unfinished bool `json:"unfinished_run"`
}

// Stats counts what an index holds.
func Stats(ctx context.Context, dir string) (*Summary, error) {
	h, err := holderOf(dir)
	if err != nil || h == nil {
		return readStats(dir)
	}
	s := new(Summary)
	err = h.ask(ctx, http.MethodGet, "/v1/stats", nil, s)
	return s, err
}

func readStats(dir string) (_ *Summary, err error) {
	files, err := index.OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	s := &Summary{Scheme: files.SchemeName, Filter: files.FilterState()}
	if files.Table == nil {
		s.Unfinished = files.Journals
		return s, nil
	}
	t := files.Table.Stats()
	s.Table = &t
	stored, err := files.Table.State(pipeline.LedgerName)
	s.Unfinished = len(stored) > 0
	return s, err
}
