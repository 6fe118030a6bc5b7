// Package badrecords counts the bad records that a command meets, and says what may be wrong with them.
package badrecords

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// Err is the error of a command that came to its end and met bad records.
var Err = errors.New("some records were bad")

// maxNamed is the most bad records named one by one: a wrong field makes all records bad.
const maxNamed = 10

// Counter counts the records of a command.
type Counter struct {
	Most  int64            // bad records allowed; negative: any number
	Named io.Writer        // receives the first bad records; nil for none
	Run   bool             // the command is a run, which has --rejects
	Fate  string           // of bad records; "" if they are not kept
	Bad   int64            // bad records
	All   int64            // all records, bad ones included
	Noun  string           // name of a record
	First *report.Rejected // nil without bad records
}

// Each reads the documents of a source.
func (c *Counter) Each(ctx context.Context, source *corpus.Source, do func(corpus.Record) error) error {
	for r, err := range corpus.Records(ctx, source) {
		good, err := c.Check(r, err)
		if good {
			err = do(r)
		}
		if err != nil {
			return err
		}
	}
	return c.End()
}

// EachParallel reads the documents of a source in several goroutines, as [corpus.EachParallel] does.
// emit gets the results in order.
func EachParallel[T any](ctx context.Context, source *corpus.Source, jobs int, c *Counter, newReader func() (corpus.Reader[T], error), emit func(*corpus.Block, *T) error) error {
	return corpus.EachParallel(ctx, source, jobs, newReader, func(p *corpus.Part[T]) error {
		c.Noun = p.Block.Format.Noun()
		c.All += p.Good + int64(len(p.Bad))
		for _, record := range p.Bad {
			c.add(record)
		}
		if err := c.over(); err != nil {
			return err
		}
		return emit(&p.Block, &p.Result)
	})
}

// Check counts a record that was read without err, and reports whether it is good. It fails if more
// are bad than allowed.
func (c *Counter) Check(r corpus.Record, err error) (good bool, _ error) {
	if err != nil {
		return false, err
	}
	c.Noun = r.Block.Format.Noun()
	c.All++
	if r.Bad == nil {
		return true, nil
	}
	c.add(r.Bad)
	return false, c.over()
}

func (c *Counter) add(bad *corpus.BadRecord) {
	if c.Bad++; c.First == nil {
		c.First = report.Reject(bad)
	}
	switch {
	case c.Named == nil || c.Bad > maxNamed:
	case c.Bad == maxNamed:
		fmt.Fprintf(c.Named, "firstseen: %v; further ones are only counted\n", bad)
	default:
		fmt.Fprintln(c.Named, "firstseen:", bad)
	}
}

// over returns an error if more records are bad than allowed.
func (c *Counter) over() error {
	if c.Most < 0 || c.Bad <= c.Most {
		return nil
	}
	return fmt.Errorf("%w: %d, the first %s:%v: %s", pipeline.ErrTooManyBad, c.Bad, c.First.File, c.First.Line, c.First.Reason)
}

// End returns the error of a command that came to its end, or nil without bad records.
func (c *Counter) End() error {
	if c.Bad == 0 {
		return nil
	}
	err := fmt.Errorf("%w and %s: %d of %d %ss", Err, cmp.Or(c.Fate, "are not kept"), c.Bad, c.All, c.Noun)
	err = fmt.Errorf("%w, the first %s:%v: %s", err, c.First.File, c.First.Line, c.First.Reason)
	if remedy := advice(c.First, 2*c.Bad > c.All, c.Run); remedy != "" {
		return fmt.Errorf("%w; %s", err, remedy)
	}
	return err
}
