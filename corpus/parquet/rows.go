package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus"
)

// rows implements [corpus.Rows] for a file.
type rows struct {
	meta    *meta
	columns []*column // in the order of a row
	order   []int     // index of each in the schema
	names   []string  // of the first columns, which have the texts
	id      *leaf     // the id column, or nil
	print   []byte    // precedes each row; empty unless rows are written again
	limit   int
	pages   pages
	group   int   // the group being read, or -1
	size    int64 // rows in group
	row     int64
}

// Open reads the footer of a file and prepares to read its first row.
func (f Format) Open(file io.ReaderAt, size int64, limits corpus.Limits) (corpus.Rows, error) {
	m, err := readMeta(file, size)
	if err != nil {
		return nil, err
	}
	order, id, err := f.order(m)
	if err != nil {
		return nil, err
	}
	r := &rows{meta: m, order: order, names: f.names(), limit: limits.Record, group: -1, pages: pages{file: file, spend: limits.Spend}}
	if id >= 0 {
		r.id = &m.leaves[id]
	}
	if f.Rows {
		r.print = m.print()
	}
	for _, i := range order {
		r.columns = append(r.columns, &column{leaf: &m.leaves[i], pages: &r.pages})
	}
	return r, nil
}

func (f Format) names() []string { return strings.Split(cmp.Or(f.Text, "text"), ",") }

// order returns the order of the columns in a row, and the index of the id column or -1. A file
// without rows may have any columns.
func (f Format) order(m *meta) (order []int, id int, err error) {
	if m.Rows == 0 {
		return nil, -1, nil
	}
	for _, name := range f.names() {
		text, err := m.column("text", name, (*leaf).isText)
		if err != nil {
			return nil, 0, err
		}
		order = append(order, text)
	}
	texts := order
	if id, err = m.column("id", cmp.Or(f.ID, "id"), (*leaf).isID); err != nil && f.ID != "" {
		return nil, 0, err
	}
	if id >= 0 && !slices.Contains(texts, id) {
		order = append(order, id)
	}
	for i := range m.leaves {
		if f.Rows && !slices.Contains(texts, i) && i != id {
			order = append(order, i)
		}
	}
	return order, id, nil
}

// print returns a hash that identifies the schema.
func (m *meta) print() []byte {
	return binary.LittleEndian.AppendUint64(nil, xxh3.Hash(slices.Concat(m.Schema...)))
}

// blankRoom is the number of bytes above the limit for blanks in a row that replace long values.
const blankRoom = 1 << 20

// Next appends the next row to dst, or returns io.EOF. Columns beyond the limit of a row are blank.
func (r *rows) Next(dst []byte) (row []byte, at corpus.Place, bad string, err error) {
	for r.group < 0 || r.row == r.size {
		if err := r.nextGroup(); err != nil {
			return dst, at, "", err
		}
	}
	r.row++
	at = corpus.Place{Part: int64(r.group), Record: r.row}
	start := len(dst)
	dst = append(dst, r.print...)
	for _, c := range r.columns {
		if !c.more {
			return dst, at, "", r.fail(c.fail(fmt.Errorf("it ends after %d rows of %d", r.row-1, r.size)))
		}
		var long bool
		if dst, long, err = c.appendRow(dst, start+r.limit); err != nil {
			return dst, at, "", r.fail(err)
		}
		if long {
			bad = fmt.Sprintf("the row is longer than the limit of %d bytes", r.limit)
			dst = c.leaf.appendBlank(dst)
		}
	}
	if bad != "" && (len(r.print) == 0 || len(dst)-start > r.limit+blankRoom) {
		dst = dst[:start] // no caller needs it, or it is too long even so
	}
	return dst, at, bad, nil
}

// nextGroup opens the next row group. It rejects columns with more rows than the finished group.
func (r *rows) nextGroup() error {
	for _, c := range r.columns {
		if c.more {
			return r.fail(c.fail(fmt.Errorf("it has more than %d rows", r.row)))
		}
	}
	if r.group++; r.group >= len(r.meta.Groups) {
		return io.EOF
	}
	g, chunks, err := r.meta.group(r.group)
	if err != nil {
		return r.fail(err)
	}
	r.row, r.size = 0, g.Rows
	for i, c := range r.columns {
		if err := c.open(chunks[r.order[i]]); err != nil {
			return r.fail(err)
		}
	}
	return nil
}

func (r *rows) fail(err error) error { return fmt.Errorf("row group %d: %w", r.group, err) }

// Read returns roughly how many bytes of the file have been read.
func (r *rows) Read() (n int64) {
	for _, c := range r.columns {
		return c.at
	}
	return 0 // it has no rows
}

// A record of this format is a row. If rows are written again, it begins with 8 bytes that identify
// the schema. The entries of each column read follow: first the texts, then the id, then the others
// in order. An entry is a repetition level, unless it is the first of its column, a definition
// level, and any value as in plain encoding. A level is one byte, omitted if always 0. The length
// of the value, if it varies, precedes it as a uvarint. A 0 ends the entries of a repeated column.

var errRow = errors.New("a row differs from the one that was read")

// maxEntries is the maximum number of values in a list of a row: a few bytes can claim billions.
const maxEntries = 1 << 24

// appendRow appends the entries of the current row of c, and moves to the next row. The result has
// at most limit bytes: a longer row is skipped.
func (c *column) appendRow(dst []byte, limit int) (_ []byte, long bool, err error) {
	from, count := len(dst), 0
	for first := true; c.more && (first || c.rep > 0); first = false {
		if first == (c.rep > 0) {
			return dst, long, c.fail(errors.New("a row begins inside a list"))
		}
		if !first && !long {
			dst = append(dst, byte(c.rep))
		}
		if count++; count > maxEntries {
			return dst, long, c.fail(fmt.Errorf("a row has more than %d values", maxEntries))
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
			return dst, long, err
		}
	}
	if c.leaf.maxRep > 0 && !long {
		dst = append(dst, 0)
	}
	return dst, long, nil
}

// appendBlank appends the entries of a blank row: a null, an empty list or, if required, zeros.
func (l *leaf) appendBlank(dst []byte) []byte {
	size := 1 // a level, or a length
	if l.maxDef == 0 {
		size = max(l.width(), 1)
	}
	if l.maxRep > 0 {
		size++
	}
	return append(dst, make([]byte, size)...)
}

// entry is an entry of a column in a row.
type entry struct {
	rep, def int
	value    []byte // nil for a null
}

// readEntry reads an entry of a row. first marks the first of its column.
func (l *leaf) readEntry(r *byteReader, first bool) (e entry) {
	e.def = l.maxDef
	if !first {
		e.rep = int(r.byte())
	}
	if l.maxDef > 0 {
		e.def = int(r.byte())
	}
	if e.def < l.maxDef {
		return e
	}
	size := uint64(l.width())
	if size == 0 {
		size = r.uvarint()
	}
	e.value = r.take(size)
	return e
}

// each calls f for every entry of a column in a row.
func (l *leaf) each(r *byteReader, f func(e entry)) {
	for first := true; ; first = false {
		if !first && r.at < len(r.data) && r.data[r.at] == 0 {
			r.at++
			return
		}
		e := l.readEntry(r, first)
		if r.err != nil {
			return
		}
		if f(e); l.maxRep == 0 {
			return
		}
	}
}

// column returns the text or id column with a dotted path. An error names the flag for another.
func (m *meta) column(what, name string, fits func(l *leaf) bool) (int, error) {
	named := func(l leaf) bool { return l.named(name) }
	i := slices.IndexFunc(m.leaves, named)
	if i < 0 {
		return i, fmt.Errorf("it has no column %q; name one with --%s-field: %s", name, what, m.names())
	}
	if slices.ContainsFunc(m.leaves[i+1:], named) {
		return -1, fmt.Errorf("it has several columns %q; name another with --%s-field: %s", name, what, m.names())
	}
	if l := &m.leaves[i]; l.maxRep > 0 || !fits(l) {
		return -1, fmt.Errorf("column %q holds no %s, but %s; name another with --%s-field: %s", name, what, l.kind(), what, m.names())
	}
	return i, nil
}

func (l *leaf) isText() bool { return l.typ == typeBytes || l.isNull() }

func (l *leaf) isID() bool {
	whole := l.typ == typeInt32 || l.typ == typeInt64
	return l.isText() || whole && (l.Logical == nil || l.Logical.Integer != nil)
}

// isNull reports whether a column has only nulls: pyarrow cannot know the type of the others.
func (l *leaf) isNull() bool { return l.Logical != nil && l.Logical.Null != nil }

func (l *leaf) kind() string {
	if l.maxRep > 0 {
		return "lists"
	}
	return physicalTypes[l.typ].kind
}

// unsigned reports whether numbers are unsigned.
func (l *leaf) unsigned() bool {
	if l.Logical != nil && l.Logical.Integer != nil && l.Logical.Integer.Signed != nil && !*l.Logical.Integer.Signed {
		return true
	}
	return l.Converted != nil && *l.Converted >= convertedUint8 && *l.Converted <= convertedUint64
}

// names lists the columns, for messages.
func (m *meta) names() string {
	var names []string
	for i := range m.leaves[:min(len(m.leaves), 12)] {
		name := m.leaves[i].name()
		if !utf8.ValidString(name) || len(name) > 64 {
			name = fmt.Sprintf("%.64q", name)
		}
		names = append(names, name)
	}
	if len(m.leaves) > len(names) {
		names = append(names, "and others")
	}
	return "it has " + strings.Join(names, ", ")
}
