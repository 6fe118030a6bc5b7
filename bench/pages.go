package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/bench/peers"
	"github.com/firstseen/firstseen/bench/vary"
	"github.com/firstseen/firstseen/web/html"
)

// modes are those of web/html.
var modes = []struct {
	name string
	mode html.Mode
}{{"main", html.Main}, {"visible", html.Visible}}

// pages measures how many copies the program finds of articles on the pages of two web
// sites, by what web/html makes of them.
func pages(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("pages", flag.ContinueOnError)
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("pages: give the directory of the corpora")
	}
	sets, err := findSets(fs.Args())
	if err != nil {
		return err
	}
	if sets, err = pageSets(ctx, sets); err != nil {
		return err
	}
	chosen, err := chooseRules("default")
	if err != nil {
		return err
	}
	shown, err := chooseColumns("corpus,recall,false")
	if err != nil {
		return err
	}
	return measure(ctx, sets, chosen, writeTable(out, shown))
}

// pageSets are the sets of pages, each with the text of either mode.
func pageSets(ctx context.Context, sets []*labelled) (made []*labelled, err error) {
	for _, language := range []string{"en", "zh"} {
		m, err := readMaterial(ctx, sets, language)
		if err != nil {
			return nil, err
		}
		for _, tables := range []bool{false, true} {
			for _, f := range vary.Frames {
				set := vary.Pages(m, f, generatedPairs, tables, generatedSeed)
				for _, mode := range modes {
					s := labelledOf(set)
					s.name = fmt.Sprintf("%s, %s", s.name, mode.name)
					s.extract(html.New(mode.mode))
					made = append(made, s)
				}
			}
		}
	}
	return made, nil
}

// extract puts the text of each page in its place.
func (s *labelled) extract(e *html.Extractor) {
	for i, doc := range s.docs {
		s.docs[i] = peers.Doc{ID: doc.ID, Text: string(e.Append(nil, []byte(doc.Text)))}
	}
}
