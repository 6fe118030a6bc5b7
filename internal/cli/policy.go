package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/pipeline/choose"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/derive"
	"github.com/firstseen/firstseen/internal/engine/temporary"
)

func registerPolicy(fs *pflag.FlagSet, p *choose.Policy) {
	flags.By(fs, p.Prefer, "prefer", "which of several copies stays, decided after the run: FIELD=curated,crawled (the first of these values), folder=a,b, or FIELD=newest, oldest or longest; copies of one rank: the earliest")
	flags.By(fs, p.Within, "remove-within", "remove copies inside of a folder or a batch=FIELD (the documents of one value); a copy of another one is kept and marked in the report")
}

// checkPolicy refuses options that a choice after the run cannot honour.
func (f *dedupOptions) checkPolicy() error {
	if !f.policy.Given() {
		return nil
	}
	return meaning(
		conflict{f.policy.Field == choose.Folder && f.policy.By != "", "--prefer folder=" + f.policy.By + ": want the names of folders, the preferred first"},
		conflict{f.dir != "" || len(f.against) > 0, "--prefer and --remove-within choose among the documents of one run: leave out --index and --against, whose documents are in outputs of other runs"},
		conflict{f.filterOnly, "--prefer and --remove-within need the side table, and --filter-only has none"},
		conflict{f.outDir != "" || f.Annotate, "--prefer and --remove-within write one --out FILE of kept records: leave out --out-dir and --annotate"},
		conflict{f.sameID == "replace", "--same-id replace and --prefer both choose which document stays: give one"},
		conflict{f.scheme.Passages > 0, "--passages are those of the documents kept first: leave out --prefer and --remove-within"},
		conflict{isTable(f.Report), "--prefer and --remove-within write a report in lines of JSON: give --report another name"},
		conflict{f.formats.warc.Revisit.Write, "--format warc:revisit refers to a document that --prefer may remove: leave one of them out"},
	)
}

// checkPolicyInputs refuses inputs that cannot be read again, or lack the field.
func (f *dedupOptions) checkPolicyInputs() error {
	if !f.policy.Given() {
		return nil
	}
	if f.readsPipe() {
		return usageError{errors.New("--prefer and --remove-within read the inputs again, and one of them is a pipe: give files")}
	}
	when, rank, batch := f.policy.Fields()
	missing := cmp.Or(when, rank, batch)
	switch f.found.(type) {
	case nil, jsonl.Format, jsonarray.Format, csv.Format:
		missing = ""
	case parquet.Format:
		missing = when
	case warc.Format:
		missing = cmp.Or(rank, batch)
	}
	if missing == "" {
		return derive.CheckNames(f.inputs)
	}
	return usageError{fmt.Errorf("%s has no field %s that firstseen reads: --prefer folder=A,B and --remove-within folder need none", f.found.Name(), cmp.Or(when, rank, batch))}
}

// choose runs with --prefer or --remove-within. It decides like any run, into a temporary report.
// Then it writes the outputs again, as the policy decides.
func (f *dedupOptions) choose(cmd *cobra.Command) (err error) {
	dir, remove, err := temporary.New("report")
	if err != nil {
		return err
	}
	release, err := index.HoldTemporary(dir)
	defer func() { err = errors.Join(err, release(), remove()) }()
	if err != nil {
		return err
	}
	c := &choose.Choice{Policy: &f.policy, Report: filepath.Join(dir, index.TemporaryReport), Source: f.readAs}
	out, reported := f.Out, f.Report
	f.watched, f.Each, f.Out, f.Report = new(report.Summary), c.Each, "", c.Report
	bad := f.run(cmd)
	if f.Out, f.Report = out, reported; bad != nil && exitCode(cmd.Context(), bad) != exitBadRecords {
		return bad
	}
	copies, err := c.Offer(cmd.Context())
	if err != nil {
		return unknownField(err)
	}
	if copies {
		tellUnmet(cmd.ErrOrStderr(), &f.policy)
	}
	kept := int64(0)
	err = writeOutput(cmd, file{name: f.Out, around: f.Enclosure, head: f.Head}, func(out *output.Writer) error {
		return writeOutput(cmd, file{name: f.Report}, func(reported *output.Writer) (err error) {
			kept, err = c.Write(cmd.Context(), f.found, out, reported)
			return err
		})
	})
	if err != nil {
		return err
	}
	s := f.watched
	f.watched, s.Kept, s.Removed = nil, kept, s.Documents-kept // as they are now
	s.MostLost = s.MostLost[:0]                                // which are not
	file, err := f.openSummary()
	if err != nil {
		return errors.Join(bad, err)
	}
	return errors.Join(bad, f.tell(cmd, s, file))
}

// readAs returns the inputs, with other fields as the text, the id or the time.
func (f *dedupOptions) readAs(as choose.Reading) (*corpus.Source, error) {
	read := f.formats
	read.accept = nil
	fields := &read.jsonl.Fields
	fields.Text, fields.ID, fields.Time = cmp.Or(as.Text, fields.Text), cmp.Or(as.ID, fields.ID), cmp.Or(as.Time, fields.Time)
	if as.Text != "" {
		fields.HTML = ""
	}
	err := read.complete(f.source)
	return read.source(f.inputs, f.source), err
}

// unknownField says which flag names a field without values.
func unknownField(err error) error {
	none, is := errors.AsType[*choose.FieldError](err)
	switch {
	case !is:
		return err
	case none.Time:
		return usageError{fmt.Errorf("--prefer %s: no copy has a time in this field, such as 2024-01-05T00:00:00Z or Unix seconds", none.Field)}
	case none.Batch:
		return usageError{fmt.Errorf("--remove-within batch=%s: no copy has this field, with a string or a number", none.Field)}
	}
	return usageError{fmt.Errorf("--prefer %s: no copy has this field, with a string or a number", none.Field)}
}

// tellUnmet names the values of --prefer that no copy has: they may be mistyped.
func tellUnmet(stderr io.Writer, p *choose.Policy) {
	for _, value := range p.Unmet() {
		fmt.Fprintf(stderr, "firstseen: --prefer: no copy has the %s %q\n", p.Field, value)
	}
}
