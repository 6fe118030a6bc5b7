package index

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/bloomstore"
)

// rebuildable reports whether the filter needs to be made anew, and can be: from a
// table without any damage.
func (c *checker) rebuildable() bool {
	return c.table != nil && !c.damaged(TableFile) &&
		slices.ContainsFunc(c.out.Findings, func(f Finding) bool { return f.File == FilterFile })
}

// rebuild makes the filter anew, of the size it has, or as large as the table
// needs, and checks the new file. The old one is there until the new one is whole.
func (c *checker) rebuild() error {
	c.o.Progress("table for a new filter", 0, 0)
	if err := c.saveNew(); err != nil {
		return fmt.Errorf("rebuilding the filter: %w", err)
	}
	c.out.Rebuilt = true
	c.out.Findings = slices.DeleteFunc(c.out.Findings, func(f Finding) bool { return f.File == FilterFile })
	var err error
	if c.p, err = look(c.dir); err != nil {
		return err
	}
	return c.checkFilter(nil)
}

func (c *checker) saveNew() error {
	shape := c.p.header.Shape
	if shape == (bloomstore.Shape{}) {
		s, _ := schemeNamed(c.table.Scheme(), nil) // its numbers are right without the key
		shape = ShapeFor(DefaultDocs, s, false)
	}
	f, err := filterOf(c.ctx, shape, c.table, true)
	if err != nil {
		return err
	}
	return errors.Join(f.Save(c.path(FilterFile), tableStamp(c.table, 0)), f.Close())
}
