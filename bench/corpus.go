package main

import (
	"context"
	"io"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/feature"
)

// document is a text with its features, for measurements that keep a whole corpus in memory.
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

// readRecords passes ID and text of each document to do. Both are valid during the call.
func readRecords(ctx context.Context, paths []string, do func(id, text []byte)) error {
	inputs, _, err := input.Expand(paths, jsonl.Format{}.Endings())
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
