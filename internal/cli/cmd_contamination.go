package cli

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/compare/contamination"
	"github.com/firstseen/firstseen/internal/ending"
	"github.com/firstseen/firstseen/internal/flags"
	"github.com/firstseen/firstseen/internal/report/table"
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
	s := search{items: items, found: map[uint32]bool{}}
	columns := []string{"item", "repeats", "page", "file", "line", "share", "units", "start", "end", "text"}
	var bad error
	err := writeTable(cmd, f.report, columns, func(t *table.Table) error {
		if bad = s.run(cmd, &f.inputFlags, f.jobs, t); errors.Is(bad, errBadRecords) {
			return nil // the others were searched
		}
		return bad
	})
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %s\n", s.summary())
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
	if items.Len() == 0 || err != nil && !errors.Is(err, errBadRecords) {
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

type search struct {
	items    *contamination.Items
	hitPages int64
	bad      bads            // bad pages
	found    map[uint32]bool // numbers of items
}

type pageHit struct {
	contamination.Hit
	page string
	at   corpus.Place
	text string
}

func (s *search) run(cmd *cobra.Command, f *inputFlags, jobs int, list *table.Table) error {
	newReader := func() (corpus.Reader[[]pageHit], error) {
		searcher := s.items.NewSearcher()
		var found []contamination.Hit
		return func(_ *corpus.Block, pages iter.Seq[*corpus.Document], hits *[]pageHit) error {
			*hits = (*hits)[:0]
			for page := range pages {
				found = searcher.Append(found[:0], page.Text)
				for _, h := range found {
					*hits = append(*hits, pageHit{h, string(page.ID), page.At, string(page.Text[h.From:h.To])})
				}
			}
			return nil
		}, nil
	}
	err := inParallel(cmd, f, jobs, &s.bad, newReader, func(b *corpus.Block, hits *[]pageHit) error {
		for i, h := range *hits {
			if i == 0 || h.at != (*hits)[i-1].at {
				s.hitPages++
			}
			s.found[h.Number] = true
			if err := list.Write(h.Item, h.Repeats, h.page, b.File, h.at, h.Share, h.Units, h.Start, h.End, h.text); err != nil {
				return err
			}
		}
		return nil
	})
	s.bad.noun = "page"
	return cmp.Or(err, s.bad.end())
}

func (s *search) summary() string {
	line := fmt.Sprintf("%d of %d items found in %d of %d pages", len(s.found), s.items.Len(), s.hitPages, s.bad.all-s.bad.n)
	if s.items.Short > 0 {
		line += fmt.Sprintf("; %d with fewer than %d words not searched for", s.items.Short, contamination.Run)
	}
	return line
}
