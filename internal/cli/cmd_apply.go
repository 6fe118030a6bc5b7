package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/report/derive"
	"github.com/firstseen/firstseen/internal/report/lines"
)

// applying are the flags of report apply.
type applying struct {
	rereading
	out    *output.Writer
	format corpus.Format
	bad    bads
	all    int64
}

func newApplyCommand() *cobra.Command {
	var f applying
	cmd := command("report-apply", nil, func(cmd *cobra.Command, args []string) error {
		if err := f.open(cmd, args); err != nil {
			return err
		}
		return f.run(cmd)
	})
	f.register(cmd, "write the kept records to this `file`, as they came; .gz or .zst compresses; - is standard output")
	registerKeep(cmd.Flags(), &f.Others, "the records to write: originals, or duplicates, the removed ones")
	return cmd
}

func (f *applying) run(cmd *cobra.Command) (err error) {
	t := &f.options
	if err := output.CheckOutputs(f.Inputs, "", f.Out); err != nil {
		return usageError{err}
	}
	for _, look := range []func() error{t.recognize, t.enclose, t.lead} {
		if err := look(); err != nil {
			return err
		}
	}
	f.format = t.found
	kept := file{name: f.Out, around: t.Enclosure, head: t.Head}
	if err := writeOutput(cmd, kept, func(out io.Writer) error {
		f.out = out.(recordWriter).to
		begin := func(int) error { return nil }
		return derive.Each(cmd.Context(), f.documents(), len(f.Inputs), f.rereading.report, begin, f.record)
	}); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d records read, %d of them bad\n", f.all, f.bad.n)
	return f.bad.end(f.all, f.format.Noun())
}

func (f *applying) record(doc *corpus.Document, line *lines.Line) error {
	f.all++
	switch {
	case doc.Bad != nil:
		f.bad.add(doc.Bad)
		return nil
	case doc.Empty, !doc.Other && (line == nil || line.Kept) == f.Others:
		return nil
	}
	return f.format.Keep(f.out, doc.Raw)
}
