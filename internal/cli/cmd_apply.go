package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/report/lines"
)

func newApplyCommand() *cobra.Command {
	var r rereading
	cmd := command("report-apply", nil, func(cmd *cobra.Command, args []string) error {
		if err := r.open(cmd, args); err != nil {
			return err
		}
		return r.apply(cmd)
	})
	r.register(cmd, "write the kept records to this `file`, as they came; .gz or .zst compresses; - is standard output")
	registerKeep(cmd.Flags(), &r.Others, "the records to write: originals, or duplicates, the removed ones")
	return cmd
}

func (r *rereading) apply(cmd *cobra.Command) error {
	t := &task{options: &r.options}
	if err := output.CheckOutputs(r.Inputs, "", r.Out); err != nil {
		return usageError{err}
	}
	for _, look := range []func() error{t.recognize, t.enclose, t.lead} {
		if err := look(); err != nil {
			return err
		}
	}
	bad, all, err := r.rewrite(cmd, t, func(doc *corpus.Document, line *lines.Line) ([]byte, error) {
		if doc.Empty || !doc.Other && (line == nil || line.Kept) == r.Others {
			return nil, nil
		}
		return doc.Raw, nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d records read, %d of them bad\n", all, bad.n)
	return bad.end(all, t.found.Noun())
}
