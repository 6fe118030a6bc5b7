package cut

import (
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/internal/engine/report/derive"
)

// A Cutter cuts ranges of their texts out of records.
type Cutter struct {
	cut    func(dst, raw, text []byte, ranges [][2]int, mark bool) ([]byte, error)
	mark   bool
	buf    []byte
	ranges [][2]int
}

// ErrFormat is returned for formats whose records cannot be cut.
var ErrFormat = errors.New("only lines of JSON and Parquet can be cut")

// NewCutter returns a cutter of records. With mark it marks the ranges instead.
func NewCutter(format corpus.Format, mark bool) (*Cutter, error) {
	switch f := format.(type) {
	case jsonl.Format:
		return &Cutter{mark: mark, cut: func(dst, raw, _ []byte, ranges [][2]int, mark bool) ([]byte, error) {
			return f.Cut(dst, raw, ranges, mark)
		}}, nil
	case parquet.Format:
		return &Cutter{mark: mark, cut: f.Cut}, nil
	}
	return nil, ErrFormat
}

// Document returns the record of a kept document without its cuts, or nil if it is not kept. list,
// unless nil, gets each cut.
func (c *Cutter) Document(plan *Plan, list func(id string, q *Cut, dropped bool) error, doc derive.Record) ([]byte, error) {
	if doc.Other || doc.Empty || doc.Line != nil && !doc.Line.Kept {
		return nil, nil
	}
	cuts, drop, err := plan.Document(string(doc.ID), doc.Text, doc.Line)
	if err != nil {
		return nil, err
	}
	c.ranges = c.ranges[:0]
	for i := range cuts {
		q := &cuts[i]
		c.ranges = append(c.ranges, [2]int{q.Start, q.End})
		if list != nil {
			if err := list(string(doc.ID), q, drop); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case drop:
		return nil, nil
	case len(cuts) == 0:
		return doc.Raw, nil
	}
	if c.buf, err = c.cut(c.buf[:0], doc.Raw, doc.Text, c.ranges, c.mark); err != nil {
		return nil, fmt.Errorf("cutting %q: %w", doc.ID, err)
	}
	return c.buf, nil
}
