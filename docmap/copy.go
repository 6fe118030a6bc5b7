package docmap

import (
	"io"

	"go.etcd.io/bbolt"
)

// A Copy is the file of a table as of a checkpoint, for another goroutine to write elsewhere. Until
// Close the file grows as with [Table.Freeze].
type Copy struct{ tx *bbolt.Tx }

// Copy returns the table's file as of the last checkpoint. Close the Copy before t.
func (t *Table) Copy() (*Copy, error) {
	if t.db == nil {
		return nil, errClosed
	}
	tx, err := t.db.Begin(false)
	return &Copy{tx}, err
}

// Size returns the bytes that WriteTo writes.
func (c *Copy) Size() int64 { return c.tx.Size() }

// WriteTo writes a file that Open opens.
func (c *Copy) WriteTo(w io.Writer) (int64, error) { return c.tx.WriteTo(w) }

// Close lets the table reuse the space of the state.
func (c *Copy) Close() error { return c.tx.Rollback() }
