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
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/internal/report"
)

func newDedupCommand() *cobra.Command {
	var f options
	args := func(cmd *cobra.Command, args []string) error {
		if f.bulk.given() {
			return nil
		}
		return needInput(cmd, args)
	}
	cmd := command("dedup", args, func(cmd *cobra.Command, args []string) error {
		if f.bulk.given() {
			return f.decideBulk(cmd, args)
		}
		if err := f.check(args); err != nil {
			return err
		}
		f.tellPassed(cmd.ErrOrStderr())
		tellTwice(f.Inputs, cmd.ErrOrStderr())
		f.tellEmpty(cmd.ErrOrStderr())
		f.tellLines(cmd.Context(), cmd.ErrOrStderr())
		if f.index == "" && f.Tree == nil && strings.Join(f.outputs(), "") == "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "firstseen: this run writes nothing and remembers nothing: give --out FILE for the kept documents, --report FILE for the reasons of the others, or --index DIR to remember them")
		}
		if f.policy.given() {
			return f.choose(cmd)
		}
		return f.derive(cmd, f.run(cmd))
	})
	cmd.SuggestFor = []string{"deduplicate", "uniq"}
	f.registerDedup(cmd)
	return cmd
}

func (f *options) run(cmd *cobra.Command) (err error) {
	stderr := cmd.ErrOrStderr()
	f.Workers = checkJobs(f.Workers, stderr)
	runtime.GOMAXPROCS(f.processors())
	_, outside := decodersFor(f.Workers, f.filterOnly)
	if terms := f.Scheme.Terms; terms != nil {
		outside -= terms.Bytes()
	}
	limitHeap(f.source.MaxWindow, outside-int64(memoryOfParquet(f.found)))
	sweepTempIndexes(os.TempDir())
	if err := f.openAgainst(cmd.Context()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.further.Close()) }()
	x, remove, err := f.openIndex(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close(), remove()) }()
	if err = f.Window.Check(x); err == nil && f.further != nil {
		err = x.UseAgainst(f.further)
	}
	if err != nil {
		return err
	}
	if !f.quiet {
		f.tellStart(stderr, x)
	}
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
	stop := f.showProgress(stderr)
	summary, runErr := pipeline.Run(cmd.Context(), x, f.Job)
	stop()
	// A signal ends a run over a pipe for good: a pipe cannot be read again, and the index has the
	// part read. A run over files continues from its last checkpoint or starts again, as if killed.
	endsHere := errors.Is(runErr, context.Canceled) && f.index != "" && f.ReadsPipe()
	if runErr != nil && !errors.Is(runErr, index.ErrFull) && !endsHere {
		return f.stopped(runErr, ledger)
	}
	summary.Unreadable = len(f.refused)
	if field := f.formats.jsonl.Fields.ID; field != "" && summary.Unnamed == summary.Documents && summary.Documents > 0 {
		fmt.Fprintf(stderr, "firstseen: warning: no document has the field %q of --id-field, so their ids are file and place (FILE:LINE): see the documents with firstseen read\n", field)
	}
	if noneKept != "" && summary.Kept == 0 && summary.Documents > 0 {
		fmt.Fprintln(stderr, noneKept)
	}
	if err := f.tell(cmd, summary, summaryFile); err != nil {
		return err
	}
	if errors.Is(runErr, index.ErrFull) && ledger.CanContinue() {
		err := fmt.Errorf("%w; to continue run the same command with --limit full=grow, or with more --docs or --memory", runErr)
		return errors.Join(err, x.Save())
	}
	return f.finish(ledger, summary, runErr)
}

// isOver reports that an earlier run of this command has finished, and ends the same way.
func (f *options) isOver(cmd *cobra.Command, over *report.Summary, full bool, err error) error {
	if err == nil {
		err = f.writeSummary(cmd, over)
	}
	f.whole = err == nil
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

// writeSummary writes a summary to --summary, if given.
func (f *options) writeSummary(cmd *cobra.Command, s any) error {
	switch f.summary {
	case "":
		return nil
	case input.Stdin:
		return encodeIndented(cmd.OutOrStdout(), s)
	}
	return writeOutput(cmd, file{name: f.summary}, func(w *output.Writer) error { return encodeIndented(w, s) })
}

// stopped adds the remedy to the error of an unfinished run.
func (f *options) stopped(err error, ledger *pipeline.Ledger) error {
	switch {
	case errors.Is(err, corpus.ErrChanged):
		return inputChanged(err)
	case !errors.Is(err, context.Canceled):
		return err
	case ledger.CanContinue() && !ledger.Saved():
		return fmt.Errorf("%w before the first checkpoint: nothing is remembered, and the same command starts over", errInterrupted)
	case ledger.CanContinue():
		return fmt.Errorf("%w; run the same command again to finish", errInterrupted)
	case f.index == "" || f.filterOnly:
		return fmt.Errorf("%w; nothing is remembered, run the same command again", errInterrupted)
	}
	return fmt.Errorf("%w; a run that writes to a pipe cannot be continued: give it up with firstseen index abandon DIR", errInterrupted)
}

func (f *options) openSummary() (*output.Writer, error) {
	if f.summary == "" || f.summary == input.Stdin || f.watched != nil {
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
		var none T
		return none, fmt.Errorf("%w; an output is a pipe without a reader", errInterrupted)
	}
}

// tellAside reports the new names of earlier runs' files in the way of outputs. Outputs may be nil.
func tellAside(stderr io.Writer, outputs ...*output.Writer) {
	for _, w := range outputs {
		if w != nil {
			tellLeft(stderr, w.Name(), w.Aside())
		}
	}
}

// tellLeft reports the new name of an earlier run's file, "" for none.
func tellLeft(stderr io.Writer, name, aside string) {
	if aside != "" {
		fmt.Fprintf(stderr, "firstseen: an earlier run left %s unfinished; its output was put aside as %s\n", name, aside)
	}
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
		debug.SetMemoryLimit(heapBudget + windowBeyond(maxWindow) - outside)
	}
}

// finish ends a run that read everything, or cannot be continued after a signal or a full filter.
func (f *options) finish(ledger *pipeline.Ledger, s *report.Summary, early error) error {
	err := f.Outputs.Close()
	if err == nil {
		err = ledger.Note(early)
	}
	if errors.Is(early, context.Canceled) {
		early = errInterrupted
		if reads, _ := f.derived.reads(); reads {
			early = fmt.Errorf("%w, so no files were made from the report: make them with firstseen report", errInterrupted)
		}
	}
	switch {
	case err != nil:
		return errors.Join(early, err)
	case early != nil:
		f.whole = errors.Is(early, index.ErrFull)
		return fmt.Errorf("%w; the outputs and the index are complete for the %d records read; give the rest to the same --index and other outputs", early, s.Documents+s.Bad)
	}
	f.whole = true
	return f.badRecords(s)
}

// tellStart reports the memory of the run before the run takes any time.
func (f *options) tellStart(stderr io.Writer, x *index.Index) {
	if f.index == "" {
		fmt.Fprintf(stderr, "firstseen: temporary index in %s; set %s to have it elsewhere\n", f.openedIn, tempVariable())
	}
	if x.Rebuilt() != "" {
		fmt.Fprintf(stderr, "firstseen: the filter was rebuilt from the side table: %s\n", x.Rebuilt())
	}
	shape, perDoc := x.Filter().Shape(), f.Scheme.KeysPerDoc(f.filterOnly)
	fmt.Fprintf(stderr, "firstseen: filter of %s for %d keys, %s documents of %d\n",
		sizeText(shape.Bytes()), shape.Capacity(), countText(float64(shape.Capacity()/perDoc)), perDoc)
	if f.further != nil {
		fmt.Fprintf(stderr, "firstseen: against %d documents of %d further indexes, whose filters take %s more\n",
			f.further.Documents(), len(f.against), sizeText(f.further.Bytes()))
	}
}

// tell writes the summary, to file unless nil.
func (f *options) tell(cmd *cobra.Command, s *report.Summary, file *output.Writer) error {
	if f.watched != nil { // written when the survivors are known
		*f.watched = *s
		return nil
	}
	if !f.quiet {
		_ = s.WriteText(cmd.ErrOrStderr()) // a failure cannot be reported elsewhere
	}
	switch {
	case f.summary == input.Stdin:
		return encodeIndented(cmd.OutOrStdout(), s)
	case file == nil:
		return nil
	}
	if err := encodeIndented(file, s); err != nil {
		return err
	}
	return file.Close()
}

func (f *options) badRecords(s *report.Summary) error {
	bad := bads{n: s.Bad, all: s.Bad + s.Documents, noun: "line", first: s.FirstBad, run: true}
	if f.found != nil {
		bad.noun = f.found.Noun()
	}
	if f.Annotate {
		bad.fate = `have the verdict "bad" in the output`
	}
	return bad.end()
}

// prepare completes the job, and continues or abandons an unfinished run.
func (f *options) prepare(ctx context.Context, stdin io.Reader, stderr io.Writer, ledger *pipeline.Ledger) error {
	f.Live, f.Save = &pipeline.Live{}, ledger.Save
	f.Warn = func(s string) { fmt.Fprintln(stderr, "firstseen: warning:", s) }
	if err := f.readEarlier(ctx); err != nil {
		return err
	}
	source := f.source
	source.Stdin = stdin
	source.Ahead, _ = decodersFor(f.Workers, f.filterOnly)
	var err error
	switch u := ledger.Unfinished(); {
	case u != nil && f.abandon:
		err = giveUp(ledger, stderr)
	case u != nil && u.Gone:
		f.notice = missing(u)
	case u != nil:
		if f.Resume, err = ledger.Continue(); err == nil {
			at := f.Resume.At
			source.SkipInputs, source.SkipTo, source.SkipSum = at.Input, at.At, at.Sum
		}
	}
	if err != nil {
		return err
	}
	f.Pipe = !f.Temporary && f.ReadsPipe()
	if f.Pipe && f.every > 0 {
		f.Ticks = time.Tick(f.every)
	}
	f.formats.writeRevisits(&f.Job)
	if f.Tree != nil {
		f.Tree.Early = ledger.CanContinue()
	}
	f.Source = f.formats.source(f.Inputs, source)
	f.Outputs, err = opened(ctx, ledger.OpenOutputs)
	f.Retries = f.Annotate && f.ReadsPipe() && f.Outputs.Kept != nil && f.Outputs.Kept.Live()
	return err
}

// giveUp abandons the unfinished run and reports the consequences.
func giveUp(ledger *pipeline.Ledger, stderr io.Writer) error {
	u := ledger.Unfinished()
	if !u.Foreign {
		fmt.Fprintf(stderr, "firstseen: gave up the interrupted run over %s; the %d documents it kept up to its last checkpoint stay known\n",
			strings.Join(u.Args, " "), u.Progress.Tally.Kept)
	}
	left, err := ledger.GiveUp()
	for _, name := range left {
		fmt.Fprintf(stderr, "firstseen: the only copy of what it wrote is %s\n", name)
	}
	return err
}
