package corpus

import (
	"context"
	"io"
	"iter"

	"golang.org/x/sync/errgroup"
)

// Record is a record of a source, and the block that it stands in. Both are valid until the next one.
type Record struct {
	*Document
	Block *Block
}

// Records yields the records of a source, bad ones too. An error is the last. The source is closed.
func Records(ctx context.Context, source *Source) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		defer source.Close() // after its end, nothing; before it, another error is reported
		var b Block
		defer b.Release()
		var parser Parser
		var inflation Inflation
		for {
			err := source.Next(ctx, &b)
			if err == io.EOF {
				return
			}
			if err == nil && parser == nil {
				parser, err = b.Format.NewParser("")
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			for doc := range parser.Parse(&b) {
				if !yield(Record{doc, &b}, nil) {
					return
				}
			}
			if err := inflation.Add(&b); err != nil {
				yield(Record{}, err)
				return
			}
		}
	}
}

// EachParallel reads a source and calls work for every block in one of so many goroutines, and emit
// with its result in the order of the source. Results are used again, so there are a few of them
// however long the source is: the T given to work is one made by new, maybe with the content of an
// earlier block. The source is closed.
func EachParallel[T any](ctx context.Context, source *Source, jobs int, create func() T, newWorker func() func(*Block, T) error, emit func(*Block, T) error) error {
	defer source.Close() // after its end, nothing; before it, another error is reported
	type piece struct {
		block  Block
		result T
		done   chan error // of work
	}
	group, ctx := errgroup.WithContext(ctx)
	free, pending, order := make(chan *piece, jobs+2), make(chan *piece, jobs+2), make(chan *piece, jobs+2)
	for range cap(free) {
		free <- &piece{result: create(), done: make(chan error, 1)}
	}
	group.Go(func() error {
		defer close(pending)
		defer close(order)
		for {
			var p *piece
			select {
			case p = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := source.Next(ctx, &p.block); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			pending <- p
			order <- p
		}
	})
	for range jobs {
		group.Go(func() error {
			work := newWorker()
			for p := range pending {
				p.done <- work(&p.block, p.result)
			}
			return nil
		})
	}
	group.Go(func() error {
		var inflation Inflation
		for p := range order {
			err := <-p.done
			if err == nil {
				err = emit(&p.block, p.result)
			}
			if err == nil {
				err = inflation.Add(&p.block)
			}
			if err != nil {
				return err
			}
			free <- p
		}
		return nil
	})
	return group.Wait()
}
