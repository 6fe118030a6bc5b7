package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/bulk"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/pipeline/choose"
	"github.com/firstseen/firstseen/internal/engine/pipeline/confirm"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// dedupOptions are the flags of dedup. Flags about the run itself set the fields of its job. Checks
// set the fields that follow from flags and inputs.
type dedupOptions struct {
	inputFlags
	indexFlags
	pipeline.Job

	// Copies.
	verify string // condition of removals by the text beside the earlier one; "" for none
	sameID string
	policy choose.Policy

	// Remembering and work.
	against      []string
	every        time.Duration
	memtableKeys int
	quiet        bool
	verbose      bool

	// Outputs.
	outDir, summary string
	split           splitFlag

	// Set by the checks and by a run.
	shards   []*bulk.Manifest      // with the features of the inputs; nil if their texts are read
	secret   []byte                // of the shards
	notice   string                // the gaps left by an interrupted run, to be reported
	further  *index.Against        // nil for none
	verified *similarity.Condition // condition of removals; nil for none
	earlier  *confirm.Inputs       // nil if no earlier text is read again
	watched  *report.Summary       // summary of an unfinished run with --prefer or --remove-within
}

func newDedupCommand() *cobra.Command {
	var f dedupOptions
	cmd := command("dedup", needInput, func(cmd *cobra.Command, args []string) error {
		if err := f.check(args); err != nil {
			return err
		}
		stderr := cmd.ErrOrStderr()
		f.tellPassed(stderr)
		tellTwice(f.inputs, stderr)
		f.tellEmpty(stderr)
		if !f.quiet {
			f.tellLines(cmd.Context(), stderr)
		}
		if f.dir == "" && f.Tree == nil && strings.Join(f.outputs(), "") == "" {
			fmt.Fprintln(stderr, "firstseen: this run writes nothing and remembers nothing: give --out FILE for the kept documents, --report FILE for the reasons of the others, or --index DIR to remember them")
		}
		if f.policy.Given() {
			return f.choose(cmd)
		}
		return f.run(cmd)
	})
	cmd.SuggestFor = []string{"deduplicate", "uniq"}
	f.register(cmd.Flags())
	return cmd
}

// register registers the flags, in the sections of the help.
func (f *dedupOptions) register(fs *pflag.FlagSet) {
	method, keepRemove := f.registerMethod(fs), []string{"keep", "remove"}
	method.Add("segments", "mosaics", flags.Word(&f.rules.RemoveMosaics, keepRemove, false, true))
	method.Add("segments", "consumed", flags.Word(&f.rules.RemoveConsumed, keepRemove, false, true))
	flags.Share(fs, &f.rules.Threshold, "threshold", "share of its text that a document must have in common with an earlier one to be removed (default 0.65; 0.5 by segments; 0.8 with --filter-only); with --method shingles the Jaccard similarity (default 0.6)")
	fs.StringVar(&f.verify, "verify", "", "read the earlier text again before a removal: for doubtful copies, from a score of 0.5; or for every copy, with a condition such as --verify='lcs>=0.8', on contained, containment, edit, jaccard or lcs")
	fs.Lookup("verify").NoOptDefVal = doubtful
	f.registerPassages(fs)
	f.sameID = "keep"
	sameID := flags.Refine(fs, &f.sameID, "same-id", "a document with the id of a kept one and another text: keep both, or replace the earlier one; keep:again=drop removes a document that is sent again", "keep", "replace")
	sameID.Add("keep replace", "again", flags.Word(&f.DropRetries, []string{"keep", "drop"}, false, true))
	registerPolicy(fs, &f.policy)
	section(fs, "Copies")

	fs.StringVar(&f.dir, "index", "", "`folder` of the index, which remembers documents from run to run; firstseen index create makes one with a window or key")
	f.registerSize(fs, "1M, fewer for small files without --index; it grows when full")
	fs.BoolVar(&f.filterOnly, "filter-only", false, "no side table: fixed memory, no earlier document named")
	fs.StringArrayVar(&f.against, "against", nil, "`folder` of a further index, only read, whose documents count as earlier; may be given several times, the earliest first")
	fs.StringVar(&f.Batch, "batch", "", "`name` for the documents kept by this run; firstseen index forget --batch takes them back")
	section(fs, "Remembering")

	f.formats.register(fs, true)
	limit := f.registerLimits(fs, ", checkpoint=1s (with --index and a pipe: a kill forgets at most the answers of that time; 0: of 256 MiB)"+limitFull)
	f.every = time.Second
	limit.Add("", "checkpoint", func(text string) (err error) {
		if f.every, err = time.ParseDuration(text); err != nil {
			return errors.New("want a time such as 1s or 500ms")
		}
		return nil
	})
	f.limitFull(limit)
	section(fs, "Inputs")

	fs.StringVarP(&f.Out, "out", "o", "", "write the kept records to this `file`, as they came, but decoded to UTF-8 if --encoding is given; a .json has arrays as one array; .gz or .zst compresses; - is standard output")
	fs.StringVar(&f.outDir, "out-dir", "", "write the kept records of each input to a file of its own below this `folder`, with the subfolder, name and compression of the input")
	flags.By(fs, f.split.set, "split", "files of --out-dir: each (one for each input), nonempty (none for an input without kept records), or a size such as 1GiB: shard-00000 and so on, of that size before compression (default each)")
	fs.BoolVar(&f.Annotate, "annotate", false, "write all records to --out, each with its verdict in the field \"firstseen\", or in columns of a table")
	fs.StringVarP(&f.Report, "report", "r", "", "write to this `file` one JSON line for every document that is not unique")
	fs.BoolVar(&f.Spans, "spans", false, "have --report give the places of the shared passages, in characters")
	fs.StringVar(&f.Rejects, "rejects", "", "write bad records to this `file`, with file, line and reason")
	fs.StringVar(&f.summary, "summary", "", "write the summary to this `file` as JSON")
	section(fs, "Outputs")

	flags.Jobs(fs, &f.Workers, "processors to use; the output is the same for any number")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, no summary on standard error")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "also tell the state of filter, table and temporary index")
	flags.Size(fs, &f.CheckpointBytes, "checkpoint-bytes", 1, math.MaxInt64, "bytes of records between checkpoints (default 256MiB)")
	fs.IntVar(&f.memtableKeys, "memtable-keys", 0, "keys of the side table in memory before they become a run; 0 for the default")
	flags.Hide(fs, "checkpoint-bytes", "memtable-keys")
	section(fs, "Work")
}

// check checks the flags. Its errors are usage errors, except about unreadable inputs.
func (f *dedupOptions) check(args []string) error {
	f.args = args
	if err := f.asMade(); err != nil {
		return err
	}
	checkIndex := func() error { return f.checkIndex(f.furtherConflicts()...) }
	if err := usage(inTurn(f.checkReading, checkIndex, f.checkVerify, f.checkPolicy)); err != nil {
		return err
	}
	if err := inTurn(f.expand, f.checkRereads, func() error { return f.recognize(f.Out, f.outDir != "", f.Annotate) }, f.checkTimes, f.planTree, f.enclose, f.checkPolicyInputs); err != nil {
		return err
	}
	f.Args, f.Inputs, f.Temporary = f.args, f.inputs, f.dir == ""
	f.Format, f.MaxRecord, f.MaxBad = f.formats.String(), f.source.MaxRecord, f.maxBad
	f.Scheme, f.Rules, f.OnFull, f.Now, f.Window.Seconds = f.scheme, f.rules, f.onFull, f.now, f.window
	return nil
}

// expand finds the inputs, and refuses outputs that would overwrite them.
func (f *dedupOptions) expand() (err error) {
	f.inputs, f.passed, err = f.formats.expand(f.args, f.source)
	if err = f.leaveOut(err); err != nil {
		return err
	}
	return output.CheckOutputs(slices.Concat(f.inputs, f.formats.lists), f.dir, f.outputs()...)
}

// outputs returns the names of all outputs, "" for unrequested ones.
func (f *dedupOptions) outputs() []string {
	return []string{f.Out, f.Report, f.Rejects, f.summary}
}

// checkReading checks the flags one by one.
func (f *dedupOptions) checkReading() error {
	if !slices.Contains([]string{"", "keep", "replace"}, f.sameID) {
		return fmt.Errorf("--same-id %q: want one of keep, replace", f.sameID)
	}
	switch f.verify { // as the environment may say
	case "true":
		f.verify = doubtful
	case "false":
		f.verify = ""
	}
	f.ReplaceSameID = f.sameID == "replace"
	f.Window.Told = f.formats.jsonl.Fields.Time != ""
	if f.every < 0 {
		return fmt.Errorf("--limit checkpoint=%v: want a time such as 1s, or 0 for checkpoints by bytes only", f.every)
	}
	return cmp.Or(
		f.formats.complete(f.source),
		ending.Check("--report", f.Report, ending.JSON, ending.Parquet),
		ending.Check("--rejects", f.Rejects, ending.JSON),
		ending.Check("--summary", f.summary, ending.JSON),
	)
}

// furtherConflicts are those for any inputs. Others stand beside the flags that they are about.
func (f *dedupOptions) furtherConflicts() []conflict {
	return slices.Concat(f.formats.conflicts(f), f.outputConflicts(), []conflict{
		{f.verify != "" && f.filterOnly, "--verify reads the earlier text again, and --filter-only does not know the earlier document"},
		{f.verify != "" && f.rules.RemoveMosaics, "--verify compares with one earlier text, and --method segments:mosaics=remove compares with several: give one of the two"},
		{f.DropRetries && !f.Annotate, "--same-id keep:again=drop applies to the answers of --annotate to a pipe: leave it out; without --annotate a document sent again is removed anyway, as a copy"},
		{f.filterOnly && f.Batch != "", "--batch needs the side table, and --filter-only has none: a filter cannot take anything back"},
		{f.filterOnly && f.sameID == "replace", "--same-id replace needs the side table, and --filter-only has none: a filter cannot take anything back"},
		{f.Batch != "" && f.dir == "", "--batch needs --index: without it nothing outlives the run"},
		{len(f.Batch) > index.MaxBatchName, "--batch: the name is too long"},
		{f.scheme.Passages == 0 && f.rules.RemoveConsumed, "--method segments:consumed=remove removes documents with hardly anything besides passages: give --passages too"},
		{len(f.against) > 0 && f.filterOnly, "--against names documents of other indexes, and needs a side table: leave out --filter-only, or give an --index that has one"},
	})
}
