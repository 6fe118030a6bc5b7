package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/step"
)

// Compacted tells what Compact has done. The JSON form is a contract.
type Compacted struct {
	Before TableStats `json:"before"`
	After  TableStats `json:"after"`
	Filter bool       `json:"filter_rebuilt"`
}

// Compact writes the table anew without what was taken back, and gives the space back;
// then the filter, of the size it has. Each takes the place of the old file in one step:
// whoever is stopped at any moment leaves an index that is as it was before one of them.
// The table needs room for a second one meanwhile, the filter its memory.
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

// rebuildFilter makes the filter anew, without the keys of dead documents, where there is
// one that is the table's.
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
	f, err := bloomstore.New(h.Shape, e.x.table.Scheme())
	if err != nil {
		return false, err
	}
	if err = fillFilter(ctx, f, e.x.table); err == nil {
		err = f.Save(path, h.Stamp)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("rebuilding the filter: %w", err)
	}
	return true, nil
}
