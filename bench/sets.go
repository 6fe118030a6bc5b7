package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/firstseen/firstseen/bench/eval"
)

// labelled is a corpus, with or without labelled pairs.
type labelled struct {
	eval.Set
	path string // empty if generated
}

// findSets finds the corpora below directories, without reading their documents.
func findSets(roots []string) (sets []*labelled, err error) {
	for _, root := range roots {
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			s, err := setOf(path)
			if s != nil {
				sets = append(sets, s)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// setOf returns the set with its documents in that file, or nil for another file.
func setOf(path string) (*labelled, error) {
	dir, file := filepath.Split(path)
	switch {
	case file == "docs.jsonl.gz":
		pairs, err := eval.ReadPairs(filepath.Join(dir, "pairs.tsv"), eval.ByLCS)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		return &labelled{eval.Set{Name: filepath.Base(dir), Pairs: pairs}, path}, nil
	case filepath.Base(dir) == "raw" && strings.Contains(file, ".jsonl"):
		s := &labelled{path: path}
		s.Name = "raw/" + strings.TrimSuffix(strings.TrimSuffix(file, ".zst"), ".jsonl")
		if s.Name == "raw/debian_docs" {
			s.Frame = otherPage
		}
		return s, nil
	}
	return nil, nil
}

// load reads the documents, unless they were generated.
func (s *labelled) load(ctx context.Context) error {
	if s.path != "" {
		err := readRecords(ctx, []string{s.path}, func(id, text []byte) {
			s.Docs = append(s.Docs, eval.Doc{ID: string(id), Text: string(text)})
		})
		if err != nil {
			return err
		}
	}
	return s.Set.Load()
}

// unload releases the data made by load.
func (s *labelled) unload() { s.Unload() }

// otherPage reports whether two IDs of debian_docs, each a package and a path, are different pages
// of one package. Their names differ, or their directories with the same ending. A page and its
// source or its translation are the same page.
func otherPage(id, witness string) bool {
	a, b := pageOf(id), pageOf(witness)
	return a.pkg == b.pkg && (a.name != b.name || a.ending == b.ending && a.dir != b.dir)
}

// page is a page named by an ID of debian_docs.
type page struct{ pkg, dir, name, ending string }

// roots matches directories that do not tell pages apart: top-level ones and those of a language.
var roots = regexp.MustCompile(`^(html|_sources|Documentation|[a-z]{2}_[A-Z]{2})$`)

// pageOf parses an ID. It ignores compression, and treats a copy of a source as the source.
func pageOf(id string) page {
	pkg, path, _ := strings.Cut(id, "/")
	path = strings.TrimSuffix(path, ".gz")
	if source, ok := strings.CutSuffix(path, ".rst.txt"); ok {
		path = source + ".rst"
	}
	ending := filepath.Ext(path)
	return page{
		pkg:    pkg,
		dir:    roots.ReplaceAllString(filepath.Base(filepath.Dir(path)), ""),
		name:   strings.TrimSuffix(filepath.Base(path), ending),
		ending: ending,
	}
}
