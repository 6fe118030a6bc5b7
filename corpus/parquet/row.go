package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A record of this format is a row. If rows are written again, it begins with 8 bytes that identify
// the schema. Then come the entries of each column read: first those of the text, then of the id,
// then of the others in their order. An entry has its repetition level, unless it is the first of
// its column, and then its definition level. Each level is a byte and present only if it can be
// above 0. Then comes the value if there is one, as it is stored plainly. Values without a length
// of their own stand behind their length, as a uvarint. Behind the last entry of a repeated column
// stands a 0.

var errRow = errors.New("a row is not as it was read")

// errLong is returned if a row is longer than the limit. The row is passed over.
var errLong = errors.New("the row is longer than the limit")

// maxEntries is how many values a row may have in a list: a few bytes can claim thousands of
// millions.
const maxEntries = 1 << 24

// appendRow appends the entries of the row that c stands at, and goes behind it. The result has no
// more than limit bytes.
func (c *column) appendRow(dst []byte, limit int) ([]byte, error) {
	long, from, count := false, len(dst), 0
	for first := true; c.more && (first || c.rep > 0); first = false {
		if first == (c.rep > 0) {
			return dst, c.fail(errors.New("a row begins inside of a list"))
		}
		if !first && !long {
			dst = append(dst, byte(c.rep))
		}
		if count++; count > maxEntries {
			return dst, c.fail(fmt.Errorf("a row has more than %d values in it", maxEntries))
		}
		if c.leaf.maxDef > 0 {
			dst = append(dst, byte(c.def))
		}
		if c.def == c.leaf.maxDef {
			if c.leaf.width() == 0 {
				dst = binary.AppendUvarint(dst, uint64(len(c.value)))
			}
			if len(dst)+len(c.value) <= limit {
				dst = append(dst, c.value...)
			} else {
				long = true
			}
		}
		if long = long || len(dst) > limit; long {
			dst = dst[:from]
		}
		if err := c.advance(); err != nil {
			return dst, err
		}
	}
	switch {
	case long:
		return dst, errLong
	case c.leaf.maxRep > 0:
		dst = append(dst, 0)
	}
	return dst, nil
}

// appendBlank appends the entries of a row without a value: a null, an empty list, or the nearest
// to that in a column that must have a value.
func (l *leaf) appendBlank(dst []byte) []byte {
	if l.maxDef > 0 {
		dst = append(dst, 0)
	} else if width := l.width(); width > 0 {
		dst = append(dst, make([]byte, width)...)
	} else {
		dst = append(dst, 0) // its length
	}
	if l.maxRep > 0 {
		dst = append(dst, 0)
	}
	return dst
}

// entry is an entry of a column in a row.
type entry struct {
	rep, def int
	value    []byte // nil for a null
}

// cutEntry takes an entry from the beginning of a row; first that of its column.
func (l *leaf) cutEntry(row []byte, first bool) (e entry, rest []byte, err error) {
	e.def = l.maxDef
	if !first {
		if len(row) == 0 {
			return e, row, errRow
		}
		e.rep, row = int(row[0]), row[1:]
	}
	if l.maxDef > 0 {
		if len(row) == 0 {
			return e, row, errRow
		}
		e.def, row = int(row[0]), row[1:]
	}
	if e.def < l.maxDef {
		return e, row, nil
	}
	size := uint64(l.width())
	if size == 0 {
		n := 0
		if size, n = binary.Uvarint(row); n <= 0 {
			return e, row, errRow
		}
		row = row[n:]
	}
	if size > uint64(len(row)) {
		return e, row, errRow
	}
	e.value = row[:size:size]
	return e, row[size:], nil
}

// each calls f for all entries of a column in a row, and returns the bytes behind them.
func (l *leaf) each(row []byte, f func(e entry)) ([]byte, error) {
	for first := true; ; first = false {
		if !first {
			if len(row) > 0 && row[0] == 0 {
				return row[1:], nil
			}
		}
		e, rest, err := l.cutEntry(row, first)
		if err != nil {
			return rest, err
		}
		f(e)
		if row = rest; l.maxRep == 0 {
			return row, nil
		}
	}
}
