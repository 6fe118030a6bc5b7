package cli

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/pipeline"
)

// taking are the flags of dedup for documents that may be taken back.
type taking struct {
	batch, sameID string
}

func (f *taking) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.batch, "batch", "", "name for what this run keeps, by which firstseen cancel can take it back; needs --index")
	fs.StringVar(&f.sameID, "same-id", "keep", "a document with the id of a kept one and another text: keep both, or replace the earlier one")
}

// check checks the flags for an index. replace is what --same-id says.
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

// noting has a job note for whose sake documents are removed.
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
