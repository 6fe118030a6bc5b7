package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/firstseen/firstseen/bench/peers"
)

// labelled is a corpus, with labelled pairs or none.
type labelled struct {
	name, path string // path is empty for a set that was generated
	docs       []peers.Doc
	pairs      []pair
	// frame says of a removal that is grey whether the witness is another page of
	// the same work, by the ids; nil where the ids do not tell.
	frame func(id, witness string) bool
	// origin is what the text of each document was made of, where that is known:
	// a removal with a witness of another origin is false. nil: by likeness.
	origin []int

	at       map[string]int      // id → position in docs
	measured map[[2]int]likeness // of document and witness
}

// findSets finds the corpora below directories. Their documents are not yet read.
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

// setOf is the set whose documents stand in that file, nil if it is another file.
func setOf(path string) (*labelled, error) {
	dir, file := filepath.Split(path)
	switch {
	case file == "docs.jsonl.gz":
		pairs, err := readPairs(filepath.Join(dir, "pairs.tsv"))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		return &labelled{name: filepath.Base(dir), path: path, pairs: pairs}, nil
	case filepath.Base(dir) == "raw" && strings.Contains(file, ".jsonl"):
		s := &labelled{name: "raw/" + strings.TrimSuffix(strings.TrimSuffix(file, ".zst"), ".jsonl"), path: path}
		if s.name == "raw/debian_docs" {
			s.frame = otherPage
		}
		return s, nil
	}
	return nil, nil
}

// load reads the documents, unless they were generated.
func (s *labelled) load(ctx context.Context) error {
	if s.path != "" {
		err := readRecords(ctx, []string{s.path}, func(id, text []byte) {
			s.docs = append(s.docs, peers.Doc{ID: string(id), Text: string(text)})
		})
		if err != nil {
			return err
		}
	}
	s.at, s.measured = map[string]int{}, map[[2]int]likeness{}
	for i := range s.docs {
		s.at[s.docs[i].ID] = i
	}
	return nil
}

// unload lets go of what load has made.
func (s *labelled) unload() { s.docs, s.at, s.measured = nil, nil, nil }

// of are the positions of a pair's documents, in order.
func (s *labelled) of(p *pair) (earlier, later int) {
	a, b := s.at[p.a], s.at[p.b]
	return min(a, b), max(a, b)
}

// otherPage reports whether two ids of debian_docs, which are a package and the path
// of a file in it, are different pages of one package: under another name, or with the
// same ending in a directory of another name. Not so a page and its source, nor a page
// and its translation.
func otherPage(id, witness string) bool {
	a, b := pageOf(id), pageOf(witness)
	return a.pkg == b.pkg && (a.name != b.name || a.ending == b.ending && a.dir != b.dir)
}

// page is what an id of debian_docs says of a page.
type page struct{ pkg, dir, name, ending string }

// roots are directories that do not tell pages apart: the top ones and those of a
// language.
var roots = regexp.MustCompile(`^(html|_sources|Documentation|[a-z]{2}_[A-Z]{2})$`)

// pageOf takes an id apart. That a file is compressed, or the copy of a source, does not
// count.
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
