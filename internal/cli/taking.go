package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/index"
)

func (f *options) registerSameID(fs *pflag.FlagSet) {
	oneOf(fs, &f.DropRetries, "again", "with --annotate from pipe to pipe: a document with the id and text of a kept one is kept again, or dropped",
		word("keep", false), word("drop", true))
	f.sameID = "keep"
	refine(fs, &f.sameID, "same-id", "a document with the id of a kept one and another text: keep both, or replace the earlier one; keep:again=drop removes a document that is sent again", "keep", "replace")
}

// taskSameID checks the flags about documents of one id, and the batch.
func (f *options) taskSameID(p *task) error {
	if !slices.Contains([]string{"", "keep", "replace"}, f.sameID) {
		return fmt.Errorf("--same-id %q: want one of keep, replace", f.sameID)
	}
	p.ReplaceSameID = f.sameID == "replace"
	switch {
	case f.DropRetries && !f.Annotate:
		return errors.New("--same-id keep:again=drop is about the answers of --annotate to a pipe: without it, a document that comes again is removed as a copy")
	case f.filterOnly && f.Batch != "":
		return errors.New("--batch needs the side table, and --filter-only has none: a filter cannot take anything back")
	case f.filterOnly && p.ReplaceSameID:
		return errors.New("--same-id replace needs the side table, and --filter-only has none: a filter cannot take anything back")
	case f.Batch != "" && f.index == "":
		return errors.New("--batch needs --index: without it nothing outlives the run")
	case len(f.Batch) > index.MaxBatchName:
		return errors.New("--batch: the name is too long")
	}
	return nil
}
