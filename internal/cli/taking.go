package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/pipeline"
)

func (f *options) registerSameID(fs *pflag.FlagSet) {
	oneOf(fs, &f.dropAgain, "again", "with --annotate from pipe to pipe: a document with the id and text of a kept one is kept again, or dropped",
		word("keep", false), word("drop", true))
	f.sameID = "keep"
	refine(fs, &f.sameID, "same-id", "a document with the id of a kept one and another text: keep both, or replace the earlier one; keep:again=drop removes a document that is sent again", "keep", "replace")
}

// taskSameID checks the flags about documents of one id, and the batch.
func (f *options) taskSameID(p *task) error {
	if !slices.Contains([]string{"", "keep", "replace"}, f.sameID) {
		return fmt.Errorf("--same-id %q: want one of keep, replace", f.sameID)
	}
	p.replace = f.sameID == "replace"
	switch {
	case f.dropAgain && !f.annotate:
		return errors.New("--same-id keep:again=drop is about the answers of --annotate to a pipe: without it, a document that comes again is removed as a copy")
	case f.filterOnly && f.batch != "":
		return errors.New("--batch needs the side table, and --filter-only has none: a filter cannot take anything back")
	case f.filterOnly && p.replace:
		return errors.New("--same-id replace needs the side table, and --filter-only has none: a filter cannot take anything back")
	case f.batch != "" && f.index == "":
		return errors.New("--batch needs --index: without it nothing outlives the run")
	case len(f.batch) > index.MaxBatchName:
		return errors.New("--batch: the name is too long")
	}
	return nil
}

// noting makes a job note the earlier documents for whose sake others are removed.
func noting(x *index.Index, job *pipeline.Job) {
	each := job.Each
	job.Each = func(id string, r *dedup.Result, counts dedup.Counts) error {
		x.NoteDependent(id, r)
		if each != nil {
			return each(id, r, counts)
		}
		return nil
	}
}
