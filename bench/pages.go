package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/bench/eval"
	"github.com/firstseen/firstseen/bench/vary"
	"github.com/firstseen/firstseen/internal/base/html"
)

// modes lists the modes of web/html.
var modes = []struct {
	name string
	mode html.Mode
}{{"main", html.Main}, {"visible", html.Visible}}

// pages counts the copies found among articles on pages of two web sites, extracted by web/html.
func pages(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("pages", flag.ContinueOnError)
	dir := fs.String("write", "", "write the pages to this `directory` instead, a file of JSON lines for each set")
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
	if *dir != "" {
		return writePages(ctx, sets, *dir)
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

// pageSets returns the sets of pages, each with the text of either mode.
func pageSets(ctx context.Context, sets []*labelled) (made []*labelled, err error) {
	err = eachPages(ctx, sets, func(set *vary.Set) error {
		for _, mode := range modes {
			s := labelledOf(set)
			s.Name = fmt.Sprintf("%s, %s", s.Name, mode.name)
			s.extract(html.New(mode.mode))
			made = append(made, s)
		}
		return nil
	})
	return made, err
}

// eachPages visits the sets of pages. Each article is on two pages.
func eachPages(ctx context.Context, sets []*labelled, visit func(*vary.Set) error) error {
	for _, language := range []string{"en", "zh"} {
		m, err := readMaterial(ctx, sets, language)
		if err != nil {
			return err
		}
		for _, tables := range []bool{false, true} {
			for _, f := range vary.Frames {
				if err := visit(vary.Pages(m, f, generatedPairs, tables, generatedSeed)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// writePages writes each set as a file of JSON lines with ID, page and article number.
func writePages(ctx context.Context, sets []*labelled, dir string) error {
	return eachPages(ctx, sets, func(set *vary.Set) error {
		var lines bytes.Buffer
		enc := json.NewEncoder(&lines)
		for _, doc := range set.Docs {
			if err := enc.Encode(map[string]any{"id": doc.ID, "page": doc.Text, "article": doc.Origin}); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(dir, set.Name+".jsonl"), lines.Bytes(), 0o666)
	})
}

// extract replaces each page by its text.
func (s *labelled) extract(e *html.Extractor) {
	for i, doc := range s.Docs {
		s.Docs[i] = eval.Doc{ID: doc.ID, Text: string(e.Append(nil, []byte(doc.Text), nil))}
	}
}
