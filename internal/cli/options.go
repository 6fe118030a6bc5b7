package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/compare/similarity"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/internal/pipeline/confirm"
	"github.com/firstseen/firstseen/internal/report"
)

// options holds the targets of all flags; each command registers its own. Flags of a run set the
// fields of its job. Checks set the fields that follow from flags and inputs.
type options struct {
	pipeline.Job // some of its fields
	printed

	// Copies.
	method methodFlags
	verify verifyFlag
	sameID string
	policy policy

	// Remembering.
	index          string
	docs, memory   string
	keyed, unkeyed bool
	filterOnly     bool
	against        []string
	abandon        bool

	// Inputs.
	bulk          bulkFlags
	formats       formats
	source        corpus.SourceConfig // limits on inputs
	maxUnreadable int                 // inputs; negative: any number
	plain         bool                // query: an input is one text
	ids           bool                // query: an argument is an id

	// Outputs.
	outDir, summary string
	split           splitFlag
	quiet           bool
	derived         derived

	// Work.
	every        time.Duration
	memtableKeys int

	// Set by the checks and by a run.
	passed   []input.Passed
	refused  input.Unreadable
	found    corpus.Format // format of the files among the inputs; nil for none
	shape    bloomstore.Shape
	openedIn string // folder of the index, which may be temporary
	key      index.KeyPolicy
	serve    bool                  // a server opens the index
	follow   bool                  // a follower of a log opens the index
	notice   string                // the gaps left by an interrupted run, to be reported
	further  *index.Against        // nil for none
	whole    bool                  // the report is whole, so files can be derived from it
	names    []string              // names of inputs in a tree of outputs, if there is one
	verified *similarity.Condition // condition of removals; nil for none
	earlier  *confirm.Inputs       // nil if no earlier text is read again
	watched  *report.Summary       // summary of an unfinished run with --prefer or --remove-within
}

// registerDedup registers the flags of dedup, in the sections of its help.
func (f *options) registerDedup(cmd *cobra.Command) {
	fs := cmd.Flags()

	f.method.register(fs, &f.Scheme, &f.Rules.Score)
	fs.Float64Var(&f.Rules.Threshold, "threshold", 0, "share of its text that a document must have in common with an earlier one to be removed (default 0.65; 0.5 by segments; 0.8 with --filter-only); with --method shingles the Jaccard similarity (default 0.6)")
	oneOf(fs, &f.Rules.RemoveMosaics, "mosaics", "documents assembled from several earlier ones: keep or remove", []string{"keep", "remove"}, false, true)
	f.verify.register(fs)
	registerPassages(fs, &f.Scheme)
	oneOf(fs, &f.Rules.RemoveConsumed, "consumed", "with --passages: documents with hardly anything of their own: keep or remove", []string{"keep", "remove"}, false, true)
	oneOf(fs, &f.DropRetries, "again", "with --annotate from pipe to pipe: a document with the id and text of a kept one is kept again, or dropped",
		[]string{"keep", "drop"}, false, true)
	f.sameID = "keep"
	refine(fs, &f.sameID, "same-id", "a document with the id of a kept one and another text: keep both, or replace the earlier one; keep:again=drop removes a document that is sent again", "keep", "replace")
	f.policy.register(fs)
	section(fs, "Copies")

	fs.StringVar(&f.index, "index", "", "`folder` of the index, which remembers documents from run to run")
	fs.StringVar(&f.docs, "docs", "", "size the filter for this `number` of documents, such as 10M (default 1M, fewer for small files without --index; it grows when full)")
	fs.StringVar(&f.memory, "memory", "", "size the filter by memory in `bytes`, such as 1GiB (10.5 million documents)")
	fs.BoolVar(&f.filterOnly, "filter-only", false, "no side table: fixed memory, no earlier document named")
	oneOf(fs, &f.OnFull, "on-full", "if the filter is full: grow, stop or warn (default grow; warn with --filter-only)",
		[]string{"grow", "stop", "warn"}, index.OnFullGrow, index.OnFullStop, index.OnFullWarn)
	f.OnFull = onFullDefault
	fs.StringArrayVar(&f.against, "against", nil, "`folder` of a further index, only read, whose documents count as earlier; may be given several times, the earliest first")
	fs.StringVar(&f.Batch, "batch", "", "`name` for the documents kept by this run; firstseen index forget --batch takes them back")
	f.registerKey(fs)
	registerWindow(fs, &f.Window)
	fs.BoolVar(&f.abandon, "abandon", false, "leave an interrupted run unfinished")
	hide(fs, "key", "no-key", "window", "abandon")
	section(fs, "Remembering")

	f.formats.register(fs)
	f.registerLimits(fs)
	fs.Lookup("limit").Usage += ", checkpoint=1s (with --index and a pipe: a kill forgets at most the answers of that time; 0: of 256 MiB)" + limitFull
	fs.BoolVar(&f.formats.warc.Revisit.Write, "revisit", false, "write a revisit record to --out for a removed record with the payload of its witness, a metadata record for any other, and copy the revisit records of the inputs")
	oneOf(fs, &f.formats.warc.Revisit.Keep, "near", "removed records with another payload than their witness: drop or keep", []string{"drop", "keep"}, false, true)
	f.bulk.register(fs)
	section(fs, "Inputs")

	fs.StringVarP(&f.Out, "out", "o", "", "write the kept records to this `file`, as they came, but decoded to UTF-8 if --encoding is given; a .json has arrays as one array; .gz or .zst compresses; - is standard output")
	fs.StringVar(&f.outDir, "out-dir", "", "write the kept records of each input to a file of its own below this `folder`, with the subfolder, name and compression of the input")
	f.split.register(fs)
	fs.BoolVar(&f.Annotate, "annotate", false, "write all records to --out, each with its verdict in the field \"firstseen\", or in columns of a table")
	registerKeep(fs, &f.Others, "the records of --out: originals, or duplicates, the removed ones")
	fs.StringVarP(&f.Report, "report", "r", "", "write to this `file` one JSON line for every document that is not unique")
	fs.BoolVar(&f.Spans, "spans", false, "have --report give the places of the shared passages, in characters")
	fs.StringVar(&f.Rejects, "rejects", "", "write bad records to this `file`, with file, line and reason")
	fs.StringVar(&f.summary, "summary", "", "write the summary to this `file` as JSON")
	f.derived.register(fs)
	hide(fs, "keep")
	section(fs, "Outputs")

	registerJobs(fs, &f.Workers, "processors to use; the output is the same for any number")
	fs.DurationVar(&f.every, "checkpoint-every", time.Second, "with --index and a pipe: remember the answered documents this often, against a kill; 0: only by bytes")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, no summary on standard error")
	inBytes(fs, &f.CheckpointBytes, "checkpoint-bytes", 1, math.MaxInt64, "bytes of records between checkpoints (default 256MiB)")
	fs.IntVar(&f.memtableKeys, "memtable-keys", 0, "keys of the side table in memory before they become a run; 0 for the default")
	hide(fs, "checkpoint-bytes", "memtable-keys")
	section(fs, "Work")
}

// limitFull ends the help of --limit, for commands that write an index.
const limitFull = ", full=grow (if the filter is full: grow, stop or warn)"

// onFullDefault stands for the default of --limit full, which depends on --filter-only.
const onFullDefault index.OnFull = 255

func registerKeep(fs *pflag.FlagSet, duplicates *bool, usage string) {
	oneOf(fs, duplicates, "keep", usage, []string{"originals", "duplicates"}, false, true)
}

func (f *options) registerKey(fs *pflag.FlagSet) {
	fs.BoolVar(&f.keyed, "key", false, "fingerprints keyed with a random secret, stored in the index: the default, unless SOURCE_DATE_EPOCH is set")
	fs.BoolVar(&f.unkeyed, "no-key", false, "fingerprints without a secret, for indexes that are to be compared; an author of the input can then have chosen documents removed")
}

func (f *options) registerInputs(fs *pflag.FlagSet) {
	f.formats.register(fs)
	f.registerLimits(fs)
}

func registerJobs(fs *pflag.FlagSet, jobs *int, usage string) {
	fs.IntVarP(jobs, "jobs", "j", runtime.NumCPU(), usage)
	fs.Lookup("jobs").DefValue = "all" // the same help on any machine
}

// check checks the flags. Its errors are usage errors, except about unreadable inputs.
func (f *options) check(args []string) error {
	f.Args, f.Temporary = args, f.index == ""
	if err := f.asMade(); err != nil {
		return err
	}
	if err := checkFlags(f.checkMethod, f.checkReading, f.checkConflicts, f.checkVerify, f.checkIndex, f.checkPolicy); err != nil {
		return err
	}
	f.Spans = f.Spans || f.derived.attributes != ""
	f.Format, f.MaxRecord = f.formats.String(), f.source.MaxRecord
	return inTurn(f.expand, f.checkRereads, f.recognize, f.checkTimes, f.planTree, f.enclose, f.lead, f.checkDerived, f.checkPolicyInputs)
}

// checkFlags returns the first error of several checks, as a usage error.
func checkFlags(checks ...func() error) error {
	if err := inTurn(checks...); err != nil {
		return usageError{err}
	}
	return nil
}

func inTurn(functions ...func() error) error {
	for _, f := range functions {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// expand finds the inputs, and refuses outputs that would overwrite them.
func (f *options) expand() (err error) {
	f.Inputs, f.passed, err = f.formats.expand(f.Args, f.source)
	if err = f.leaveOut(err); err != nil {
		return err
	}
	return output.CheckOutputs(slices.Concat(f.Inputs, f.formats.lists), f.index, f.outputs()...)
}

// outputs returns the names of all outputs, "" for unrequested ones.
func (f *options) outputs() []string {
	return append(f.derived.names(), f.Out, f.Report, f.Rejects, f.summary)
}

// recognize finds the format of the inputs, and refuses options that it does not support.
func (f *options) recognize() (err error) {
	ending, _ := promised(f.Out)
	f.formats.columns, f.formats.arrays = f.Annotate, f.outDir != "" || ending == ".json"
	if f.Out != "" {
		f.formats.accept = func(format corpus.Format) error { return checkOut(f.Out, format) }
	}
	f.formats.parquet.Rows = f.Out != "" || f.outDir != ""
	if f.found, err = f.readable(); err == nil {
		err = f.formats.check(f.found, f.Out, f.Annotate)
	}
	return err
}

// checkReading checks the flags one by one.
func (f *options) checkReading() error {
	if !slices.Contains([]string{"", "keep", "replace"}, f.sameID) {
		return fmt.Errorf("--same-id %q: want one of keep, replace", f.sameID)
	}
	f.ReplaceSameID = f.sameID == "replace"
	f.Window.Told = f.formats.jsonl.Fields.Time != ""
	if f.every < 0 {
		return fmt.Errorf("--limit checkpoint=%v: want a time such as 1s, or 0 for checkpoints by bytes only", f.every)
	}
	if err := f.formats.complete(f.source); err != nil {
		return err
	}
	return f.checkEndings()
}

// epochVariable holds the time that a reproducible run gives its documents, in seconds since 1970.
// See reproducible-builds.org/specs/source-date-epoch.
const epochVariable = "SOURCE_DATE_EPOCH"

// clock returns the clock that stamps documents: the real one, or SOURCE_DATE_EPOCH if given.
func clock() (func() time.Time, error) {
	epoch := os.Getenv(epochVariable)
	if epoch == "" {
		return time.Now, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 36) // until the year 3058; JSON has no times after 9999
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s is %q: want whole seconds since 1970, or unset it", epochVariable, epoch)
	}
	t := time.Unix(seconds, 0)
	return func() time.Time { return t }, nil
}

func registerWindow(fs *pflag.FlagSet, w *pipeline.Window) {
	inSeconds(fs, &w.Seconds, "window", "documents count for this long, such as 48h or 2d, and no longer")
}

// conflict is a meaningless combination of flags, and whether it was given.
type conflict struct {
	is   bool
	says string
}

func meaning(conflicts []conflict) error {
	for _, c := range conflicts {
		if c.is {
			return usageError{errors.New(c.says)}
		}
	}
	return nil
}

// checkConflicts refuses flags that conflict for any inputs.
func (f *options) checkConflicts() error {
	revisit, windowed, byTime := f.formats.warc.Revisit, f.Window.Seconds > 0, f.formats.jsonl.Fields.Time != ""
	derives, _ := f.derived.reads()
	direct := 0
	for _, name := range []string{f.Out, f.Report, f.Rejects, f.summary} {
		if name == input.Stdin {
			direct++
		}
	}
	return meaning([]conflict{
		{!revisit.Write && revisit.Keep, "--format warc:near concerns records that no revisit record can replace: give warc:revisit,near=keep"},
		{revisit.Write && f.Out == "", "--format warc:revisit writes to --out: give that too"},
		{revisit.Write && f.filterOnly, "--format warc:revisit needs the side table, which knows the earlier record: leave --filter-only out"},
		{f.DropRetries && !f.Annotate, "--same-id keep:again=drop applies to the answers of --annotate to a pipe: leave it out; without --annotate a document sent again is removed anyway, as a copy"},
		{f.filterOnly && f.Batch != "", "--batch needs the side table, and --filter-only has none: a filter cannot take anything back"},
		{f.filterOnly && f.sameID == "replace", "--same-id replace needs the side table, and --filter-only has none: a filter cannot take anything back"},
		{f.Batch != "" && f.index == "", "--batch needs --index: without it nothing outlives the run"},
		{len(f.Batch) > index.MaxBatchName, "--batch: the name is too long"},
		{!windowed && byTime, "--format auto:time=FIELD is for an index with a window: make it with firstseen index create DIR --window TIME"},
		{windowed && f.filterOnly, "--window needs the side table, and --filter-only has none: a filter cannot forget"},
		{windowed && f.index == "", "--window needs --index: an index keeps the time from one run to the next"},
		{f.verify.given() && f.filterOnly, "--verify reads the earlier text again, and --filter-only does not know the earlier document"},
		{f.verify.given() && f.Rules.RemoveMosaics, "--verify compares with one earlier text, and " + spelled("mosaics") + "=remove compares with several: give one of the two"},
		{f.Scheme.Passages == 0 && f.Rules.RemoveConsumed, spelled("consumed") + "=remove removes documents with hardly anything besides passages: give --passages too"},
		{f.Scheme.Passages > 0 && f.filterOnly, "--passages names the earlier document, and --filter-only does not know it"},
		{f.keyed && f.unkeyed, "--key and --no-key are opposites: give one"},
		{f.docs != "" && f.memory != "", "--docs and --memory both size the filter: give one"},
		{f.OnFull == index.OnFullGrow && f.filterOnly, "--limit full=grow needs the side table to grow from; with --filter-only use stop or warn"},
		{f.Annotate && f.Out == "" && f.outDir == "", "--annotate writes to --out: give that too"},
		{direct > 1, "only one of --out, --report, --rejects and --summary can be standard output (-)"},
		{f.outDir == "" && (f.split.given || f.split.skipEmpty), "--split applies to the files of --out-dir: give that too"},
		{f.outDir != "" && f.Out != "", "--out writes one file and --out-dir one for each input: give one of them"},
		{len(f.against) > 0 && f.filterOnly, "--against names documents of other indexes, and needs a side table: leave out --filter-only, or give an --index that has one"},
		{f.Others && f.Annotate, "--annotate writes all records: leave out --keep"},
		{f.Others && revisit.Write, "--format warc:revisit writes records in place of removed ones, and --keep duplicates writes the removed ones themselves: leave one of them out"},
		{f.Spans && f.Report == "" && f.derived.attributes == "", "--spans adds to the lines of --report: give that too"},
		{isTable(f.Report) && (f.Spans || f.Scheme.Passages > 0), "--spans and --passages report places, for which a table has no columns: end the name of --report in .jsonl"},
		{derives && isTable(f.Report), "--clusters, --pairs, --attributes and --kept-files are made of a report in lines of JSON: give --report another name"},
		{derives && !isKept(f.Report), "--clusters, --pairs, --attributes and --kept-files are made of the report: give --report FILE too"},
	})
}

func noMeaning(is bool, flag, method string) conflict {
	return conflict{is, fmt.Sprintf("%s has no meaning with --method %s: leave it out", flag, method)}
}
