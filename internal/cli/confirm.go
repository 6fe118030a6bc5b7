package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/compare/similarity"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/pipeline"
	"github.com/firstseen/firstseen/pipeline/confirm"
)

// confirmFlags are the flags that choose how copies are confirmed.
type confirmFlags struct {
	condition string
	verify    bool
}

func (f *confirmFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.condition, "confirm", "", "remove a copy only if its text, beside the earlier one read again, reaches this: a score and a share such as lcs>=0.8; scores are contained, containment, edit, jaccard and lcs")
	fs.BoolVar(&f.verify, "verify", false, "look for copies from a score of 0.5 on, and let the two texts decide where the score leaves a doubt")
}

// parse returns the condition, nil for none.
func (f *confirmFlags) parse() (*similarity.Condition, error) {
	switch {
	case f.verify && f.condition != "":
		return nil, errors.New("--verify has a condition of its own: leave out --confirm")
	case f.verify:
		return &similarity.Verified, nil
	case f.condition == "":
		return nil, nil
	}
	c, err := similarity.ParseCondition(f.condition)
	if err != nil {
		return nil, fmt.Errorf("--confirm: %w", err)
	}
	return &c, nil
}

// name is the flag that was given.
func (f *confirmFlags) name() string {
	if f.verify {
		return "--verify"
	}
	return "--confirm"
}

// confirming is how a run confirms copies. The zero value does not.
type confirming struct {
	condition *similarity.Condition
	flag      string // the flag that asked for it
	inputs    *confirm.Inputs
}

// taskConfirm checks --confirm and --verify, after the rules and the inputs are known.
func (f *settings) taskConfirm(p *task) error {
	c, err := f.confirm.parse()
	if c == nil || err != nil {
		return err
	}
	switch {
	case f.filterOnly:
		return fmt.Errorf("%s reads the earlier text again, and with --filter-only nobody knows which that is", f.confirm.name())
	case p.rules.RemoveMosaics:
		return fmt.Errorf("%s compares with one earlier text, and --mosaics remove removes by several: give one of the two", f.confirm.name())
	}
	p.confirming.condition, p.confirming.flag = c, f.confirm.name()
	p.rules.Confirm, p.rules.Verify = c.String(), f.confirm.verify
	return nil
}

// checkConfirm refuses inputs that cannot be read again.
func (t *task) checkConfirm() error {
	if t.confirming.condition != nil && t.readsPipe() {
		return usageError{fmt.Errorf("%s reads earlier texts again, and an input is a pipe, which cannot be: write it to a file first", t.confirming.flag)}
	}
	return nil
}

// confirm makes a job confirm its copies and store the data needed for that. The scheme has its
// key.
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
	job.Confirm, job.Parsed = c.Confirm, t.confirming.inputs.Keep
	others := job.Store
	job.Store = func(dst []byte, file string, doc *corpus.Document) []byte {
		if others != nil {
			dst = others(dst, file, doc)
		}
		return confirm.Place{File: file, At: doc.At}.Append(dst)
	}
	return nil
}

// close releases everything that confirming holds.
func (c *confirming) close() error {
	if c.inputs == nil {
		return nil
	}
	return c.inputs.Close()
}
