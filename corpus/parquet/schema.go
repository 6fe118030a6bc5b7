package parquet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxLevel is how deep a column may be nested.
const maxLevel = 100

// Repetitions of a node.
const (
	required = 0
	optional = 1
	repeated = 2
)

// schemaElement is a node of the schema (parquet.thrift, SchemaElement).
type schemaElement struct {
	Type       *int32       `thrift:"1"` // nil: it has children
	Length     int32        `thrift:"2,optional"`
	Repetition *int32       `thrift:"3"`
	Name       string       `thrift:"4"`
	Children   int32        `thrift:"5,optional"`
	Converted  *int32       `thrift:"6"`
	ID         *int32       `thrift:"9"`
	Logical    *logicalType `thrift:"10"`
}

// logicalType is a union: without these fields it is another type.
type logicalType struct {
	String  *struct{}    `thrift:"1"`
	List    *struct{}    `thrift:"3"`
	Enum    *struct{}    `thrift:"4"`
	Integer *integerType `thrift:"10"`
	JSON    *struct{}    `thrift:"12"`
	BSON    *struct{}    `thrift:"13"`
}

type integerType struct {
	Signed *bool `thrift:"2"`
}

// columnOrder is a union: values are ordered as their type is.
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
	if l.typ == typeFixed {
		return int(l.Length)
	}
	return physicalTypes[l.typ].width
}

// readSchema makes the columns of the nodes.
func (m *meta) readSchema() error {
	if n := len(m.Schema); n == 0 || n > 2*maxColumns {
		return fmt.Errorf("it has %d elements, and may have from 1 to %d", n, 2*maxColumns)
	}
	nodes := make([]schemaElement, len(m.Schema))
	for i, encoded := range m.Schema {
		t := &thriftReader{data: encoded}
		if err := t.read(&nodes[i]); err != nil {
			return err
		}
	}
	rest, err := m.addLeaves(nodes[1:], int(nodes[0].Children), nil, 0, 0)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d of its elements belong to nothing", len(rest))
	}
	return err
}

// addLeaves adds the columns of the first n nodes, and returns the nodes behind those.
func (m *meta) addLeaves(nodes []schemaElement, n int, path []string, def, rep int) ([]schemaElement, error) {
	if n < 0 || len(path) > maxLevel {
		return nil, errors.New("it is nested too deep, or a node has a negative number of children")
	}
	for range n {
		if len(nodes) == 0 {
			return nil, errors.New("a node lacks children that it says it has")
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
			return nil, fmt.Errorf("%s is of an unknown type", strings.Join(path, "."))
		}
		if len(m.leaves) == maxColumns {
			return nil, fmt.Errorf("it has more than %d columns", maxColumns)
		}
		m.leaves = append(m.leaves, leaf{schemaElement: e, typ: typ, path: path, maxDef: def, maxRep: rep})
	}
	return nodes, nil
}

// column finds a column by its dotted path, -1 if there is none.
func (m *meta) column(name string) int {
	return slices.IndexFunc(m.leaves, func(l leaf) bool { return l.named(name) })
}

// textColumn finds the column of the text.
func (m *meta) textColumn(name string) (int, error) {
	i := m.column(name)
	if i < 0 {
		return 0, fmt.Errorf("it has no column %q; name one with --text-field: %s", name, m.names())
	}
	l := &m.leaves[i]
	if l.typ != typeBytes || l.maxRep > 0 {
		return 0, fmt.Errorf("column %q holds no text, but %s; name another with --text-field: %s", name, l.kind(), m.names())
	}
	return i, nil
}

// idColumn finds the column of the id: the one with the name or, without a name, "id" if that can
// be one. It returns -1 if there is none.
func (m *meta) idColumn(name string) (int, error) {
	given := name != ""
	if !given {
		name = "id"
	}
	i := m.column(name)
	if i < 0 && !given {
		return -1, nil
	}
	if i < 0 {
		return 0, fmt.Errorf("it has no column %q; name one with --id-field: %s", name, m.names())
	}
	l := &m.leaves[i]
	if l.maxRep > 0 || l.typ != typeBytes && l.typ != typeInt32 && l.typ != typeInt64 || l.typ != typeBytes && l.Logical != nil && l.Logical.Integer == nil {
		if !given {
			return -1, nil
		}
		return 0, fmt.Errorf("column %q holds no id, but %s; name another with --id-field: %s", name, l.kind(), m.names())
	}
	return i, nil
}

func (l *leaf) kind() string {
	if l.maxRep > 0 {
		return "lists"
	}
	return physicalTypes[l.typ].kind
}

// unsigned reports whether numbers have no sign.
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
