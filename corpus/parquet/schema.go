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

// readSchema makes the columns of the list of elements.
func (m *meta) readSchema() error {
	t := &thriftReader{data: m.schemaRaw}
	n, typ := t.list()
	if n == 0 || typ != thriftStruct || n > 2*maxColumns {
		return fmt.Errorf("it has %d elements, and may have from 1 to %d", n, 2*maxColumns)
	}
	for i := 0; i < n && t.err == nil; i++ {
		m.elements = append(m.elements, readElement(t))
	}
	if t.err != nil {
		return t.err
	}
	rest, err := m.addLeaves(m.elements[1:], int(m.elements[0].children), nil, 0, 0)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d of its elements belong to nothing", len(rest))
	}
	return err
}

func readElement(t *thriftReader) element {
	e := element{typ: -1, converted: -1}
	from := t.at
	t.each(func(id int, typ byte) {
		switch {
		case id == 1 && typ == thriftI32:
			e.typ = t.int32()
		case id == 2 && typ == thriftI32:
			e.length = t.int32()
		case id == 3 && typ == thriftI32:
			e.repetition = t.int32()
		case id == 4 && typ == thriftBinary:
			e.name = string(t.bytes())
		case id == 5 && typ == thriftI32:
			e.children = t.int32()
		case id == 6 && typ == thriftI32:
			e.converted = t.int32()
		case id == 10 && typ == thriftStruct:
			e.readLogical(t)
		default:
			t.skip(typ)
		}
	})
	if t.err == nil {
		e.raw = t.data[from:t.at]
	}
	return e
}

// readLogical reads a union. It looks only into INTEGER, the field 10.
func (e *element) readLogical(t *thriftReader) {
	t.each(func(id int, typ byte) {
		e.logical = id
		if id != 10 || typ != thriftStruct {
			t.skip(typ)
			return
		}
		e.integer = true
		t.each(func(id int, typ byte) {
			if id == 2 {
				e.unsigned = typ == thriftFalse
			}
			t.skip(typ)
		})
	})
}

// addLeaves adds the columns of the first n nodes, and returns the nodes behind those.
func (m *meta) addLeaves(nodes []element, n int, path []string, def, rep int) ([]element, error) {
	if n < 0 || len(path) > maxLevel {
		return nil, errors.New("it is nested too deep, or a node has a negative number of children")
	}
	for range n {
		if len(nodes) == 0 {
			return nil, errors.New("a node lacks children that it says it has")
		}
		e := nodes[0]
		nodes = nodes[1:]
		path, def, rep := append(slices.Clip(path), e.name), def, rep
		switch e.repetition {
		case required:
		case optional:
			def++
		case repeated:
			def, rep = def+1, rep+1
		default:
			return nil, fmt.Errorf("%s is neither required nor optional nor repeated", strings.Join(path, "."))
		}
		if e.typ < 0 {
			var err error
			if nodes, err = m.addLeaves(nodes, int(e.children), path, def, rep); err != nil {
				return nil, err
			}
			continue
		}
		if e.typ > typeFixed || e.typ == typeFixed && (e.length <= 0 || e.length > 1<<20) || e.children != 0 {
			return nil, fmt.Errorf("%s is of an unknown type", strings.Join(path, "."))
		}
		if len(m.leaves) == maxColumns {
			return nil, fmt.Errorf("it has more than %d columns", maxColumns)
		}
		m.leaves = append(m.leaves, leaf{element: e, path: path, maxDef: def, maxRep: rep})
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
	if l.maxRep > 0 || l.typ != typeBytes && l.typ != typeInt32 && l.typ != typeInt64 || l.typ != typeBytes && l.logical != 0 && !l.integer {
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
	return [...]string{"truth values", "numbers", "numbers", "times", "fractions", "fractions", "bytes", "bytes of one length"}[l.typ]
}

// unsignedID reports whether numbers have no sign.
func (l *leaf) unsignedID() bool {
	const uint8Converted, uint64Converted = 11, 14
	return l.unsigned || l.converted >= uint8Converted && l.converted <= uint64Converted
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
