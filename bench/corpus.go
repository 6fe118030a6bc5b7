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
	id  string
	set feature.Set
}

// readDocuments reads all documents of JSONL files and extracts their features.
func readDocuments(ctx context.Context, scheme feature.Scheme, paths ...string) (docs []document, err error) {
	extractor, err := feature.NewExtractor(scheme)
	if err != nil {
		return nil, err
	}
	err = readRecords(ctx, paths, func(id, text []byte) {
		d := document{id: string(id)}
		extractor.Extract(&d.set, text)
		docs = append(docs, d)
	})
	return docs, err
}

// readRecords hands the id and the text of each document of JSONL files to do. Both
// are valid during the call.
func readRecords(ctx context.Context, paths []string, do func(id, text []byte)) error {
	inputs, _, err := corpus.Expand(paths, jsonl.Format{}.Endings())
	if err != nil {
		return err
	}
	parser, err := jsonl.Format{}.NewParser("")
	if err != nil {
		return err
	}
	src := corpus.NewSource(inputs, jsonl.Format{}, corpus.SourceConfig{})
	defer src.Close()
	var block corpus.Block
	for {
		if err := src.Next(ctx, &block); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for rec := range parser.Parse(&block) {
			if rec.Bad == nil {
				do(rec.ID, rec.Text)
			}
		}
	}
}

// alikeLCS is from where the two texts of a pair are alike: 2·LCS/(n+m) over units.
const alikeLCS = 0.8

// pair is a labelled pair of documents.
type pair struct {
	a, b, label string
	alike       bool
}

// negative reports whether the texts are labelled as unlike: as unrelated ones made to
// share two sentences, or sentences that mean different things.
func (p *pair) negative() bool {
	return strings.HasPrefix(p.label, "hardneg") || p.label == "0"
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
		p := pair{a: cells[0], b: cells[1], label: cells[2]}
		if at, ok := columns["lcs"]; ok {
			lcs, err := strconv.ParseFloat(cells[at], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			p.alike = lcs >= alikeLCS
		}
		pairs = append(pairs, p)
	}
	return pairs, lines.Err()
}
