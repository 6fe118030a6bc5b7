package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/feature"
)

// document is one text with its features, for measurements that keep a whole
// corpus in memory.
type document struct {
	id, text string
	set      feature.Set
}

// readDocuments reads all documents of JSONL files and extracts their features.
func readDocuments(ctx context.Context, scheme feature.Scheme, paths ...string) ([]document, error) {
	inputs, _, err := corpus.Expand(paths, jsonl.Format{}.Endings())
	if err != nil {
		return nil, err
	}
	extractor, err := feature.NewExtractor(scheme)
	if err != nil {
		return nil, err
	}
	parser, err := jsonl.Format{}.NewParser("")
	if err != nil {
		return nil, err
	}
	src := corpus.NewSource(inputs, jsonl.Format{}, corpus.SourceConfig{})
	defer src.Close()
	var docs []document
	var block corpus.Block
	for {
		if err := src.Next(ctx, &block); err == io.EOF {
			return docs, nil
		} else if err != nil {
			return nil, err
		}
		for rec := range parser.Parse(&block) {
			if rec.Bad != nil {
				continue
			}
			d := document{id: string(rec.ID), text: string(rec.Text)}
			extractor.Extract(&d.set, rec.Text)
			docs = append(docs, d)
		}
	}
}

// pair is a labelled pair of documents.
type pair struct {
	a, b, label string
	lcs         float64
}

// readPairs reads a pairs.tsv: id1, id2, label, jac5, cont5, lcs, seg.
func readPairs(path string) ([]pair, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	lines := bufio.NewScanner(r)
	var pairs []pair
	columns := map[string]int{}
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		if len(columns) == 0 {
			for i, name := range cells {
				columns[name] = i
			}
			continue
		}
		p := pair{a: cells[0], b: cells[1], label: cells[2], lcs: -1}
		if at, ok := columns["lcs"]; ok {
			if p.lcs, err = strconv.ParseFloat(cells[at], 64); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		pairs = append(pairs, p)
	}
	return pairs, lines.Err()
}
