package cli

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/badrecords"
	"github.com/firstseen/firstseen/internal/engine/compare/contamination"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/report/table"
)

type contaminationFlags struct {
	inputFlags
	items     []string
	itemField string
	report    string
	jobs      int
}

func newContaminationCommand() *cobra.Command {
	var f contaminationFlags
	cmd := command("contamination", func(_ *cobra.Command, args []string) error {
		if len(args) == 0 || len(f.items) == 0 {
			return usageError{errors.New(`contamination: give the items with --items PATH, and PAGES: files or directories, or "-" for standard input`)}
		}
		if slices.Contains(f.items, input.Stdin) && slices.Contains(args, input.Stdin) {
			return usageError{errors.New("contamination: standard input (-) is named twice")}
		}
		return checkEnding("--report", f.report, ending.JSON, ending.CSV)
	}, f.run)
	fs := cmd.Flags()
	fs.StringArrayVar(&f.items, "items", nil, "file or directory with the items to look for; may be given several times")
	fs.StringVar(&f.itemField, "item-field", "", "field or column with the text of an item, such as question (default that of --text-field)")
	fs.StringVarP(&f.report, "report", "r", input.Stdin, "write the hits here, - is standard output: .csv, .tsv or lines of JSON")
	flags.Jobs(fs, &f.jobs, "processors to use; the report is the same for any number")
	f.register(fs)
	return cmd
}

func (f *contaminationFlags) run(cmd *cobra.Command, pages []string) error {
	runtime.GOMAXPROCS(f.jobs)
	of := f.inputFlags // with the formats and limits of the pages
	of.formats.jsonl.Fields.Text = cmp.Or(f.itemField, f.formats.jsonl.Fields.Text)
	if err := errors.Join(of.findInputs(cmd, f.items), f.findInputs(cmd, pages)); err != nil {
		return err
	}
	if err := output.CheckOutputs(slices.Concat(of.inputs, f.inputs), "", f.report); err != nil {
		return err
	}
	items, badItems := readItems(cmd, &of)
	if badItems != nil {
		badItems = itemError{badItems}
	}
	if items == nil {
		return badItems
	}
	s := contamination.NewSearch(items)
	met := f.counter(cmd)
	columns := []string{"item", "repeats", "page", "file", "line", "share", "units", "start", "end", "text"}
	var bad error
	err := writeTable(cmd, f.report, columns, func(t *table.Table) error {
		bad = badrecords.EachParallel(cmd.Context(), f.documents(), f.jobs, met, s.NewReader, func(b *corpus.Block, hits *[]contamination.PageHit) error {
			return s.Emit(*hits, func(h *contamination.PageHit) error {
				return t.Write(h.Item, h.Repeats, h.Page, b.File, h.At, h.Share, h.Units, h.Start, h.End, h.Text)
			})
		})
		met.Noun = "page"
		bad = cmp.Or(bad, met.End())
		if errors.Is(bad, badrecords.Err) {
			return nil // the others were searched
		}
		return bad
	})
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %s\n", s.Summary(met.All-met.Bad))
	}
	return cmp.Or(err, errors.Join(badItems, bad))
}

// readItems reads the items. With some, its error is about bad ones among them.
func readItems(cmd *cobra.Command, f *inputFlags) (*contamination.Items, error) {
	items := contamination.NewItems()
	err := eachDocument(cmd, f, func(r corpus.Record) error {
		items.Add(string(r.ID), r.Text)
		return nil
	})
	if items.Ready(); items.Len() == 0 && err == nil {
		err = fmt.Errorf("no item has %d words or more: is --item-field the field of their text?", contamination.Run)
	}
	if items.Len() == 0 || err != nil && !errors.Is(err, badrecords.Err) {
		return nil, err
	}
	return items, err
}

// An itemError is an error about the items, whose field has a flag of its own.
type itemError struct{ error }

func (e itemError) Error() string {
	return "reading the items: " + strings.ReplaceAll(e.error.Error(), "--text-field", "--item-field")
}

func (e itemError) Unwrap() error { return e.error }
