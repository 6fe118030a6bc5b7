package parquet

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/firstseen/firstseen/corpus"
)

// verdictLeaves are the columns added to rows with their verdicts.
var verdictLeaves = []leaf{
	{element: element{name: verdictColumn, typ: typeBytes}, path: []string{verdictColumn}, maxDef: 1},
	{element: element{name: ofColumn, typ: typeBytes}, path: []string{ofColumn}, maxDef: 1},
	{element: element{name: scoreColumn, typ: typeDouble}, path: []string{scoreColumn}, maxDef: 1},
}

// verdictRow makes the entries of these columns of an annotation.
func verdictRow(value []byte) (row []byte, err error) {
	v, err := corpus.ReadVerdict(value)
	if err != nil {
		return nil, err
	}
	row = appendText(append(row, 1), v.Verdict)
	if v.Of != nil {
		row = appendText(append(row, 1), *v.Of)
	} else {
		row = append(row, 0)
	}
	if v.Score == nil {
		return append(row, 0), nil
	}
	return binary.LittleEndian.AppendUint64(append(row, 1), math.Float64bits(*v.Score)), nil
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// withVerdicts adds these columns to the schema, and to the orders of columns.
func (m *meta) withVerdicts() (schema, orders []byte, err error) {
	for _, l := range verdictLeaves {
		for _, e := range m.elements {
			if e.name == l.name() {
				return nil, nil, fmt.Errorf("it has a column %s already: it was annotated before, so leave --annotate out, or take the column out", e.name)
			}
		}
	}
	w := &thriftWriter{}
	w.list(len(m.elements)+len(verdictLeaves), thriftStruct)
	w.root(m.elements[0], len(verdictLeaves))
	for _, e := range m.elements[1:] {
		w.data = append(w.data, e.raw...)
	}
	for _, l := range verdictLeaves {
		w.element(&l)
	}
	if m.ordersRaw == nil {
		return w.data, nil, nil
	}
	return w.data, ordersOf(m.ordersRaw, len(verdictLeaves)), nil
}

// ordersOf appends the orders of more columns, those of their types, to the encoded orders of others.
func ordersOf(others []byte, more int) []byte {
	t := &thriftReader{data: others}
	n := 0
	if others != nil {
		n, _ = t.list()
	}
	o := &thriftWriter{}
	o.list(n+more, thriftStruct)
	o.data = append(o.data, others[t.at:]...)
	for range more {
		o.begin() // ColumnOrder; its field 1 is TypeDefinedOrder
		o.field(1, thriftStruct)
		o.data = append(o.data, 0)
		o.end()
	}
	return o.data
}

// root writes the root of a schema with more children.
func (w *thriftWriter) root(e element, more int) {
	w.begin()
	t := &thriftReader{data: e.raw}
	t.each(func(id int, typ byte) {
		raw := t.raw(typ)
		if id == 5 {
			w.i32(5, int64(int(e.children)+more))
			return
		}
		w.field(id, typ) // of a truth value the type is all
		w.data = append(w.data, raw...)
	})
	w.end()
}

// element writes a column of texts or of fractions.
func (w *thriftWriter) element(l *leaf) {
	w.begin()
	w.i32(1, int64(l.typ))
	w.i32(3, optional)
	w.field(4, thriftBinary)
	w.string(l.element.name)
	if l.typ == typeBytes {
		w.i32(6, 0) // UTF8
		w.field(10, thriftStruct)
		w.begin()
		w.field(1, thriftStruct) // STRING
		w.data = append(w.data, 0)
		w.end()
	}
	w.end()
}
