package cli

import (
	"bufio"
	"context"
	"encoding/json"
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

func newQueryCommand() *cobra.Command {
	var f options
	cmd := onIndex("query", nil, f.query)
	fs := cmd.Flags()
	fs.BoolVar(&f.plain, "text", false, "each INPUT is one plain text, not JSON lines")
	fs.BoolVar(&f.ids, "id", false, "each INPUT is the id of a document: show its stored data")
	fs.Float64Var(&f.Rules.Threshold, "threshold", 0, "as for dedup")
	registerScore(fs, &f.Rules.Score)
	f.registerInputs(fs)
	return cmd
}

func (f *options) query(cmd *cobra.Command, dir string, args []string) (err error) {
	f.index = dir
	if f.ids {
		return f.askIDs(cmd.Context(), args, cmd.OutOrStdout())
	}
	if len(args) == 0 {
		args = []string{input.Stdin}
	}
	if err := f.findInputs(cmd, args); err != nil {
		return err
	}
	if err := output.CheckOutputs(f.Inputs, f.index, input.Stdin); err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	q := &query{ctx: cmd.Context(), out: visible.NewEncoder(out)}
	if q.holder, err = holderOf(dir); err != nil {
		return err
	}
	switch {
	case q.holder != nil && f.Rules != dedup.Rules{}:
		return usageError{fmt.Errorf("index %s is held by a server, which judges by its own --threshold and --score: leave them out", dir)}
	case q.holder == nil:
		x, err := f.openReader()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.Close()) }()
		if q.deduper, err = x.Deduper(f.Rules); err != nil {
			return err
		}
		if q.extractor, err = feature.NewExtractor(x.Scheme()); err != nil {
			return err
		}
	}
	if f.plain {
		f.source.Encoding = f.formats.decoder
		err = q.texts(f.Inputs, f.source)
	} else {
		err = q.documents(cmd, f.documents())
	}
	return flushed(out, err)
}

// openReader opens the index with its own key.
func (f *options) openReader() (*index.Reader, error) {
	key, err := index.ReadKey(f.index)
	if err != nil {
		return nil, err
	}
	return index.OpenReader(f.index, key)
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

// askIDs writes the stored data of the documents of ids.
func (f *options) askIDs(ctx context.Context, ids []string, w io.Writer) (err error) {
	if len(ids) == 0 || f.plain {
		return usageError{errors.New("query --id: give the ids of documents, and no --text")}
	}
	h, err := holderOf(f.index)
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

// storedIn returns the kept documents of an id.
func storedIn(x *index.Reader, id string) ([]storedDoc, error) {
	docs := []storedDoc{}
	found, err := x.ByID(id)
	for _, d := range found {
		docs = append(docs, storedDoc{Number: d.Number, Verdict: d.Verdict.String(), Time: time.Unix(d.Time, 0).UTC()})
	}
	return docs, err
}

// query asks an index about one document after another.
type query struct {
	holder *holder // asked instead of the files, if not nil
	ctx    context.Context

	deduper   *dedup.Deduper
	extractor *feature.Extractor
	set       feature.Set
	out       *json.Encoder
}

func (q *query) ask(id string, text []byte, exact bool, file string, at corpus.Place) error {
	if q.holder != nil {
		answer, err := q.holder.check(q.ctx, id, text)
		if err != nil {
			return err
		}
		answer.File, answer.Line = file, at
		return q.out.Encode(answer)
	}
	q.extractor.ExtractFor(&q.set, text, exact)
	r, err := q.deduper.Check(id, &q.set)
	if err != nil {
		return err
	}
	answer := report.Report(&r, id, &q.set, text)
	answer.File, answer.Line = file, at
	return q.out.Encode(answer)
}

// texts asks about inputs that are one document each.
func (q *query) texts(inputs []input.Input, cfg corpus.SourceConfig) error {
	for _, in := range inputs {
		text, err := readWhole(in, cfg)
		if err != nil {
			return fmt.Errorf("reading the text: %w", err)
		}
		if err := q.ask(in.Name, text, false, in.Name, corpus.Place{Record: 1}); err != nil {
			return err
		}
	}
	return nil
}

// documents asks about every document of the inputs and names the bad records on standard error.
func (q *query) documents(cmd *cobra.Command, source *corpus.Source) error {
	return eachDocument(cmd, source, func(b *corpus.Block, doc *corpus.Document) error {
		return q.ask(string(doc.ID), doc.Text, doc.Exact, b.File, doc.At)
	})
}
