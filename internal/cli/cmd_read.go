package cli

import (
	"bufio"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
)

func newReadCommand() *cobra.Command {
	var f inputFlags
	cmd := command("read", needInput, func(cmd *cobra.Command, args []string) error { return readTexts(cmd, &f, args) })
	f.register(cmd.Flags())
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

func readTexts(cmd *cobra.Command, f *inputFlags, args []string) error {
	if err := f.findInputs(cmd, args); err != nil {
		return err
	}
	limitHeap(f.source.MaxWindow, 0)
	out := bufio.NewWriter(cmd.OutOrStdout())
	lines := newEncoder(out)
	err := eachDocument(cmd, f, func(r corpus.Record) error {
		line := seenText{ID: string(r.ID), Text: string(r.Text), Exact: r.Exact, File: r.Block.File, Line: r.At}
		if !r.Time.IsZero() {
			line.Time = &r.Time
		}
		return lines.Encode(line)
	})
	return flushed(out, err)
}

// need refuses a command without arguments.
func need(what, remedy string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError{fmt.Errorf("%s: no %s; %s", shortPath(cmd), what, remedy)}
		}
		return nil
	}
}

var (
	needInput  = need("INPUT", `name files or directories, or "-" for standard input`)
	needReport = need("REPORT", "name the file that firstseen dedup --report has written")
	needShards = need("DIR", "name the folder that firstseen bulk features has written")
)
