package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
)

func newReadCommand() *cobra.Command {
	var f options
	cmd := &cobra.Command{
		Use:     "read INPUT...",
		Short:   "Print the documents of inputs as dedup sees them: id, text and place",
		Long:    readLong,
		Example: "  firstseen read crawl.warc.gz | head -3",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New(`read: no INPUT; name files or directories, or "-" for standard input`)}
			}
			return nil
		},
		RunE: f.texts,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.reading.register(fs)
	f.limits.register(fs, &f.MaxBad)
	return cmd
}

// seenText is a line that firstseen read prints. The JSON form is a contract.
type seenText struct {
	ID    string       `json:"id"`
	Text  string       `json:"text"`
	Exact bool         `json:"exact_only,omitempty"`
	File  string       `json:"file"`
	Line  corpus.Place `json:"line"`
	Time  *time.Time   `json:"time,omitempty"`
}

func (f *options) texts(cmd *cobra.Command, args []string) error {
	in, err := f.toRead(cmd, args)
	if err != nil {
		return err
	}
	limitHeap(in.cfg.MaxWindow, 0)
	out := bufio.NewWriter(cmd.OutOrStdout())
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	err = eachDocument(cmd, in.source(), func(b *corpus.Block, doc *corpus.Document) error {
		line := seenText{ID: string(doc.ID), Text: string(doc.Text), Exact: doc.Exact, File: b.File, Line: doc.At}
		if !doc.Time.IsZero() {
			line.Time = &doc.Time
		}
		return lines.Encode(line)
	})
	if flushErr := out.Flush(); !errors.Is(err, flushErr) { // the same error was reported already
		err = errors.Join(err, flushErr)
	}
	return err
}
