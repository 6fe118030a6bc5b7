package corpus

import (
	"context"
	"io"
	"iter"

	"golang.org/x/sync/errgroup"
)

// Record is a record of a source, with its block. Both are valid until the next record.
type Record struct {
	*Document
	Block *Block
}

// Records yields the records of a source, even bad ones, and any error last. It closes the source.
func Records(ctx context.Context, source *Source) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		defer source.Close() // no-op after the end; before it, another error is reported
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

// Reader fills a result from the good documents of a block. The result may hold earlier contents.
type Reader[T any] func(b *Block, documents iter.Seq[*Document], result *T) error

// Part is a block that was read in parallel with others.
type Part[T any] struct {
	Block  Block
	Result T
	Good   int64
	Bad    []*BadRecord
	done   chan error
}

func (p *Part[T]) fill(read Reader[T]) error {
	parser, err := p.Block.Format.NewParser("")
	if err != nil {
		return err
	}
	p.Good, p.Bad = 0, p.Bad[:0]
	return read(&p.Block, func(yield func(*Document) bool) {
		for doc := range parser.Parse(&p.Block) {
			switch {
			case doc.Bad != nil:
				p.Bad = append(p.Bad, doc.Bad)
			case !doc.Empty && !doc.Other:
				if p.Good++; !yield(doc) {
					return
				}
			}
		}
	}, &p.Result)
}

// EachParallel reads a source in jobs goroutines, at least one, each with its own reader. It calls
// emit with the parts in order, and closes the source. However long the source, there are only a few parts.
func EachParallel[T any](ctx context.Context, source *Source, jobs int, newReader func() (Reader[T], error), emit func(*Part[T]) error) error {
	defer source.Close() // no-op after the end; before it, another error is reported
	jobs = max(jobs, 1)
	readers := make([]Reader[T], jobs)
	for i := range readers {
		var err error
		if readers[i], err = newReader(); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	free, pending, order := make(chan *Part[T], jobs+2), make(chan *Part[T], jobs+2), make(chan *Part[T], jobs+2)
	for range cap(free) {
		free <- &Part[T]{done: make(chan error, 1)}
	}
	group.Go(func() error {
		defer close(pending)
		defer close(order)
		for {
			var p *Part[T]
			select {
			case p = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := source.Next(ctx, &p.Block); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			pending <- p
			order <- p
		}
	})
	for _, read := range readers {
		group.Go(func() error {
			for p := range pending {
				p.done <- p.fill(read)
			}
			return nil
		})
	}
	group.Go(func() error {
		var inflation Inflation
		for p := range order {
			err := <-p.done
			if err == nil {
				err = emit(p)
			}
			if err == nil {
				err = inflation.Add(&p.Block)
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
