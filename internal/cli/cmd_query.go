package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
	"github.com/firstseen/firstseen/internal/visible"
)

type queryOptions struct {
	inputFlags
	methodFlags
	dir   string
	plain bool // an input is one text
	ids   bool // an argument is an id
}

func newQueryCommand() *cobra.Command {
	var f queryOptions
	cmd := onIndex("query", nil, f.run)
	fs := cmd.Flags()
	fs.BoolVar(&f.plain, "text", false, "each INPUT is one plain text, not JSON lines")
	fs.BoolVar(&f.ids, "id", false, "each INPUT is the id of a document: show its stored data")
	share(fs, &f.rules.Threshold, "threshold", "as for dedup")
	oneOf(fs, &f.rules.Score, "score", "unit of the share: text (runs of letters; in short texts words) or segments (each as one)", scoreWords, scores...)
	f.register(fs)
	return cmd
}

func (f *queryOptions) run(cmd *cobra.Command, dir string, args []string) (err error) {
	f.dir = dir
	if f.ids {
		return f.askIDs(cmd.Context(), args, cmd.OutOrStdout())
	}
	if len(args) == 0 {
		args = []string{input.Stdin}
	}
	if err := f.findInputs(cmd, args); err != nil {
		return err
	}
	if err := output.CheckOutputs(f.inputs, f.dir, input.Stdin); err != nil {
		return err
	}
	check, closeIndex, err := f.checker(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeIndex()) }()
	buffer := bufio.NewWriter(cmd.OutOrStdout())
	out := visible.NewEncoder(buffer)
	ask := func(doc *corpus.Document, file string) error {
		answer, err := check(string(doc.ID), doc.Text, doc.Exact)
		if err != nil {
			return err
		}
		answer.File, answer.Line = file, doc.At
		return out.Encode(answer)
	}
	if f.plain {
		err = f.eachText(ask)
	} else {
		err = eachDocument(cmd, &f.inputFlags, func(r corpus.Record) error { return ask(r.Document, r.Block.File) })
	}
	return flushed(buffer, err)
}

// eachText calls do for each input, as one document.
func (f *queryOptions) eachText(do func(doc *corpus.Document, file string) error) error {
	f.source.Encoding = f.formats.decoder
	for _, in := range f.inputs {
		text, err := readWhole(in, f.source)
		if err != nil {
			return fmt.Errorf("reading the text: %w", err)
		}
		if err := do(&corpus.Document{ID: []byte(in.Name), Text: text, At: corpus.Place{Record: 1}}, in.Name); err != nil {
			return err
		}
	}
	return nil
}

// A checker judges documents by the server that holds the index, or else by the index.
type checker func(id string, text []byte, exact bool) (report.Reported, error)

// checker returns a checker and a function that closes it.
func (f *queryOptions) checker(ctx context.Context) (checker, func() error, error) {
	h, err := holderOf(f.dir)
	switch {
	case err != nil:
		return nil, nil, err
	case h != nil && f.rules != dedup.Rules{}:
		return nil, nil, usageError{fmt.Errorf("index %s is held by a server, which judges by its own --threshold and --score: leave them out", f.dir)}
	case h != nil:
		check := func(id string, text []byte, exact bool) (report.Reported, error) {
			return h.check(ctx, id, text, exact)
		}
		return check, func() error { return nil }, nil
	}
	x, err := f.openReader()
	if err != nil {
		return nil, nil, err
	}
	f.scheme = x.Scheme
	deduper, err := x.Deduper(f.rules)
	extractor, extractorErr := feature.NewExtractor(x.Scheme)
	if err := cmp.Or(f.refuse(false), err, extractorErr); err != nil {
		return nil, nil, errors.Join(err, x.Close())
	}
	var set feature.Set
	return func(id string, text []byte, exact bool) (report.Reported, error) {
		extractor.ExtractFor(&set, text, exact)
		r, err := deduper.Check(id, &set)
		if err != nil {
			return report.Reported{}, err
		}
		return report.Report(&r, id, &set, text), nil
	}, x.Close, nil
}

func (f *queryOptions) openReader() (*index.Reader, error) {
	key, err := index.ReadKey(f.dir)
	if err != nil {
		return nil, err
	}
	return index.OpenReader(f.dir, key)
}

// stored is the answer of firstseen query --id about an id. The JSON form is a contract.
type stored struct {
	ID        string      `json:"id"`
	Documents []storedDoc `json:"documents"` // empty if none was kept
}

type storedDoc struct {
	Number  uint32    `json:"number"` // in order of arrival, from 1
	Verdict string    `json:"verdict"`
	Time    time.Time `json:"time"` // when it was kept
}

func (f *queryOptions) askIDs(ctx context.Context, ids []string, w io.Writer) (err error) {
	if len(ids) == 0 || f.plain {
		return usageError{errors.New("query --id: give the ids of documents, and no --text")}
	}
	h, err := holderOf(f.dir)
	if err != nil {
		return err
	}
	find := func(id string) ([]storedDoc, error) { return h.stored(ctx, id) }
	if h == nil {
		x, err := f.openReader()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.Close()) }()
		find = func(id string) ([]storedDoc, error) { return storedIn(x, id) }
	}
	out := visible.NewEncoder(w)
	for _, id := range ids {
		docs, err := find(id)
		if err != nil {
			return err
		}
		if err := out.Encode(stored{ID: id, Documents: docs}); err != nil {
			return err
		}
	}
	return nil
}

func storedIn(x *index.Reader, id string) ([]storedDoc, error) {
	docs := []storedDoc{}
	found, err := x.ByID(id)
	for _, d := range found {
		docs = append(docs, storedDoc{Number: d.Number, Verdict: d.Verdict.String(), Time: time.Unix(d.Time, 0).UTC()})
	}
	return docs, err
}
