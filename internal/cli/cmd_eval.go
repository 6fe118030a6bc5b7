package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/compare/similarity"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/eval"
	"github.com/firstseen/firstseen/feature"
)

// evaluating are the flags of firstseen eval.
type evaluating struct {
	options
	pairs, clusters string
	byLabel         bool
	complete        bool
	methods         string
	thresholds      string
	page            string
}

// evaluation is an eval that was asked for, checked.
type evaluation struct {
	inputs    []corpus.Input
	formats   formats
	source    corpus.SourceConfig
	tries     func(*eval.Set) ([]eval.Try, error)
	condition *similarity.Condition
}

func newEvalCommand() *cobra.Command {
	var f evaluating
	cmd := &cobra.Command{
		Use:     "eval DOCS... (--pairs FILE | --clusters FILE)",
		Short:   "Measure what each method removes from documents whose copies are known",
		Long:    evalLong,
		Example: "  firstseen eval docs.jsonl --pairs pairs.tsv\n  firstseen eval docs.jsonl --clusters clusters.tsv --methods segments,simhash --page eval.html",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("eval: no DOCS; name files or directories")}
			}
			return nil
		},
		RunE: f.run,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.pairs, "pairs", "", "labelled pairs: a line for each with id1, id2, label and, where it was measured, lcs, with tabs between; the first line names them")
	fs.StringVar(&f.clusters, "clusters", "", "clusters: a line for each document with id and cluster, with a tab between; the first line names them; other documents are alone")
	fs.BoolVar(&f.byLabel, "by-label", false, "the labels of pairs say whether they are copies, also where there is a column lcs")
	fs.BoolVar(&f.complete, "complete", false, "the pairs are all there are: every other pair counts as wrong")
	fs.StringVar(&f.methods, "methods", "all", "the methods to measure, with commas between, or all")
	fs.StringVar(&f.thresholds, "thresholds", "0.3,0.4,0.5,0.6,0.7,0.8,0.9", "the thresholds of methods that have one, with commas between; their defaults are measured too")
	f.verify.register(fs)
	fs.BoolVar(&f.asJSON, "json", false, "one JSON object a line instead of a table")
	fs.StringVar(&f.page, "page", "", "write a page with curves here too, one file that needs no other")
	f.reading.register(fs)
	f.limits.register(fs)
	return cmd
}

func (f *evaluating) run(cmd *cobra.Command, args []string) error {
	e, err := f.check(args)
	if err != nil {
		return err
	}
	set, err := f.readSet(cmd, e)
	if err != nil {
		return err
	}
	tries, err := e.tries(set)
	if err != nil {
		return err
	}
	var rows []*eval.Row
	write := eval.WriteJSON(cmd.OutOrStdout())
	if !f.asJSON {
		write = eval.WriteTable(cmd.OutOrStdout())
	}
	err = set.Run(cmd.Context(), tries, e.condition, func(r *eval.Row) error {
		rows = append(rows, r)
		return write(r)
	})
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return errInterrupted
		}
		return err
	}
	if f.page == "" {
		return nil
	}
	return writeHTMLPage(f.page, func(w io.Writer) error { return eval.WritePage(w, rows, f.command(args)) })
}

// check makes real values of the flags.
func (f *evaluating) check(args []string) (e *evaluation, err error) {
	e = &evaluation{}
	if (f.pairs == "") == (f.clusters == "") {
		return nil, usageError{errors.New("eval: give what is known of the documents, either with --pairs FILE or with --clusters FILE")}
	}
	if f.clusters != "" && (f.byLabel || f.complete) {
		return nil, usageError{errors.New("eval: --by-label and --complete are for --pairs: leave them out")}
	}
	methods, thresholds, err := f.tries()
	if err != nil {
		return nil, usageError{err}
	}
	e.tries = func(s *eval.Set) ([]eval.Try, error) {
		tries, err := eval.Tries(methods, thresholds, s.CountTerms())
		for i := range tries {
			tries[i].Rules.Verify = f.verify.doubtful()
		}
		return tries, err
	}
	if e.condition, err = f.verify.parse(); err != nil {
		return nil, usageError{err}
	}
	if e.source, err = f.limits.config(); err == nil {
		err = checkEnding("--page", f.page, holdsHTML)
	}
	if err == nil {
		e.formats, err = f.reading.formats(e.source)
	}
	if err != nil {
		return nil, usageError{err}
	}
	if e.inputs, _, err = e.formats.expand(args, e.source); err != nil {
		return nil, err
	}
	return e, corpus.CheckOutputs(e.inputs, "", f.page)
}

// tries reads the flags that choose the methods and thresholds to try.
func (f *evaluating) tries() (methods []string, thresholds []float64, err error) {
	for _, info := range feature.Methods() {
		methods = append(methods, info.Name)
	}
	if f.methods != "all" {
		chosen := strings.Split(f.methods, ",")
		for _, m := range chosen {
			if !slices.Contains(methods, m) {
				return nil, nil, fmt.Errorf("--methods: there is no method %q: want some of %s, or all", m, strings.Join(methods, ", "))
			}
		}
		methods = chosen
	}
	for word := range strings.SplitSeq(f.thresholds, ",") {
		t, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(t > 0 && t <= 1) {
			return nil, nil, fmt.Errorf("--thresholds: %q is no share above 0 and at most 1", word)
		}
		thresholds = append(thresholds, t)
	}
	return methods, thresholds, nil
}

// readSet reads documents and labels.
func (f *evaluating) readSet(cmd *cobra.Command, e *evaluation) (*eval.Set, error) {
	set := &eval.Set{Name: nameOfSet(e.inputs)}
	cfg := e.source
	cfg.Stdin = cmd.InOrStdin()
	err := someDocuments(cmd.Context(), e.formats.source(e.inputs, cfg), func(_ *corpus.Block, doc *corpus.Document) bool {
		set.Docs = append(set.Docs, eval.Doc{ID: string(doc.ID), Text: string(doc.Text)})
		return true
	})
	if err != nil {
		return nil, err
	}
	if f.clusters != "" {
		cluster, err := eval.ReadClusters(f.clusters)
		if err == nil {
			err = set.SetClusters(cluster)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the clusters: %w", err)
		}
		return set, set.Load()
	}
	by := eval.ByLCS
	if f.byLabel {
		by = eval.ByLabel
	}
	if set.Pairs, err = eval.ReadPairs(f.pairs, by); err != nil {
		return nil, fmt.Errorf("reading the pairs: %w", err)
	}
	if err := set.Load(); err != nil {
		return nil, err
	}
	if f.complete {
		set.Complete()
	}
	return set, nil
}

// nameOfSet returns the name of the set of inputs: its file name or, if many sets share that, its
// folder.
func nameOfSet(inputs []corpus.Input) string {
	if len(inputs) == 0 {
		return ""
	}
	dir, file := filepath.Split(inputs[0].Name)
	if name, _, _ := strings.Cut(file, "."); name != "docs" || dir == "" {
		return name
	}
	return filepath.Base(dir)
}

// command returns the command line of a page, as far as it decides the measurements.
func (f *evaluating) command(args []string) string {
	words := append([]string{"firstseen", "eval"}, args...)
	for _, flag := range []struct{ name, value string }{{"--pairs", f.pairs}, {"--clusters", f.clusters}, {"--confirm", f.verify.condition}} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	if f.verify.doubtful() {
		words = append(words, "--verify")
	}
	if f.byLabel {
		words = append(words, "--by-label")
	}
	if f.complete {
		words = append(words, "--complete")
	}
	return strings.Join(append(words, "--methods", f.methods, "--thresholds", f.thresholds), " ")
}
