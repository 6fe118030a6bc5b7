package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
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

// physicalTypes describes the physical types.
var physicalTypes = [...]struct {
	width int    // bytes of a value; 0 if it varies
	kind  string // content of a column, for messages
}{
	typeBoolean: {1, "booleans"}, // in a row; one bit in the file
	typeInt32:   {4, "numbers"},
	typeInt64:   {8, "numbers"},
	typeInt96:   {12, "times"},
	typeFloat:   {4, "fractions"},
	typeDouble:  {8, "fractions"},
	typeBytes:   {0, "bytes"},
	typeFixed:   {0, "bytes of fixed length"}, // given by the schema
}

// fileMagic begins and ends a file; cryptMagic ends one with an encrypted footer.
const (
	fileMagic  = "PAR1"
	cryptMagic = "PARE"
)

const (
	maxFooter  = 32 << 20 // bytes; decoded, it takes at most as much again
	maxColumns = 10_000
)

// fileMeta is a footer (parquet.thrift, FileMetaData). Nodes of the schema, metadata and orders
// stay encoded, including those unknown to this package.
type fileMeta struct {
	Version   int32     `thrift:"1"`
	Schema    []raw     `thrift:"2"`
	Rows      int64     `thrift:"3"`
	Groups    []raw     `thrift:"4"` // decoded one by one: they grow many times larger
	Metadata  []raw     `thrift:"5,optional"`
	CreatedBy string    `thrift:"6"`
	Orders    []raw     `thrift:"7,optional"`
	Encrypted *struct{} `thrift:"8"`
}

// rowGroup is a RowGroup.
type rowGroup struct {
	Chunks  []raw  `thrift:"1"`
	Plain   int64  `thrift:"2,written"` // bytes of its pages before compression
	Rows    int64  `thrift:"3"`
	Start   int64  `thrift:"5,written"`
	Stored  int64  `thrift:"6,written"`
	Ordinal *int16 `thrift:"7"`
}

// columnChunk is a ColumnChunk: a column of a row group.
type columnChunk struct {
	File      *string    `thrift:"1"`         // another file with the pages
	Copy      int64      `thrift:"2,written"` // offset of its metadata
	Meta      columnMeta `thrift:"3"`
	Encrypted *struct{}  `thrift:"8"`
	Secret    *string    `thrift:"9"` // its metadata, encrypted
}

type columnMeta struct {
	Type       int32    `thrift:"1"`
	Encodings  []int32  `thrift:"2,written"`
	Path       []string `thrift:"3,written"`
	Codec      int32    `thrift:"4"`
	Values     int64    `thrift:"5"`
	Plain      int64    `thrift:"6,written"`
	Stored     int64    `thrift:"7"`
	Data       int64    `thrift:"9"` // offset of its pages
	Dictionary int64    `thrift:"11,optional"`
	Statistics *bounds  `thrift:"12,written"`
}

// bounds is a Statistics.
type bounds struct {
	Nulls int64   `thrift:"3"`
	Max   *string `thrift:"5"`
	Min   *string `thrift:"6"`
}

// meta is a verified footer.
type meta struct {
	fileMeta
	leaves []leaf
	size   int64 // of the file
}

func readMeta(r io.ReaderAt, size int64) (*meta, error) {
	footer, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	m := &meta{size: size}
	if err := readThrift(footer, &m.fileMeta); err != nil {
		return nil, fmt.Errorf("its footer: %w", err)
	}
	if m.Encrypted != nil {
		return nil, errors.New("its columns are encrypted: decrypt it first")
	}
	if err := m.readSchema(); err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	return m, m.check()
}

func readFooter(r io.ReaderAt, size int64) ([]byte, error) {
	var tail [8]byte
	if size < 12 {
		return nil, errors.New("it is too short for a Parquet file: fetch it again")
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	switch string(tail[4:]) {
	case fileMagic:
	case cryptMagic:
		return nil, errors.New("it is encrypted: decrypt it first")
	default:
		return nil, errors.New("it does not end like a Parquet file: it is cut off, or something was appended to it: fetch it again")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > min(size-12, maxFooter) {
		return nil, fmt.Errorf("its footer of %d bytes is longer than the file, or than the limit of %d: fetch the file again", n, maxFooter)
	}
	footer := make([]byte, n)
	_, err := r.ReadAt(footer, size-8-n)
	return footer, err
}

// maxDictHeader is the maximum length in bytes of the header of a dictionary, as in Arrow. parquet-mr
// before 1.2.9 did not count it in the length of a chunk (PARQUET-816).
const maxDictHeader = 100

var countsHeaders = regexp.MustCompile(`^parquet-mr version (1\.([3-9]|\d\d)|[2-9])`)

// group reads a row group with its columns. It rejects impossible values before they are used.
func (m *meta) group(i int) (g rowGroup, chunks []columnMeta, err error) {
	if err := readThrift(m.Groups[i], &g); err != nil {
		return g, nil, err
	}
	if len(g.Chunks) != len(m.leaves) || g.Rows < 0 {
		return g, nil, fmt.Errorf("it has %d of %d columns, and %d rows", len(g.Chunks), len(m.leaves), g.Rows)
	}
	for i, encoded := range g.Chunks {
		var c columnChunk
		if err := readThrift(encoded, &c); err != nil {
			return g, nil, err
		}
		// pyarrow writes a group without rows for an empty table; its chunks have no offsets.
		if reason := c.check(&m.leaves[i], m.size); reason != "" && g.Rows > 0 {
			return g, nil, fmt.Errorf("column %s %s", m.leaves[i].name(), reason)
		}
		if strings.HasPrefix(m.CreatedBy, "parquet-mr") && !countsHeaders.MatchString(m.CreatedBy) {
			c.Meta.Stored = min(c.Meta.Stored+maxDictHeader, m.size-c.Meta.start())
		}
		chunks = append(chunks, c.Meta)
	}
	return g, chunks, nil
}

// check returns the reason why a chunk is impossible, or "".
func (c *columnChunk) check(l *leaf, size int64) (reason string) {
	m := &c.Meta
	switch {
	case c.File != nil:
		return "is in another file, which is not read"
	case c.Encrypted != nil, c.Secret != nil:
		return "is encrypted: decrypt it first"
	case m.Type != l.typ:
		return "has another type than the schema says"
	case m.Values < 0 || m.start() < 4 || m.Stored < 0 || m.start() > size || m.Stored > size-m.start():
		return "lies outside of the file"
	}
	return ""
}

// start returns the offset of the first page.
func (c *columnMeta) start() int64 {
	if c.Dictionary > 0 && c.Dictionary < c.Data {
		return c.Dictionary
	}
	return c.Data
}

// check verifies all row groups.
func (m *meta) check() error {
	rows := int64(0)
	for i := range m.Groups {
		g, _, err := m.group(i)
		if err != nil {
			return fmt.Errorf("row group %d: %w", i, err)
		}
		if rows += g.Rows; rows < 0 {
			return fmt.Errorf("row group %d: its %d rows make too many in all", i, g.Rows)
		}
	}
	if rows != m.Rows {
		return fmt.Errorf("its row groups have %d rows, but its footer says %d: it is damaged", rows, m.Rows)
	}
	return nil
}

// maxLevel is the maximum nesting depth of a column, so that a level fits in a byte.
const maxLevel = 100

// Repetitions of a node.
const (
	required = 0
	optional = 1
	repeated = 2
)

// schemaElement is a node of the schema (parquet.thrift, SchemaElement).
type schemaElement struct {
	Type       *int32       `thrift:"1"` // nil if it has children
	Length     int32        `thrift:"2,optional"`
	Repetition *int32       `thrift:"3"`
	Name       string       `thrift:"4"`
	Children   int32        `thrift:"5,optional"`
	Converted  *int32       `thrift:"6"`
	ID         *int32       `thrift:"9"`
	Logical    *logicalType `thrift:"10"`
}

// logicalType is a union: if no field is set, it is another type.
type logicalType struct {
	String  *struct{}    `thrift:"1"`
	List    *struct{}    `thrift:"3"`
	Enum    *struct{}    `thrift:"4"`
	Integer *integerType `thrift:"10"`
	Null    *struct{}    `thrift:"11"` // the column has only nulls
	JSON    *struct{}    `thrift:"12"`
	BSON    *struct{}    `thrift:"13"`
}

type integerType struct {
	Signed *bool `thrift:"2"`
}

// columnOrder is a union: Type is the order that the type defines.
type columnOrder struct {
	Type *struct{} `thrift:"1"`
}

// Converted types.
const (
	convertedUTF8   = 0
	convertedList   = 3
	convertedEnum   = 4
	convertedUint8  = 11
	convertedUint64 = 14
	convertedJSON   = 19
	convertedBSON   = 20
)

// leaf is a column.
type leaf struct {
	schemaElement
	typ            int32
	path           []string
	maxDef, maxRep int
}

// name returns the path as in flags.
func (l *leaf) name() string { return strings.Join(l.path, ".") }

// named reports whether a column has this name, without building long names for hostile files.
func (l *leaf) named(name string) bool {
	size := len(l.path) - 1
	for _, part := range l.path {
		size += len(part)
	}
	return size == len(name) && l.name() == name
}

// width returns the length of a value in bytes, or 0 if it varies.
func (l *leaf) width() int {
	if l.typ == typeFixed {
		return int(l.Length)
	}
	return physicalTypes[l.typ].width
}

// readSchema builds the columns from the nodes.
func (m *meta) readSchema() error {
	if n := len(m.Schema); n == 0 || n > 2*maxColumns {
		return fmt.Errorf("it has %d elements, and may have from 1 to %d", n, 2*maxColumns)
	}
	nodes := make([]schemaElement, len(m.Schema))
	for i, encoded := range m.Schema {
		if err := readThrift(encoded, &nodes[i]); err != nil {
			return err
		}
	}
	rest, err := m.addLeaves(nodes[1:], int(nodes[0].Children), nil, 0, 0)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d of its elements have no parent", len(rest))
	}
	return err
}

// addLeaves adds the columns of the first n nodes, and returns the remaining nodes.
func (m *meta) addLeaves(nodes []schemaElement, n int, path []string, def, rep int) ([]schemaElement, error) {
	if n < 0 || len(path) > maxLevel {
		return nil, errors.New("it is nested too deeply, or a node has a negative number of children")
	}
	for range n {
		if len(nodes) == 0 {
			return nil, errors.New("a node has fewer children than it claims")
		}
		e := nodes[0]
		nodes = nodes[1:]
		path, def, rep := append(slices.Clip(path), e.Name), def, rep
		repetition := int32(required)
		if e.Repetition != nil {
			repetition = *e.Repetition
		}
		switch repetition {
		case required:
		case optional:
			def++
		case repeated:
			def, rep = def+1, rep+1
		default:
			return nil, fmt.Errorf("%s is neither required nor optional nor repeated", strings.Join(path, "."))
		}
		if e.Type == nil {
			var err error
			if nodes, err = m.addLeaves(nodes, int(e.Children), path, def, rep); err != nil {
				return nil, err
			}
			continue
		}
		typ := *e.Type
		if typ < 0 || typ > typeFixed || typ == typeFixed && (e.Length <= 0 || e.Length > 1<<20) || e.Children != 0 {
			return nil, fmt.Errorf("%s has an unknown type", strings.Join(path, "."))
		}
		if len(m.leaves) == maxColumns {
			return nil, fmt.Errorf("it has more than %d columns", maxColumns)
		}
		m.leaves = append(m.leaves, leaf{schemaElement: e, typ: typ, path: path, maxDef: def, maxRep: rep})
	}
	return nodes, nil
}
