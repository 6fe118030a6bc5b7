package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/ask"
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
	flags.Share(fs, &f.rules.Threshold, "threshold", "as for dedup")
	flags.OneOf(fs, &f.rules.Score, "score", "unit of the share: text (runs of letters; in short texts words) or segments (each as one)", scoreWords, scores...)
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
	check, closeIndex, err := ask.Judge(cmd.Context(), f.dir, f.rules, func(s feature.Scheme) error {
		f.scheme = s
		return f.refuse(false)
	})
	if errors.Is(err, ask.ErrRules) {
		err = usageError{fmt.Errorf("index %s is held by a server, which judges by its own --threshold and --score: leave them out", f.dir)}
	}
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
		text, err := corpus.ReadWhole(in, f.source)
		if err != nil {
			return fmt.Errorf("reading the text: %w", err)
		}
		if err := do(&corpus.Document{ID: []byte(in.Name), Text: text, At: corpus.Place{Record: 1}}, in.Name); err != nil {
			return err
		}
	}
	return nil
}

// stored is the answer of firstseen query --id about an id. The JSON form is a contract.
type stored struct {
	ID        string       `json:"id"`
	Documents []ask.Stored `json:"documents"` // empty if none was kept
}

func (f *queryOptions) askIDs(ctx context.Context, ids []string, w io.Writer) (err error) {
	if len(ids) == 0 || f.plain {
		return usageError{errors.New("query --id: give the ids of documents, and no --text")}
	}
	find, closeIndex, err := ask.ByID(ctx, f.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeIndex()) }()
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
