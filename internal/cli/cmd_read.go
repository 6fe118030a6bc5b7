package cli

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
)

func newReadCommand() *cobra.Command {
	var f options
	cmd := command("read", needInput, f.texts)
	f.registerInputs(cmd.Flags())
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
	needShards = need("DIR", "name the folder that firstseen features has written")
)

// findInputs finds the inputs named by arguments and their format. It reports the files passed over.
func (f *options) findInputs(cmd *cobra.Command, args []string) error {
	if err := f.formats.complete(f.source); err != nil {
		return usageError{err}
	}
	f.source.Stdin = cmd.InOrStdin()
	var err error
	f.Inputs, f.passed, err = f.formats.expand(args, f.source)
	if err = f.leaveOut(err); err == nil {
		f.found, err = f.readable()
	}
	if err == nil {
		f.tellPassed(cmd.ErrOrStderr())
	}
	return err
}

func (f *options) documents() *corpus.Source { return f.formats.source(f.Inputs, f.source) }

// eachDocument reads the documents of all inputs and names the bad records on standard error.
func eachDocument(cmd *cobra.Command, f *options, do func(corpus.Record) error) error {
	bad := bads{named: cmd.ErrOrStderr(), fate: "are passed over"}
	for r, err := range corpus.Records(cmd.Context(), f.documents()) {
		good, err := bad.check(r, err, f.MaxBad)
		if good {
			err = do(r)
		}
		if err != nil {
			return err
		}
	}
	return bad.end()
}

// inParallel reads the documents of all inputs in several goroutines, each with its own reader.
// emit gets the results in order. bad counts all records, and takes the bad ones.
func inParallel[T any](cmd *cobra.Command, f *options, bad *bads, newReader func() (corpus.Reader[T], error), emit func(*corpus.Block, *T) error) error {
	bad.named = cmd.ErrOrStderr()
	return corpus.EachParallel(cmd.Context(), f.documents(), f.Workers, newReader, func(p *corpus.Part[T]) error {
		bad.noun = p.Block.Format.Noun()
		bad.all += p.Good + int64(len(p.Bad))
		for _, record := range p.Bad {
			bad.add(record)
		}
		if err := bad.over(f.MaxBad); err != nil {
			return err
		}
		return emit(&p.Block, &p.Result)
	})
}

// readWhole reads an input as one text, in the encoding given by cfg.
func readWhole(in input.Input, cfg corpus.SourceConfig) (text []byte, err error) {
	r := cfg.Stdin
	if in.Path != input.Stdin {
		f, err := in.Open()
		if err != nil {
			return nil, err
		}
		defer f.Close() // it was only read
		r = f
	}
	text, err = io.ReadAll(io.LimitReader(r, int64(cfg.MaxRecord)+1))
	if len(text) > cfg.MaxRecord {
		return nil, fmt.Errorf("%s is longer than the limit of %d bytes; allow it with --limit record=SIZE", in.Name, cfg.MaxRecord)
	}
	if err != nil {
		return nil, err
	}
	return wholeText(in.Name, text, cfg.Encoding)
}
