package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
)

// indexStats is what firstseen stats tells. The JSON form is a contract.
type indexStats struct {
	Scheme string             `json:"scheme"`
	Table  *docmap.Stats      `json:"table"`  // null without a side table
	Filter *dedup.FilterState `json:"filter"` // null when it was not saved
}

func newStatsCommand() *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats --index DIR",
		Short: "Tell what an index holds",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usageError{errors.New("stats: give the index with --index DIR")}
			}
			s, err := readStats(dir)
			if err != nil {
				return fmt.Errorf("reading index %s: %w", dir, err)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(s)
			}
			return s.writeText(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&dir, "index", "", "directory of the index")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func readStats(dir string) (*indexStats, error) {
	s := &indexStats{}
	table, err := docmap.Open(filepath.Join(dir, dedup.TableFile), docmap.Options{ReadOnly: true})
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		stats := table.Stats()
		s.Table = &stats
		if err := table.Close(); err != nil {
			return nil, err
		}
	}
	h, err := bloomstore.ReadHeader(filepath.Join(dir, dedup.FilterFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.Table == nil:
		return nil, errors.New("there is no index: neither a side table nor a filter")
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		s.Scheme = h.Scheme
		f := dedup.HeaderState(h)
		s.Filter = &f
	}
	return s, nil
}

func (s *indexStats) writeText(w io.Writer) error {
	out := fmt.Sprintf("scheme   %s\n", s.Scheme)
	if t := s.Table; t != nil {
		out += fmt.Sprintf("table    %d documents, %d entries, %.1f MiB\n", t.Docs, t.Entries, float64(t.FileBytes)/(1<<20))
	}
	if f := s.Filter; f != nil {
		out += fmt.Sprintf("filter   %.1f MiB, %d of %d keys, %.1f%% of its bits set, false positives %.3g a segment\n",
			float64(f.Bytes)/(1<<20), f.Items, f.Capacity, 100*f.Fill, f.Rate)
	}
	_, err := io.WriteString(w, out)
	return err
}
