package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Physical types (parquet.thrift, Type).
const (
	typeBoolean = 0
	typeInt32   = 1
	typeInt64   = 2
	typeInt96   = 3
	typeFloat   = 4
	typeDouble  = 5
	typeBytes   = 6
	typeFixed   = 7
)

// fileMagic is the beginning and the end of a file; one with an encrypted footer ends with
// cryptMagic.
const (
	fileMagic  = "PAR1"
	cryptMagic = "PARE"
)

const (
	maxFooter  = 32 << 20 // bytes; the data made from it take no more than as much again
	maxColumns = 10_000
	maxGroups  = 1 << 20
)

// meta is the content of a file's footer. Its slices are pieces of the footer, including those that
// this package does not understand.
type meta struct {
	version   int64
	rows      int64
	schemaRaw []byte // the list of elements
	kvRaw     []byte // key_value_metadata, or nil
	ordersRaw []byte // column_orders, or nil
	elements  []element
	leaves    []leaf
	groups    []group
}

// element is a node of the schema.
type element struct {
	raw        []byte
	name       string
	typ        int32 // -1: none, it has children
	length     int32
	repetition int32
	children   int32
	converted  int32 // -1: none
	unsigned   bool  // by its logical type
	integer    bool  // likewise: it has one, INTEGER
	logical    int   // which one it has, the number in the union; 0: none
}

// Repetitions of a node.
const (
	required = 0
	optional = 1
	repeated = 2
)

// leaf is a column.
type leaf struct {
	element
	path           []string
	maxDef, maxRep int
}

// name is the path as flags have it.
func (l *leaf) name() string { return strings.Join(l.path, ".") }

// named reports whether this is the name. It does not make the name: the columns of a hostile file
// have long ones in common.
func (l *leaf) named(name string) bool {
	for i, part := range l.path {
		if i > 0 {
			if !strings.HasPrefix(name, ".") {
				return false
			}
			name = name[1:]
		}
		if !strings.HasPrefix(name, part) {
			return false
		}
		name = name[len(part):]
	}
	return name == ""
}

// width returns how many bytes a value has, 0 if that differs.
func (l *leaf) width() int {
	switch l.typ {
	case typeBoolean:
		return 1 // here, for a bit in the file
	case typeInt32, typeFloat:
		return 4
	case typeInt64, typeDouble:
		return 8
	case typeInt96:
		return 12
	case typeFixed:
		return int(l.length)
	}
	return 0
}

// group is a row group.
type group struct {
	rows int64
	raw  []byte // a piece of the footer
}

// chunk is a column of a row group.
type chunk struct {
	typ, codec     int32
	values         int64
	size           int64 // stored bytes
	data, dict     int64 // the offsets of its pages; dict 0: no dictionary
	elsewhere, enc bool  // in another file, encrypted
}

// readMeta reads the footer of a file.
func readMeta(r io.ReaderAt, size int64) (*meta, error) {
	footer, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	m := &meta{}
	t := &thriftReader{data: footer}
	var encrypted bool
	t.each(func(id int, typ byte) {
		switch {
		case id == 1 && typ == thriftI32:
			m.version = t.int()
		case id == 2 && typ == thriftList:
			m.schemaRaw = t.raw(typ)
		case id == 3 && typ == thriftI64:
			m.rows = t.int()
		case id == 4 && typ == thriftList:
			m.groups = readGroups(t)
		case id == 5 && typ == thriftList:
			m.kvRaw = t.raw(typ)
		case id == 7 && typ == thriftList:
			m.ordersRaw = t.raw(typ)
		default:
			encrypted = encrypted || id == 8
			t.skip(typ)
		}
	})
	switch {
	case t.err != nil:
		return nil, fmt.Errorf("its footer: %w", t.err)
	case encrypted:
		return nil, errors.New("its columns are encrypted: decrypt it first")
	}
	if err := m.readSchema(); err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	return m, m.check(size)
}

func readFooter(r io.ReaderAt, size int64) ([]byte, error) {
	var tail [8]byte
	if size < 12 {
		return nil, errors.New("it is too short for a Parquet file")
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	switch string(tail[4:]) {
	case fileMagic:
	case cryptMagic:
		return nil, errors.New("it is encrypted: decrypt it first")
	default:
		return nil, errors.New("it does not end as a Parquet file does: it is cut off, or something was written behind it")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > min(size-12, maxFooter) {
		return nil, fmt.Errorf("its footer of %d bytes is longer than the file, or than the limit of %d", n, maxFooter)
	}
	footer := make([]byte, n)
	_, err := r.ReadAt(footer, size-8-n)
	return footer, err
}

// readGroups finds the row groups. Their descriptions of columns are read only with the group,
// because these take many times their bytes in the footer.
func readGroups(t *thriftReader) (groups []group) {
	n, typ := t.list()
	if typ != thriftStruct && n > 0 || n > maxGroups {
		t.fail(errThrift)
	}
	for i := 0; i < n && t.err == nil; i++ {
		groups = append(groups, group{raw: t.raw(thriftStruct)})
	}
	return groups
}

// read appends the columns of a group to chunks, and notes how many rows it has.
func (g *group) read(chunks []chunk) ([]chunk, error) {
	t := &thriftReader{data: g.raw}
	t.each(func(id int, typ byte) {
		switch {
		case id == 1 && typ == thriftList:
			chunks = readChunks(t, chunks[:0])
		case id == 3 && typ == thriftI64:
			g.rows = t.int()
		default:
			t.skip(typ)
		}
	})
	return chunks, t.err
}

func readChunks(t *thriftReader, chunks []chunk) []chunk {
	n, typ := t.list()
	if typ != thriftStruct && n > 0 || n > maxColumns {
		t.fail(errThrift)
	}
	for i := 0; i < n && t.err == nil; i++ {
		c := chunk{typ: -1}
		t.each(func(id int, typ byte) {
			switch {
			case id == 3 && typ == thriftStruct:
				c.read(t)
			default:
				c.elsewhere = c.elsewhere || id == 1
				c.enc = c.enc || id == 8 || id == 9
				t.skip(typ)
			}
		})
		chunks = append(chunks, c)
	}
	return chunks
}

// read reads the metadata of a column chunk.
func (c *chunk) read(t *thriftReader) {
	t.each(func(id int, typ byte) {
		number := typ == thriftI64
		switch {
		case id == 1 && typ == thriftI32:
			c.typ = t.int32()
		case id == 4 && typ == thriftI32:
			c.codec = t.int32()
		case id == 5 && number:
			c.values = t.int()
		case id == 7 && number:
			c.size = t.int()
		case id == 9 && number:
			c.data = t.int()
		case id == 11 && number:
			c.dict = t.int()
		default:
			t.skip(typ)
		}
	})
}

// start returns the offset of the first page.
func (c *chunk) start() int64 {
	if c.dict > 0 && c.dict < c.data {
		return c.dict
	}
	return c.data
}

// check refuses impossible values, before anything is read by them.
func (m *meta) check(size int64) (err error) {
	rows := int64(0)
	var chunks []chunk
	for g := range m.groups {
		group := &m.groups[g]
		if chunks, err = group.read(chunks[:0]); err != nil {
			return fmt.Errorf("row group %d: %w", g, err)
		}
		if len(chunks) != len(m.leaves) || group.rows < 0 || group.rows > math.MaxInt64-rows {
			return fmt.Errorf("row group %d has %d columns of %d, and %d rows", g, len(chunks), len(m.leaves), group.rows)
		}
		rows += group.rows
		for i := range chunks {
			// pyarrow writes a group of no rows for an empty table, whose chunks have no places.
			if reason := chunks[i].check(&m.leaves[i], size); reason != "" && group.rows > 0 {
				return fmt.Errorf("row group %d: column %s %s", g, m.leaves[i].name(), reason)
			}
		}
	}
	if rows != m.rows {
		return fmt.Errorf("its row groups have %d rows, and the file says it has %d: it is damaged", rows, m.rows)
	}
	return nil
}

// check returns the first impossible value, if there is any.
func (c *chunk) check(l *leaf, size int64) (reason string) {
	switch {
	case c.elsewhere:
		return "is in another file, which is not read"
	case c.enc:
		return "is encrypted: decrypt it first"
	case c.typ != l.typ:
		return "has another type than the schema says"
	case c.values < 0 || c.start() < 4 || c.size < 0 || c.start() > size || c.size > size-c.start():
		return "lies outside of the file"
	}
	return ""
}
