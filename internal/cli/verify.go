package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
	"github.com/firstseen/firstseen/internal/engine/pipeline/confirm"
)

// verifyFlag is the condition for removing a copy, by its text beside the earlier one. The word
// doubtful stands for the condition of the two-stage rules.
type verifyFlag struct{ condition string }

const doubtful = "doubtful"

func (f *verifyFlag) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.condition, "verify", "", "read the earlier text again before a removal: for doubtful copies, from a score of 0.5; or for every copy, with a condition such as --verify='lcs>=0.8', on contained, containment, edit, jaccard or lcs")
	fs.Lookup("verify").NoOptDefVal = doubtful
}

// parse returns the condition, or nil for none.
func (f *verifyFlag) parse() (*similarity.Condition, error) {
	switch {
	case f.doubtful():
		return &similarity.Verified, nil
	case !f.given():
		return nil, nil
	}
	c, err := similarity.ParseCondition(f.condition)
	if err != nil {
		return nil, fmt.Errorf("--verify: %w", err)
	}
	return &c, nil
}

func (f *verifyFlag) given() bool { return f.condition != "" && f.condition != "false" }

// doubtful reports whether texts decide only on doubtful copies. The environment says true.
func (f *verifyFlag) doubtful() bool { return f.condition == doubtful || f.condition == "true" }

func (f *verifyFlag) conflicts(d *dedupOptions) []conflict {
	return []conflict{
		{f.given() && d.filterOnly, "--verify reads the earlier text again, and --filter-only does not know the earlier document"},
		{f.given() && d.rules.RemoveMosaics, "--verify compares with one earlier text, and --method segments:mosaics=remove compares with several: give one of the two"},
	}
}

// checkVerify parses the condition for removals, after the rules are known.
func (f *dedupOptions) checkVerify() (err error) {
	for _, arg := range f.args {
		if _, err := similarity.ParseCondition(arg); (err == nil || arg == doubtful) && f.verify.condition == doubtful {
			return fmt.Errorf("--verify %s: join it to the flag with an equals sign: --verify='%s'", arg, arg)
		}
	}
	if f.verified, err = f.verify.parse(); f.verified != nil {
		f.rules.Confirm, f.rules.Verify = f.verified.String(), f.verify.doubtful()
	}
	return err
}

// readsEarlier returns the flag that makes the run read earlier texts again, or "".
func (f *dedupOptions) readsEarlier() string {
	switch {
	case f.verified != nil:
		return "--verify"
	case f.scheme.Passages > 0:
		return "--passages"
	}
	return ""
}

// checkRereads refuses inputs that cannot be read again.
func (f *dedupOptions) checkRereads() error {
	if flag := f.readsEarlier(); flag != "" && f.readsPipe() {
		return usageError{errors.New(flag + " reads earlier texts again, and an input is a pipe, which can be read only once: write it to a file first")}
	}
	return nil
}

// readEarlier makes the job read earlier texts again, and store the data needed for that. The
// scheme must have its key.
func (f *dedupOptions) readEarlier(ctx context.Context) error {
	if f.readsEarlier() == "" {
		return nil
	}
	f.earlier = confirm.NewInputs(ctx, input.NewFinder(f.inputs, f.source.Bounds).Find, func(in input.Input) *corpus.Source {
		return f.formats.source([]input.Input{in}, f.source)
	})
	texts, err := confirm.New(f.scheme, f.earlier)
	if err != nil {
		return err
	}
	if f.verified != nil {
		texts.Condition, f.Confirm = *f.verified, texts.Confirm
	}
	if f.scheme.Passages > 0 {
		f.Passages = confirm.NewPassages(texts, f.scheme.Passages).Find
	}
	f.Parsed = f.earlier.Keep
	f.Store = func(dst []byte, file string, doc *corpus.Document) []byte {
		return confirm.Place{File: file, At: doc.At}.Append(dst)
	}
	return nil
}
