package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Numbers reads a column of 64-bit numbers, in the order of its rows. It is for one goroutine, and
// holds one page.
type Numbers struct{ rows }

// OpenNumbers reads the footer of a file, and prepares to read the column with a name.
func OpenNumbers(file io.ReaderAt, size int64, name string) (*Numbers, error) {
	m, err := readMeta(file, size)
	if err != nil {
		return nil, err
	}
	n := &Numbers{rows{meta: m, group: -1, pages: pages{file: file, spend: func(int64) error { return nil }}}}
	if m.Rows == 0 { // it may have any columns
		m.Groups = nil
		return n, nil
	}
	at := slices.IndexFunc(m.leaves, func(l leaf) bool { return l.named(name) })
	if at < 0 || m.leaves[at].typ != typeInt64 || m.leaves[at].maxRep > 0 {
		return nil, fmt.Errorf("it has no column %s of 64-bit numbers: %s", name, m.names())
	}
	n.order, n.columns = []int{at}, []*column{{leaf: &m.leaves[at], pages: &n.pages}}
	return n, nil
}

// Rows returns the number of rows.
func (n *Numbers) Rows() int64 { return n.meta.Rows }

// Groups returns the number of row groups.
func (n *Numbers) Groups() int { return len(n.meta.Groups) }

// Skip leaves out the rest of the row group, and some groups after it.
func (n *Numbers) Skip(groups int) {
	n.group, n.row = n.group+groups, n.size
	for _, c := range n.columns {
		c.more = false
	}
}

// Next returns the next number, or io.EOF. Unsigned numbers from 1<<63 on are negative.
func (n *Numbers) Next() (int64, error) {
	for n.group < 0 || n.row == n.size {
		if err := n.nextGroup(); err != nil {
			return 0, err
		}
	}
	n.row++
	c := n.columns[0]
	switch {
	case !c.more:
		return 0, n.fail(c.fail(fmt.Errorf("it ends after %d rows of %d", n.row-1, n.size)))
	case c.def < c.leaf.maxDef:
		return 0, n.fail(c.fail(errors.New("it has a null")))
	}
	v := int64(binary.LittleEndian.Uint64(c.value))
	if err := c.advance(); err != nil {
		return 0, n.fail(err)
	}
	return v, nil
}
