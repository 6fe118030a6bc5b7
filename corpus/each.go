package corpus

import (
	"context"
	"io"
)

// EachBlock calls f with every block of a source, and the parser of its format. A block is valid
// until f returns.
func EachBlock(ctx context.Context, source *Source, f func(b *Block, parser Parser) error) error {
	var b Block
	defer b.Release()
	var parser Parser
	for {
		err := source.Next(ctx, &b)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case parser == nil:
			if parser, err = b.Format.NewParser(""); err != nil {
				return err
			}
		}
		if err := f(&b, parser); err != nil {
			return err
		}
	}
}
