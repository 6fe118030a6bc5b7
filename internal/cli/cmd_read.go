package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
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

// needInput refuses a command without inputs.
func needInput(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError{fmt.Errorf(`%s: no INPUT; name files or directories, or "-" for standard input`, shortPath(cmd))}
	}
	return nil
}

// findInputs finds the inputs named by arguments and reports the files passed over.
func (f *options) findInputs(cmd *cobra.Command, args []string) error {
	if err := f.formats.complete(f.source); err != nil {
		return usageError{err}
	}
	f.source.Stdin = cmd.InOrStdin()
	var passed []input.Passed
	var err error
	if f.Inputs, passed, err = f.formats.expand(args, f.source); err == nil {
		tellPassed(passed, cmd.ErrOrStderr())
	}
	return err
}

// documents reads all inputs.
func (f *options) documents() *corpus.Source { return f.formats.source(f.Inputs, f.source) }
