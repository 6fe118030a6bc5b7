package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/internal/report"
)

// indexStats is the output of firstseen stats. The JSON form is a contract.
type indexStats struct {
	Scheme string             `json:"scheme"`
	Table  *index.TableStats  `json:"table"`  // null without a side table
	Filter *index.FilterState `json:"filter"` // null when it was not saved
	// Unfinished: a run was interrupted on it, see dedup --help.
	Unfinished bool `json:"unfinished_run"`
}

func newStatsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stats DIR",
		Short:   "Count the documents and keys of an index",
		Example: "  firstseen index stats seen/",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return onIndex(cmd, noArgs, func(cmd *cobra.Command, dir string, _ []string) error {
		s, err := readStats(dir)
		if err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(s)
		}
		return s.writeText(cmd.OutOrStdout())
	})
}

func readStats(dir string) (_ *indexStats, err error) {
	files, err := index.OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	s := &indexStats{Scheme: files.Scheme()}
	if files.Filter != nil {
		f := index.HeaderState(*files.Filter)
		s.Filter = &f
	}
	if files.Table == nil {
		s.Unfinished = files.Journals
		return s, nil
	}
	t := index.StatsOf(files.Table)
	s.Table = &t
	stored, err := files.Table.State(pipeline.LedgerName)
	s.Unfinished = len(stored) > 0
	return s, err
}

func (s *indexStats) writeText(w io.Writer) error {
	out := fmt.Sprintf("scheme   %s\n", s.Scheme)
	if t := s.Table; t != nil {
		out += fmt.Sprintf("table    %d documents, %d entries, %s\n", t.Documents, t.Entries, sizeText(uint64(t.Bytes)))
	}
	if t := s.Table; t != nil && t.Forgotten > 0 {
		out += fmt.Sprintf("forgotten %d of %d documents (%.1f%%); the filter and the disk may have something of them until firstseen index compact\n",
			t.Forgotten, t.Documents, 100*float64(t.Forgotten)/float64(t.Documents))
	}
	if t := s.Table; t != nil && t.Window != nil {
		out += fmt.Sprintf("window   %v\n", t.Window)
	}
	if f := s.Filter; f != nil {
		out += fmt.Sprintf("filter   %s, %d of %d keys, %.1f%% of its bits set, false positives 1 in %s a segment\n",
			sizeText(f.Bytes), f.Items, f.Capacity, 100*f.Fill, report.OneIn(f.Rate))
	}
	if s.Unfinished {
		out += "run      unfinished: run the same command again to finish it or, from a pipe, to go on\n"
	}
	_, err := io.WriteString(w, out)
	return err
}
