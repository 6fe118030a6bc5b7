package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/compare/similarity"
	"github.com/firstseen/firstseen/internal/pipeline/confirm"
)

// verifyFlag is the condition under which a copy is removed, by its text beside the earlier one.
// The word doubtful stands for the condition of the two-stage rules.
type verifyFlag struct{ condition, old string }

const doubtful = "doubtful"

func (f *verifyFlag) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.condition, "verify", "", "read the earlier text again before a removal: doubtful copies, from a score of 0.5 on; or every copy, with a condition such as --verify='lcs>=0.8', of contained, containment, edit, jaccard or lcs")
	fs.Lookup("verify").NoOptDefVal = doubtful
	fs.StringVar(&f.old, "confirm", "", "as --verify=")
	hide(fs, "confirm")
}

// parse returns the condition, nil for none.
func (f *verifyFlag) parse() (*similarity.Condition, error) {
	switch {
	case f.condition != "" && f.old != "":
		return nil, errors.New("--verify has a condition of its own: leave out --confirm")
	case f.doubtful():
		return &similarity.Verified, nil
	case !f.given():
		return nil, nil
	}
	c, err := similarity.ParseCondition(f.condition + f.old)
	if err != nil {
		return nil, fmt.Errorf("--verify: %w", err)
	}
	return &c, nil
}

// given reports whether a condition is.
func (f *verifyFlag) given() bool { return f.old != "" || f.condition != "" && f.condition != "false" }

// doubtful reports whether the texts decide only about doubtful copies. The environment says true.
func (f *verifyFlag) doubtful() bool { return f.condition == doubtful || f.condition == "true" }

// confirming is how a run confirms copies. The zero value does not.
type confirming struct {
	condition *similarity.Condition
	inputs    *confirm.Inputs
	passages  bool
}

// reads reports whether earlier texts are read again.
func (c *confirming) reads() bool { return c.condition != nil || c.passages }

// checkVerify finds which earlier texts are read again, after the rules and the inputs are known.
func (f *options) checkVerify() error {
	for _, arg := range f.Args {
		if _, err := similarity.ParseCondition(arg); (err == nil || arg == doubtful) && f.verify.condition == doubtful {
			return fmt.Errorf("--verify %s: a condition stands behind an equals sign: --verify='%s'", arg, arg)
		}
	}
	f.confirming.passages = f.Scheme.Passages > 0
	c, err := f.verify.parse()
	if c == nil || err != nil {
		return err
	}
	f.confirming.condition = c
	f.Rules.Confirm, f.Rules.Verify = c.String(), f.verify.doubtful()
	return nil
}

// checkRereads refuses inputs that cannot be read again.
func (f *options) checkRereads() error {
	if f.confirming.reads() && f.ReadsPipe() {
		return usageError{errors.New(f.confirming.flag() + " reads earlier texts again, and an input is a pipe, which cannot be: write it to a file first")}
	}
	return nil
}

// confirm makes the job confirm its copies and store the data needed for that. The scheme has its
// key.
func (f *options) confirm(ctx context.Context) error {
	if !f.confirming.reads() {
		return nil
	}
	f.confirming.inputs = confirm.NewInputs(ctx, input.NewFinder(f.Inputs, f.source.Bounds()).Find, func(in input.Input) *corpus.Source {
		return f.formats.source([]input.Input{in}, f.source)
	})
	texts, err := confirm.New(f.Scheme, f.confirming.inputs)
	if err != nil {
		return err
	}
	if c := f.confirming.condition; c != nil {
		texts.Condition, f.Confirm = *c, texts.Confirm
	}
	if f.confirming.passages {
		f.Passages = confirm.NewPassages(texts, f.Scheme.Passages).Find
	}
	f.Parsed = f.confirming.inputs.Keep
	f.Store = func(dst []byte, file string, doc *corpus.Document) []byte {
		return confirm.Place{File: file, At: doc.At}.Append(dst)
	}
	return nil
}

// flag is the one that makes the run read earlier texts again.
func (c *confirming) flag() string {
	if c.condition != nil {
		return "--verify"
	}
	return "--passages"
}

// close releases everything that confirming holds.
func (c *confirming) close() error {
	if c.inputs == nil {
		return nil
	}
	return c.inputs.Close()
}
