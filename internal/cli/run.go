package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/amount"
	"github.com/firstseen/firstseen/internal/engine/badrecords"
	"github.com/firstseen/firstseen/internal/engine/bulk"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/pipeline/forecast"
	"github.com/firstseen/firstseen/internal/engine/pipeline/revisit"
	"github.com/firstseen/firstseen/internal/engine/progress"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/temporary"
)

func (f *dedupOptions) run(cmd *cobra.Command) (err error) {
	stderr := cmd.ErrOrStderr()
	f.Workers = checkJobs(f.Workers, stderr)
	jobs := f.Workers
	if f.found != nil && f.found.Kind() == corpus.ByFrames && jobs == 1 {
		jobs = min(2, processors()) // decompressing and finding the records takes half of the time
	}
	runtime.GOMAXPROCS(jobs)
	_, outside := decodersFor(f.Workers, f.filterOnly)
	if terms := f.scheme.Terms; terms != nil {
		outside -= terms.Bytes()
	}
	limitHeap(f.source.MaxWindow, outside-int64(forecast.MemoryOfParquet(f.found)))
	temporary.Sweep(os.TempDir())
	if err := f.openAgainst(cmd.Context()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.further.Close()) }()
	f.shape = f.filterShape()
	o := index.Options{MemtableKeys: f.memtableKeys, Secret: f.secret}
	if f.further != nil && f.shards == nil {
		o.Secret = f.further.Scheme().Key // which a new index takes over
	}
	x, remove, err := f.openIndex(cmd.Context(), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close(), remove()) }()
	f.Scheme = f.scheme
	if f.further != nil {
		if err := x.UseAgainst(f.further); err != nil {
			return err
		}
	}
	if !f.quiet {
		f.tellStart(stderr, x)
	}
	return f.runOn(cmd, x)
}

// runOn begins or continues the run on an open index, or says that it is over.
func (f *dedupOptions) runOn(cmd *cobra.Command, x *index.Index) (err error) {
	stderr := cmd.ErrOrStderr()
	ledger, err := pipeline.OpenLedger(x, &f.Job)
	if err != nil {
		return err
	}
	if over, full, err := ledger.Completed(); over != nil || err != nil {
		if x.Table() != nil { // its filter may just have been rebuilt
			err = errors.Join(err, x.Save())
		}
		return f.isOver(cmd, over, full, err)
	}
	noneKept, err := f.tellBefore(stderr, ledger)
	if err != nil {
		return err
	}
	if err := f.prepare(cmd.Context(), cmd.InOrStdin(), stderr, ledger); err != nil {
		return refusal(err)
	}
	defer func() { err = errors.Join(err, f.Outputs.Abort(), f.earlier.Close()) }()
	if f.notice != "" {
		fmt.Fprintln(stderr, "firstseen:", f.notice)
	}
	summaryFile, err := opened(cmd.Context(), f.openSummary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, summaryFile.Abort()) }()
	tellTreeAside(stderr, f.Outputs.Tree)
	tellAside(stderr, f.Outputs.Kept, f.Outputs.Report, f.Outputs.Rejects, summaryFile)
	stop := func() {}
	if !f.quiet {
		stop = progress.OfRun(stderr, f.Live, f.inputs)
	}
	summary, runErr := pipeline.Run(cmd.Context(), x, f.Job)
	stop()
	// A signal ends a run over a pipe for good: a pipe cannot be read again, and the index has the
	// part read. A run over files continues from its last checkpoint or starts again, as if killed.
	endsHere := errors.Is(runErr, context.Canceled) && f.dir != "" && f.readsPipe()
	if runErr != nil && !errors.Is(runErr, index.ErrFull) && !endsHere {
		return f.stopped(runErr, ledger)
	}
	summary.Unreadable = len(f.refused)
	f.countShards(summary)
	f.warn(stderr, summary, noneKept)
	if err := f.tell(cmd, summary, summaryFile); err != nil {
		return err
	}
	if errors.Is(runErr, index.ErrFull) && ledger.CanContinue() {
		err := fmt.Errorf("%w; to continue run the same command with --limit full=grow, or with more --docs or --memory", runErr)
		return errors.Join(err, x.Save())
	}
	return f.finish(ledger, summary, runErr)
}

// warn reports ids and fields of a text that no document has, and why none was kept.
func (f *dedupOptions) warn(stderr io.Writer, summary *report.Summary, noneKept string) {
	if field := f.formats.jsonl.Fields.ID; field != "" && summary.Unnamed == summary.Documents && summary.Documents > 0 {
		fmt.Fprintf(stderr, "firstseen: warning: no document has the field %q of --id-field, so their ids are file and place (FILE:LINE): see the documents with firstseen read\n", field)
	}
	names := strings.Split(f.formats.jsonl.Fields.Text, ",")
	for _, field := range names {
		if len(names) > 1 && summary.TextFields != "" && !summary.HasField(field) {
			fmt.Fprintf(stderr, "firstseen: warning: no document has a text in the field %q of --text-field: see the documents with firstseen read\n", field)
		}
	}
	if noneKept != "" && summary.Kept == 0 && summary.Documents > 0 {
		fmt.Fprintln(stderr, noneKept)
	}
}

// isOver reports that an earlier run of this command has finished, and ends the same way.
func (f *dedupOptions) isOver(cmd *cobra.Command, over *report.Summary, full bool, err error) error {
	if err == nil {
		f.countShards(over)
		err = writeSummary(cmd, f.summary, over)
	}
	switch {
	case err != nil:
		return err
	case full:
		return fmt.Errorf("%w, and this run is over: of %d documents it kept %d; nothing was done, and its outputs are unchanged; give the rest to the same --index and other outputs",
			index.ErrFull, over.Documents, over.Kept)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: this run is over: of %d documents it kept %d; nothing was done, and its outputs are unchanged; ask about its documents with firstseen query, or name other outputs to compare these inputs with the index again\n",
		over.Documents, over.Kept)
	return f.badRecords(over)
}

// stopped adds the remedy to the error of an unfinished run.
func (f *dedupOptions) stopped(err error, ledger *pipeline.Ledger) error {
	switch {
	case errors.Is(err, corpus.ErrChanged):
		return inputChanged(err)
	case !errors.Is(err, context.Canceled):
		return err
	case ledger.CanContinue() && !ledger.Saved():
		return fmt.Errorf("%w before the first checkpoint: nothing is remembered, and the same command starts over", errInterrupted)
	case ledger.CanContinue():
		return fmt.Errorf("%w; run the same command again to finish", errInterrupted)
	case f.dir == "" || f.filterOnly:
		return fmt.Errorf("%w; nothing is remembered, run the same command again", errInterrupted)
	}
	return fmt.Errorf("%w; a run that writes to a pipe cannot be continued: give it up with firstseen index abandon DIR", errInterrupted)
}

func (f *dedupOptions) openSummary() (*output.Writer, error) {
	if f.summary == "" || f.watched != nil {
		return nil, nil
	}
	return output.Create(f.summary)
}

const openingPatience = time.Second

// opened opens an output. Opening a named pipe waits for a reader, which may never come. A signal
// ends the wait, and the program.
func opened[T any](ctx context.Context, open func() (T, error)) (T, error) {
	var output T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		output, err = open()
	}()
	select {
	case <-done:
		return output, err
	case <-ctx.Done():
	}
	select {
	case <-done: // a file opens at once, and the run reports its own end
		return output, err
	case <-time.After(openingPatience):
		return *new(T), fmt.Errorf("%w; an output is a pipe without a reader", errInterrupted)
	}
}

// finish ends a run that read everything, or cannot be continued after a signal or a full filter.
func (f *dedupOptions) finish(ledger *pipeline.Ledger, s *report.Summary, early error) error {
	err := f.Outputs.Close()
	if err == nil {
		err = ledger.Note(early)
	}
	if errors.Is(early, context.Canceled) {
		early = errInterrupted
	}
	switch {
	case err != nil:
		return errors.Join(early, err)
	case early != nil:
		return fmt.Errorf("%w; the outputs and the index are complete for the %d records read; give the rest to the same --index and other outputs", early, s.Documents+s.Bad)
	}
	return f.badRecords(s)
}

// tellStart reports the memory of the run before the run takes any time.
func (f *dedupOptions) tellStart(stderr io.Writer, x *index.Index) {
	if x.Rebuilt() != "" {
		fmt.Fprintf(stderr, "firstseen: the filter was rebuilt from the side table: %s\n", x.Rebuilt())
	}
	if !f.verbose {
		return
	}
	if f.dir == "" {
		fmt.Fprintf(stderr, "firstseen: temporary index in %s; set %s to have it elsewhere\n", f.openedIn, temporary.Variable())
	}
	shape, perDoc := x.Filter().Shape(), f.scheme.KeysPerDoc(f.filterOnly)
	fmt.Fprintf(stderr, "firstseen: filter of %s for %d keys, %s documents of %d\n",
		amount.Size(shape.Bytes()), shape.Capacity(), amount.Count(float64(shape.Capacity()/perDoc)), perDoc)
	if f.further != nil {
		fmt.Fprintf(stderr, "firstseen: against %d documents of %d further indexes, whose filters take %s more\n",
			f.further.Documents(), len(f.against), amount.Size(f.further.Bytes()))
	}
}

// tell writes the summary, to file unless nil.
func (f *dedupOptions) tell(cmd *cobra.Command, s *report.Summary, file *output.Writer) error {
	if f.watched != nil { // written when the survivors are known
		*f.watched = *s
		return nil
	}
	if !f.quiet {
		report := f.Report
		if isTable(report) { // report show cannot read it
			report = input.Stdin
		}
		_ = s.WriteText(cmd.ErrOrStderr(), report, f.verbose) // a failure cannot be reported elsewhere
	}
	if file == nil {
		return nil
	}
	if err := encodeIndented(file, s); err != nil {
		return err
	}
	return file.Close()
}

// countShards adds the bad records that were left out when the shards were made.
func (f *dedupOptions) countShards(s *report.Summary) {
	for _, m := range f.shards {
		s.Bad += int64(m.Bad)
	}
}

func (f *dedupOptions) badRecords(s *report.Summary) error {
	if f.shards != nil {
		return nil // bulk features ended with their error
	}
	bad := badrecords.Counter{Bad: s.Bad, All: s.Bad + s.Documents, Noun: "line", First: s.FirstBad, Run: true}
	if f.found != nil {
		bad.Noun = f.found.Noun()
	}
	if f.Annotate {
		bad.Fate = `have the verdict "bad" in the output`
	}
	return bad.End()
}

// prepare completes the job, and continues an unfinished run.
func (f *dedupOptions) prepare(ctx context.Context, stdin io.Reader, stderr io.Writer, ledger *pipeline.Ledger) (err error) {
	f.Live, f.Save = &pipeline.Live{}, ledger.Save
	f.Warn = func(s string) { fmt.Fprintln(stderr, "firstseen: warning:", s) }
	if err := f.readEarlier(ctx); err != nil {
		return err
	}
	source := f.source
	source.Stdin = stdin
	source.Ahead, _ = decodersFor(f.Workers, f.filterOnly)
	switch u := ledger.Unfinished(); {
	case u != nil && u.Gone:
		f.notice = missing(u)
	case u != nil:
		if f.Resume, err = ledger.Continue(); err != nil {
			return err
		}
		at := f.Resume.At
		source.SkipInputs, source.SkipTo, source.SkipSum = at.Input, at.At, at.Sum
	}
	f.Pipe = !f.Temporary && f.readsPipe()
	if f.Pipe && f.every > 0 {
		f.Ticks = time.Tick(f.every)
	}
	revisit.Write(&f.Job, f.formats.warc)
	if f.Tree != nil {
		f.Tree.Early = ledger.CanContinue()
	}
	if f.shards != nil {
		f.Source = bulk.NewSource(f.shards, source.SkipInputs, source.SkipTo)
	} else {
		f.Source = f.formats.source(f.inputs, source)
	}
	f.Outputs, err = opened(ctx, ledger.OpenOutputs)
	f.Retries = f.Annotate && f.readsPipe() && f.Outputs.Kept != nil && f.Outputs.Kept.Live()
	return err
}

// decodersFor returns the number of goroutines that decode compressed inputs ahead, and the memory
// outside the heap, in bytes, for their data. A run without a table has no memory for that, and
// needs some for the program itself.
func decodersFor(jobs int, filterOnly bool) (decoders int, outside int64) {
	if filterOnly {
		return 0, 8 << 20
	}
	if decoders = min(jobs, processors()); decoders > 1 {
		outside = compress.AheadMemory / 2
	}
	return decoders, outside
}

// processors is the number of processors; tests set another.
var processors = runtime.NumCPU

// jobsPerProcessor limits the goroutines: more gain nothing, and each takes memory.
const jobsPerProcessor = 4

// useJobs makes Go use the processors of -j, after checkJobs.
func useJobs(jobs *int, stderr io.Writer) {
	*jobs = checkJobs(*jobs, stderr)
	runtime.GOMAXPROCS(*jobs)
}

// checkJobs returns the number of jobs to use for -j, and reports it if it differs.
func checkJobs(jobs int, stderr io.Writer) int {
	most := jobsPerProcessor * processors()
	if jobs <= most {
		return jobs
	}
	fmt.Fprintf(stderr, "firstseen: -j %d is more than %d times the %d processors; %d is used, with the same output\n",
		jobs, jobsPerProcessor, processors(), most)
	return most
}

// heapBudget is the size of the Go heap, in bytes, beyond which the collector works harder. It
// excludes the filter, the table's memory and lines longer than a chunk. The rest of a run takes
// some 30 MiB, and 50 more if two outputs are compressed.
const heapBudget = 112 << 20

// limitHeap keeps a run within the forecast of firstseen plan, unless GOMEMLIMIT is set. A large
// window stays in memory while its input is read, and raises the limit. Otherwise the collector
// would run all the time. Memory outside the heap lowers the limit.
func limitHeap(maxWindow, outside int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapBudget + forecast.WindowBeyond(maxWindow) - outside)
	}
}
