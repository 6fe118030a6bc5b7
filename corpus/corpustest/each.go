// Package corpustest reads inputs for the tests of formats.
package corpustest

import (
	"context"
	"errors"
	"io"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
)

// Stdin is what cfg.Stdin gives, under the name "f".
var Stdin = []input.Input{{Path: input.Stdin, Name: "f", Size: -1}}

// Each reads inputs to their end, or to an error, and calls f for each document, bad
// ones too, with the block that it is in. A document is valid until f returns.
func Each(format corpus.Format, inputs []input.Input, cfg corpus.SourceConfig, f func(b *corpus.Block, doc *corpus.Document)) (err error) {
	s := corpus.NewSource(inputs, format, cfg)
	defer func() { err = errors.Join(err, s.Close()) }()
	p, err := format.NewParser("")
	if err != nil {
		return err
	}
	var b corpus.Block
	defer b.Release()
	for {
		if err := s.Next(context.Background(), &b); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for doc := range p.Parse(&b) {
			f(&b, doc)
		}
	}
}
