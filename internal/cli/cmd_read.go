package cli

import (
	"bufio"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
)

func newReadCommand() *cobra.Command {
	var f options
	cmd := command("read", needInput, f.texts)
	fs := cmd.Flags()
	f.registerInputs(fs)
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
	if err := f.findInputs(cmd, args); err != nil {
		return err
	}
	limitHeap(f.source.MaxWindow, 0)
	out := bufio.NewWriter(cmd.OutOrStdout())
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	err := eachDocument(cmd, f.documents(), func(b *corpus.Block, doc *corpus.Document) error {
		line := seenText{ID: string(doc.ID), Text: string(doc.Text), Exact: doc.Exact, File: b.File, Line: doc.At}
		if !doc.Time.IsZero() {
			line.Time = &doc.Time
		}
		return lines.Encode(line)
	})
	return flushed(out, err)
}
