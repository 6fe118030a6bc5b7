package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/base/amount"
	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/table"
)

// splitFlag divides the records of --out-dir into files.
type splitFlag struct {
	given     bool
	size      int64 // bytes of a file; 0 for a file for each input
	skipEmpty bool
}

func (f *splitFlag) set(text string) error {
	f.given = true
	bytes, err := amount.ParseSize(text)
	switch {
	case text == "each":
		return nil
	case text == "nonempty":
		f.skipEmpty = true
		return nil
	case err != nil:
		return errors.New("want each, nonempty or a size such as 1GiB")
	case bytes < leastShard || bytes > mostLimit:
		return errors.New("want from 64KiB to " + amount.Size(uint64(mostLimit)))
	}
	f.size = int64(bytes)
	return nil
}

// outputConflicts are those about outputs, for any inputs.
func (f *dedupOptions) outputConflicts() []conflict {
	direct := 0
	for _, name := range f.outputs() {
		if name == input.Stdin {
			direct++
		}
	}
	return []conflict{
		{f.Annotate && f.Out == "" && f.outDir == "", "--annotate writes to --out: give that too"},
		{direct > 1, "only one of --out, --report, --rejects and --summary can be standard output (-)"},
		{f.outDir == "" && f.split.given, "--split applies to the files of --out-dir: give that too"},
		{f.outDir != "" && f.Out != "", "--out writes one file and --out-dir one for each input: give one of them"},
		{f.Spans && f.Report == "", "--spans adds to the lines of --report: give that too"},
		{isTable(f.Report) && (f.Spans || f.scheme.Passages > 0), "--spans and --passages report places, for which a table has no columns: end the name of --report in .jsonl"},
	}
}

// leastShard keeps a wrong unit from making millions of files.
const leastShard = 64 << 10

// planTree chooses the files to write, and refuses options that their format cannot have.
func (f *dedupOptions) planTree() (err error) {
	if f.outDir == "" {
		return nil
	}
	if archive, ok := f.found.(warc.Format); ok && archive.ARC {
		return usageError{warc.ErrARC}
	}
	_, single := f.found.(page.Format)
	if f.split.size == 0 {
		f.Tree, err = output.PlanTree(f.outDir, f.args, f.inputs)
	} else if single {
		return usageError{errors.New("--split: each input is a file with one document, which cannot be part of another file")}
	} else {
		f.Tree, err = output.PlanShards(f.outDir, f.inputs, f.split.size)
	}
	if err != nil {
		return err
	}
	// If the one document of a file is removed, nothing is left of the file.
	f.Tree.SkipEmpty = f.split.skipEmpty || single
	return f.Tree.Check(f.args, f.inputs, f.dir, f.Out, f.Report, f.Rejects, f.summary)
}

// tellTreeAside reports the new place of files of an earlier run.
func tellTreeAside(stderr io.Writer, tree *output.Tree) {
	if tree == nil || len(tree.Aside()) == 0 {
		return
	}
	aside := tree.Aside()[0]
	if more := len(tree.Aside()) - 1; more > 0 {
		aside = fmt.Sprintf("%s, and %d more likewise", aside, more)
	}
	tellLeft(stderr, "files for "+tree.Dir, aside)
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

// recognize finds the format of the inputs, and refuses outputs that it does not have: out, "" for
// none, or a tree.
func (f *inputFlags) recognize(out string, tree, annotate bool) (err error) {
	end, _ := ending.Of(out)
	f.formats.columns, f.formats.arrays = annotate, tree || end == ".json"
	if out != "" {
		f.formats.accept = func(format corpus.Format) error { return checkOut(out, format) }
	}
	f.formats.parquet.Rows = out != "" || tree
	if f.found, err = f.readable(); err == nil {
		err = f.formats.check(f.found, out, annotate)
	}
	return err
}

// enclosure returns what encloses the records of inputs in one file, or nil if their format has
// files that are just sequences of records.
func (f *inputFlags) enclosure(out string, inputs []input.Input, annotate bool) (output.Enclosure, error) {
	switch {
	case f.found == nil || f.found.Kind() != corpus.AtRandom:
		return nil, nil
	case out == input.Stdin:
		return nil, usageError{fmt.Errorf("%s cannot be written to a stream: name a file with --out", f.found.Name())}
	}
	return f.found.Enclose(inputs, annotate)
}

func (f *inputFlags) headOf(in input.Input) ([]byte, error) {
	cfg := f.source
	cfg.Encoding = f.formats.decoder
	return corpus.Head(context.Background(), in, f.found, cfg)
}

// head returns the head of the inputs, if their format has one, and refuses inputs without it.
// Inputs of one output must have the same head.
func (f *inputFlags) head(out string, together bool) (head []byte, err error) {
	if f.found == nil {
		return nil, nil
	}
	first := ""
	for _, in := range f.inputs {
		if in.Size < 0 || in.Path == input.Stdin {
			continue
		}
		own, err := f.headOf(in)
		if err != nil {
			return nil, err
		}
		if head == nil {
			head, first = own, in.Name
		}
		if together && own != nil && !output.SameHead(own, head) {
			return nil, usageError{fmt.Errorf("%s and %s: %w", first, in.Name, output.ErrOtherHead)}
		}
	}
	return head, checkSeparator(out, head)
}

// enclose chooses how the run writes records, and its report.
func (f *dedupOptions) enclose() (err error) {
	if isTable(f.Report) {
		if f.Tabled, err = report.Tabled(); err != nil {
			return err
		}
	}
	apart := f.Tree != nil && f.split.size == 0 // each input has an output
	if f.Head, err = f.head(f.Out, !apart && (f.Out != "" || f.Tree != nil)); err != nil {
		return err
	}
	if f.Tree == nil {
		if f.Out != "" {
			f.Enclosure, err = f.enclosure(f.Out, f.inputs, f.Annotate)
		}
		return err
	}
	if f.Head != nil {
		f.Tree.Head = func(n int) ([]byte, error) {
			if apart {
				return f.headOf(f.inputs[n])
			}
			return f.Head, nil
		}
	}
	switch {
	case f.found == nil || f.found.Kind() != corpus.AtRandom:
	case apart:
		f.Tree.Enclose = func(n int) (output.Enclosure, error) { return f.enclosure("", f.inputs[n:n+1], f.Annotate) }
	default:
		var all output.Enclosure
		all, err = f.enclosure("", f.inputs, f.Annotate)
		f.Tree.Enclose = func(int) (output.Enclosure, error) { return all, nil }
	}
	return err
}

// isTable reports whether a report of that name is Parquet.
func isTable(report string) bool {
	return ending.Promised(report) == ending.Parquet
}

// checkEnding refuses an output if its name promises content other than one of kinds.
func checkEnding(flag, name string, kinds ...ending.Kind) error {
	return usage(ending.Check(flag, name, kinds...))
}

// checkOut refuses an output name that promises another format: records are written as they came.
func checkOut(name string, format corpus.Format) error {
	kind := ending.Usual(format.Endings()[0])
	if kind == ending.Unwritten {
		return nil // reported elsewhere
	}
	if err := checkEnding("--out", name, kind); err != nil {
		return usageError{fmt.Errorf("%w; the records of the inputs, %s, are written as they came; if they have another format, name it with --format", err, format.Name())}
	}
	return nil
}

// checkSeparator refuses a table if its name promises a separator that its first row lacks.
func checkSeparator(name string, head []byte) error {
	end, _ := ending.Of(name)
	tabs, others := bytes.ContainsRune(head, '\t'), bytes.ContainsAny(head, ",;|")
	if end == ".tsv" && others && !tabs || end == ".csv" && tabs && !others {
		return usageError{fmt.Errorf("--out %s: rows are written as they came, and their separator is not that of %s: end the name in %s", name, end, map[bool]string{true: ".tsv", false: ".csv"}[tabs])}
	}
	return nil
}

// printed selects the form of a command's result: text or JSON.
type printed struct{ asJSON bool }

func (p *printed) register(fs *pflag.FlagSet) { fs.BoolVar(&p.asJSON, "json", false, "print JSON") }

// print prints value as a line of JSON, or else data by a template of help.
func (p *printed) print(cmd *cobra.Command, value any, text string, data any) error {
	if p.asJSON {
		return visible.NewEncoder(cmd.OutOrStdout()).Encode(value)
	}
	page := template.Must(template.New(text+".tmpl").Funcs(template.FuncMap{
		"size":    func(bytes any) string { return amount.Size(uint64(float(bytes))) },
		"count":   func(n any) string { return amount.Count(float(n)) },
		"percent": func(part, whole any) string { return fmt.Sprintf("%.1f%%", 100*float(part)/float(whole)) },
		"times":   func(a, b float64) float64 { return a * b },
		"oneIn":   report.OneIn,
		"span": func(seconds float64) time.Duration {
			return time.Duration(seconds * float64(time.Second)).Round(time.Second)
		},
	}).ParseFS(helpFiles, "help/"+text+".tmpl"))
	return page.Execute(cmd.OutOrStdout(), data)
}

func float(n any) float64 { return reflect.ValueOf(n).Convert(reflect.TypeFor[float64]()).Float() }

// newEncoder returns an encoder of JSON lines that leaves <, > and & readable, as ids often have them.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

func encodeIndented(w io.Writer, value any) error {
	enc := newEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// flushed flushes an output, and joins its error to that of the work before.
func flushed(out *bufio.Writer, err error) error {
	if flushErr := out.Flush(); !errors.Is(err, flushErr) { // else it is reported already
		err = errors.Join(err, flushErr)
	}
	return err
}

type file struct {
	name   string
	around output.Enclosure // enclosure of its records; nil for none
	head   []byte           // precedes the records if there is no enclosure
}

// writeOutput writes an output, which gets its name at the end. Without a name, write gets no
// output. It writes through links, pipes and devices, and replaces nothing but a whole file.
func writeOutput(cmd *cobra.Command, f file, write func(*output.Writer) error) (err error) {
	if f.name == "" {
		return write(nil)
	}
	w, err := opened(cmd.Context(), func() (*output.Writer, error) { return output.Create(f.name) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Discard()) }()
	tellAside(cmd.ErrOrStderr(), w)
	if err = pipeline.BeginOutput(w, f.around, f.head); err == nil {
		err = write(w)
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// writeSummary writes a summary to the file of --summary, unless "".
func writeSummary(cmd *cobra.Command, name string, s any) error {
	return writeOutput(cmd, file{name: name}, func(w *output.Writer) error {
		if w == nil {
			return nil
		}
		return encodeIndented(w, s)
	})
}

// writeTable writes a table of these columns. The file gets its name if write does not fail.
func writeTable(cmd *cobra.Command, name string, columns []string, write func(*table.Table) error) error {
	return writeOutput(cmd, file{name: name}, func(w *output.Writer) error {
		t, err := table.New(w, name, columns...)
		if err != nil {
			return err
		}
		return write(t)
	})
}
