package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus"
)

// rows reads the rows of a file. It is a [corpus.Rows].
type rows struct {
	meta    *meta
	columns []*column // in their order in a row
	order   []int     // of each in the schema
	hasID   bool
	idAt    int    // of columns, the id
	print   []byte // before each row; empty if rows are not written again
	limit   int
	pages   pages
	group   int   // the group being read
	size    int64 // its rows
	row     int64
	open    bool
}

// Open reads the footer of a file and begins with its first row.
func (f Format) Open(file io.ReaderAt, size int64, limits corpus.Limits) (corpus.Rows, error) {
	m, err := readMeta(file, size)
	if err != nil {
		return nil, err
	}
	order, id, err := f.order(m)
	if err != nil {
		return nil, err
	}
	r := &rows{meta: m, order: order, limit: limits.Record, hasID: id >= 0, pages: pages{file: file, spend: limits.Spend}}
	if id >= 0 && id != order[0] {
		r.idAt = 1
	}
	if f.Rows {
		r.print = m.print()
	}
	for _, i := range order {
		r.columns = append(r.columns, &column{leaf: &m.leaves[i], pages: &r.pages})
	}
	return r, nil
}

// order returns the order of the columns in a row, and the column of the id, -1 for none.
func (f Format) order(m *meta) (order []int, id int, err error) {
	text, err := m.textColumn(f.text())
	if err != nil {
		return nil, 0, err
	}
	if id, err = m.idColumn(f.ID); err != nil {
		return nil, 0, err
	}
	order = []int{text}
	if id >= 0 && id != text {
		order = append(order, id)
	}
	for i := range m.leaves {
		if f.Rows && i != text && i != id {
			order = append(order, i)
		}
	}
	return order, id, nil
}

// print returns the hash that identifies the schema.
func (m *meta) print() []byte {
	return binary.LittleEndian.AppendUint64(nil, xxh3.Hash(slices.Concat(m.Schema...)))
}

// blankRoom is how many bytes a row may exceed the limit by, for the blanks in place of values that
// are too long.
const blankRoom = 1 << 20

// Next appends the next row to dst. It returns io.EOF behind the last. In a row longer than the
// limit, columns that do not fit are blank.
func (r *rows) Next(dst []byte) (row []byte, at corpus.Place, bad string, err error) {
	for !r.open || r.row == r.size {
		if r.open {
			if err := r.checkEnd(); err != nil {
				return dst, at, "", err
			}
			r.group++
		}
		if r.open = r.group < len(r.meta.Groups); !r.open {
			return dst, at, "", io.EOF
		}
		if err := r.openGroup(); err != nil {
			return dst, at, "", r.fail(err)
		}
	}
	r.row++
	at = corpus.Place{Part: int64(r.group), Record: r.row}
	start := len(dst)
	dst = append(dst, r.print...)
	for _, c := range r.columns {
		if !c.more {
			return dst, at, "", r.fail(c.fail(fmt.Errorf("it has no more than %d rows of %d", r.row-1, r.size)))
		}
		var rowErr error
		dst, rowErr = c.appendRow(dst, start+r.limit)
		switch {
		case errors.Is(rowErr, errLong):
			bad = fmt.Sprintf("the row is longer than the limit of %d bytes", r.limit)
			dst = c.leaf.appendBlank(dst)
		case rowErr != nil:
			return dst, at, "", r.fail(rowErr)
		}
	}
	if bad != "" && (len(r.print) == 0 || len(dst)-start > r.limit+blankRoom) {
		dst = dst[:start] // no caller asks for it, or it is too long for any
	}
	return dst, at, bad, nil
}

// openGroup begins a row group.
func (r *rows) openGroup() error {
	g, chunks, err := r.meta.group(r.group)
	if err != nil {
		return err
	}
	r.row, r.size = 0, g.Rows
	for i, c := range r.columns {
		if err := c.open(chunks[r.order[i]]); err != nil {
			return err
		}
	}
	return nil
}

// checkEnd refuses columns that have more rows than their group.
func (r *rows) checkEnd() error {
	for _, c := range r.columns {
		if c.more {
			return r.fail(c.fail(fmt.Errorf("it has more than %d rows", r.row)))
		}
	}
	return nil
}

func (r *rows) fail(err error) error { return fmt.Errorf("row group %d: %w", r.group, err) }

// Read is about how many bytes of the file are read.
func (r *rows) Read() int64 {
	if len(r.columns) == 0 || !r.open {
		return 0
	}
	return r.columns[0].at
}

// Close gives the memory back.
func (r *rows) Close() { r.pages.tool.close() }
