package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/firstseen/firstseen/bench/eval"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

const evalHelp = `eval DOCS... (--pairs FILE | --clusters FILE): each method judges documents whose copies are
known, at several thresholds. DOCS are lines of JSON with id and text; firstseen read makes
them of other formats. The documents are held in memory.

  precision, recall, F1   of pairs of documents taken for copies of each other: those joined by
                          removals, each with its witness
  ARI                     adjusted Rand index of the two clusterings
  left                    the share of alike pairs of which both stay
  false, grey             removals whose text is not, or not quite, the witness's: Jaccard below
                          0.3 and containment below 0.5; lcs and containment below 0.8
  long                    removals of which a fifth or more is one stretch that the witness lacks
  documents/s             on one processor, all in memory
  bytes                   remembered of a kept document

Pairs are alike from a column lcs, 2·LCS/(n+m) over words, of 0.8 on and unlike below 0.5;
others are by their label: 1, dup, duplicate, copy, true, yes or positive, and 0, non, none,
unlike, false, no, negative or hardneg... Unlisted pairs are unknown, unless -complete. A star
marks the defaults. imatch and simhash weigh terms by these documents themselves.

`

// evaluation holds the flags of bench eval.
type evaluation struct {
	pairs, clusters, methods, thresholds, verify, page string
	byLabel, complete, json                            bool
}

// evaluate measures every method on documents whose copies are known.
func evaluate(ctx context.Context, args []string, out io.Writer) error {
	var e evaluation
	fs := flag.NewFlagSet("eval", flag.ContinueOnError)
	fs.StringVar(&e.pairs, "pairs", "", "labelled pairs: lines of id1, id2, label and maybe lcs, with tabs; the first line names them")
	fs.StringVar(&e.clusters, "clusters", "", "clusters: lines of id and cluster, with tabs; the first line names them; other documents are alone")
	fs.BoolVar(&e.byLabel, "by-label", false, "the labels of pairs decide, even beside a column lcs")
	fs.BoolVar(&e.complete, "complete", false, "every unlisted pair counts as wrong")
	fs.StringVar(&e.methods, "methods", "all", "the methods to measure, with commas, or all")
	fs.StringVar(&e.thresholds, "thresholds", "0.3,0.4,0.5,0.6,0.7,0.8,0.9", "the thresholds to try beside the defaults, with commas")
	fs.StringVar(&e.verify, "verify", "", "doubtful, or a condition such as lcs>=0.8, as in dedup --verify")
	fs.BoolVar(&e.json, "json", false, "one JSON object a line instead of a table")
	fs.StringVar(&e.page, "page", "", "write a page with curves here too")
	fs.Usage = func() { fmt.Fprint(fs.Output(), evalHelp); fs.PrintDefaults() }
	if err := fs.Parse(args); err != nil {
		return err
	}
	set, tries, condition, err := e.read(ctx, fs.Args())
	if err != nil {
		return err
	}
	write := eval.WriteJSON(out)
	if !e.json {
		write = eval.WriteTable(out)
	}
	var rows []*eval.Row
	err = set.Run(ctx, tries, condition, func(r *eval.Row) error {
		rows = append(rows, r)
		return write(r)
	})
	if err != nil || e.page == "" {
		return err
	}
	return writePage(e.page, rows, "bench eval "+strings.Join(args, " "))
}

func writePage(name string, rows []*eval.Row, command string) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return eval.WritePage(file, rows, command)
}

// read checks the flags and reads documents and labels.
func (e *evaluation) read(ctx context.Context, docs []string) (set *eval.Set, tries []eval.Try, condition *similarity.Condition, err error) {
	switch {
	case len(docs) == 0:
		return nil, nil, nil, errors.New("eval: no DOCS; name files of lines of JSON")
	case (e.pairs == "") == (e.clusters == ""):
		return nil, nil, nil, errors.New("eval: give the known copies, either with -pairs FILE or with -clusters FILE")
	case e.clusters != "" && (e.byLabel || e.complete):
		return nil, nil, nil, errors.New("eval: -by-label and -complete are for -pairs: leave them out")
	}
	methods, thresholds, err := e.tries()
	if err == nil {
		condition, err = e.condition()
	}
	if err != nil {
		return nil, nil, nil, err
	}
	set = &eval.Set{Name: nameOfSet(docs[0])}
	err = readRecords(ctx, docs, func(id, text []byte) {
		set.Docs = append(set.Docs, eval.Doc{ID: string(id), Text: string(text)})
	})
	if err == nil {
		err = e.label(set)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	tries, err = eval.Tries(methods, thresholds, set.CountTerms())
	for i := range tries {
		tries[i].Rules.Verify = e.verify == "doubtful"
	}
	return set, tries, condition, err
}

// condition returns the condition of -verify, nil for none.
func (e *evaluation) condition() (*similarity.Condition, error) {
	switch e.verify {
	case "":
		return nil, nil
	case "doubtful":
		return &similarity.Verified, nil
	}
	c, err := similarity.ParseCondition(e.verify)
	return &c, err
}

// tries returns the methods and thresholds to try.
func (e *evaluation) tries() (methods []string, thresholds []float64, err error) {
	for _, info := range feature.Methods() {
		methods = append(methods, info.Name)
	}
	if e.methods != "all" {
		chosen := strings.Split(e.methods, ",")
		for _, m := range chosen {
			if !slices.Contains(methods, m) {
				return nil, nil, fmt.Errorf("-methods: there is no method %q: want some of %s, or all", m, strings.Join(methods, ", "))
			}
		}
		methods = chosen
	}
	for word := range strings.SplitSeq(e.thresholds, ",") {
		t, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(t > 0 && t <= 1) {
			return nil, nil, fmt.Errorf("-thresholds: %q is no share above 0 and at most 1", word)
		}
		thresholds = append(thresholds, t)
	}
	return methods, thresholds, nil
}

// label reads the known copies into a set.
func (e *evaluation) label(set *eval.Set) error {
	if e.clusters != "" {
		cluster, err := eval.ReadClusters(e.clusters)
		if err == nil {
			err = set.SetClusters(cluster)
		}
		if err != nil {
			return fmt.Errorf("reading the clusters: %w", err)
		}
		return set.Load()
	}
	by := eval.ByLCS
	if e.byLabel {
		by = eval.ByLabel
	}
	var err error
	if set.Pairs, err = eval.ReadPairs(e.pairs, by); err != nil {
		return fmt.Errorf("reading the pairs: %w", err)
	}
	if err := set.Load(); err != nil {
		return err
	}
	if e.complete {
		set.Complete()
	}
	return nil
}

// nameOfSet returns the name of a file's set: that of the file or, if it is "docs", of the folder.
func nameOfSet(path string) string {
	dir, file := filepath.Split(path)
	if name, _, _ := strings.Cut(file, "."); name != "docs" || dir == "" {
		return name
	}
	return filepath.Base(dir)
}
