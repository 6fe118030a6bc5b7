package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/alike"
	"github.com/firstseen/firstseen/confirm"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/pipeline"
)

// confirmFlags say how copies are confirmed.
type confirmFlags struct{ condition string }

func (f *confirmFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.condition, "confirm", "", "remove a copy only if its text, beside the earlier one read again, reaches this: a score and a share such as lcs>=0.8; scores are contained, containment, edit, jaccard and lcs")
}

// confirming is how a run confirms copies. The zero value does not.
type confirming struct {
	condition *alike.Condition
	inputs    *confirm.Inputs
}

// taskConfirm checks --confirm, after the rules and the inputs are known.
func (f *settings) taskConfirm(p *task) error {
	if f.confirm.condition == "" {
		return nil
	}
	c, err := alike.ParseCondition(f.confirm.condition)
	switch {
	case err != nil:
		return fmt.Errorf("--confirm: %w", err)
	case f.filterOnly:
		return errors.New("--confirm reads the earlier text again, and with --filter-only nobody knows which that is")
	case p.rules.RemoveMosaics:
		return errors.New("--confirm compares with one earlier text, and --mosaics remove removes by several: give one of the two")
	}
	p.confirming.condition, p.rules.Confirm = &c, c.String()
	return nil
}

// checkConfirm refuses what cannot be read again.
func (t *task) checkConfirm() error {
	if t.confirming.condition != nil && t.readsPipe() {
		return usageError{errors.New("--confirm reads earlier texts again, and an input is a pipe, which cannot be: write it to a file first")}
	}
	return nil
}

// confirm has a job confirm its copies, and store what that needs. The scheme has its key.
func (t *task) confirm(ctx context.Context, job *pipeline.Job) error {
	if t.confirming.condition == nil {
		return nil
	}
	t.confirming.inputs = confirm.NewInputs(ctx, corpus.NewFinder(t.inputs, t.source).Find, func(in corpus.Input) *corpus.Source {
		return t.formats.source([]corpus.Input{in}, t.source)
	})
	c, err := confirm.New(*t.confirming.condition, t.scheme, t.confirming.inputs)
	if err != nil {
		return err
	}
	job.Confirm = c.Confirm
	others := job.Store
	job.Store = func(dst []byte, file string, doc *corpus.Document) []byte {
		if others != nil {
			dst = others(dst, file, doc)
		}
		return confirm.Place{File: file, At: doc.At}.Append(dst)
	}
	return nil
}

// close gives back what confirming holds.
func (c *confirming) close() error {
	if c.inputs == nil {
		return nil
	}
	return c.inputs.Close()
}
