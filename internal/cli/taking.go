package cli

import (
	"cmp"
	"errors"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/pipeline"
)

// taking are the flags of dedup for documents that may be taken back.
type taking struct {
	batch, sameID string
	again         string // the fate of a document kept before
}

func (f *taking) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.batch, "batch", "", "name for what this run keeps, by which firstseen cancel can take it back; needs --index")
	fs.StringVar(&f.sameID, "same-id", "keep", "a document with the id of a kept one and another text: keep both, or replace the earlier one")
	fs.StringVar(&f.again, "again", "keep", "with --annotate from pipe to pipe: a document that was kept before, with its id and text, is kept again, for whoever lost the answer; or drop: it is removed, for whoever fetches pages again")
}

// dropAgain checks the flag about documents sent again.
func (f *taking) dropAgain(annotate bool) (drop bool, err error) {
	if drop, err = choose("--again", cmp.Or(f.again, "keep"), map[string]bool{"keep": false, "drop": true}); drop && !annotate {
		err = errors.New("--again drop is about the answers of --annotate to a pipe: without it, a document that comes again is removed as a copy")
	}
	return drop, err
}

// check checks the flags for an index. replace is the choice made by --same-id.
func (f *taking) check(dir string, filterOnly bool) (replace bool, err error) {
	if f.sameID == "" { // not one of the flags of this command
		f.sameID = "keep"
	}
	if replace, err = choose("--same-id", f.sameID, map[string]bool{"keep": false, "replace": true}); err != nil {
		return false, err
	}
	switch {
	case filterOnly && f.batch != "":
		return false, errors.New("--batch needs the side table, and --filter-only has none: a filter cannot take anything back")
	case filterOnly && replace:
		return false, errors.New("--same-id replace needs the side table, and --filter-only has none: a filter cannot take anything back")
	case f.batch != "" && dir == "":
		return false, errors.New("--batch needs --index: without it nothing outlives the run")
	case len(f.batch) > index.MaxBatchName:
		return false, errors.New("--batch: the name is too long")
	}
	return replace, nil
}

// noting makes a job note the earlier documents for whose sake others are removed.
func noting(x *index.Index, job *pipeline.Job) {
	each := job.Each
	job.Each = func(id string, r *dedup.Result, counts dedup.Counts) error {
		x.NoteRemoved(id, r)
		if each != nil {
			return each(id, r, counts)
		}
		return nil
	}
}
