package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/step"
)

// Compacted is the result of Compact. The JSON form is a contract.
type Compacted struct {
	Before TableStats `json:"before"`
	After  TableStats `json:"after"`
	Filter bool       `json:"filter_rebuilt"`
}

// Compact rewrites the table without the documents taken back, which frees their space. Then it
// rebuilds the filter in its size. Each new file replaces the old one in one step, so a kill leaves
// a usable index at any moment. Meanwhile the table needs space for a second one, and the filter
// its memory.
func (e *Editor) Compact(ctx context.Context) (c Compacted, err error) {
	c.Before = StatsOf(e.x.table)
	if err := e.x.table.Compact(ctx); err != nil {
		return c, err
	}
	err = step.Done("compacted the table")
	if err == nil {
		err = e.open()
	}
	if err != nil {
		return c, fmt.Errorf("the table is compacted, and the filter is not yet: %w; compact once more", err)
	}
	c.After = StatsOf(e.x.table)
	c.Filter, err = e.rebuildFilter(ctx)
	return c, err
}

// rebuildFilter rebuilds the filter without the keys of dead documents, if the index has a filter of
// the table's state.
func (e *Editor) rebuildFilter(ctx context.Context) (bool, error) {
	path := e.x.path(FilterFile)
	h, err := bloomstore.ReadHeader(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case string(h.Stamp) != string(e.x.stamp(0)):
		return false, nil // the next run makes it anew
	}
	f, err := filterOf(ctx, h.Shape, e.x.table, false)
	if err == nil {
		err = errors.Join(f.Save(path, h.Stamp), f.Close())
	}
	if err != nil {
		return false, fmt.Errorf("rebuilding the filter: %w", err)
	}
	return true, nil
}
