package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/output"
)

// annotation holds the columns of annotated rows.
type annotation struct {
	Verdict *string  `json:"firstseen_verdict"`
	Of      *string  `json:"firstseen_of"`
	Score   *float64 `json:"firstseen_score"`
}

func (e *enclosure) addVerdicts() error {
	nodes, n := fieldNodes(nil, reflect.TypeFor[annotation]())
	for _, node := range nodes {
		if slices.ContainsFunc(e.leaves, func(l leaf) bool { return slices.Contains(l.path, node.Name) }) {
			return fmt.Errorf("it already has a column %s: it was annotated before, so leave out --annotate, or remove the column", node.Name)
		}
	}
	codecs := append(slices.Clip(e.codecs), codecZstd) // it may have no columns
	return e.addColumns(nodes, n, codecs[0])
}

// addColumns adds columns after all others, by their nodes. The root gets that many children.
func (e *enclosure) addColumns(nodes []schemaElement, children int, codec int32) error {
	var root schemaElement
	if err := readThrift(e.Schema[0], &root); err != nil {
		return err
	}
	root.Children += int32(children)
	schema := append([]raw{appendThrift(nil, root)}, e.Schema[1:]...)
	for i := range nodes {
		schema = append(schema, appendThrift(nil, nodes[i]))
	}
	e.Schema, e.leaves = schema, nil
	if err := e.readSchema(); err != nil {
		return err
	}
	for i := len(e.codecs); i < len(e.leaves); i++ {
		e.order, e.codecs = append(e.order, i), append(e.codecs, codec)
		if e.Orders != nil {
			e.Orders = append(slices.Clip(e.Orders), appendThrift(nil, columnOrder{Type: &struct{}{}}))
		}
	}
	return nil
}

// newEnclosure returns an enclosure of our own columns.
func newEnclosure(nodes []schemaElement, children int) (*enclosure, error) {
	e := &enclosure{meta: meta{fileMeta: fileMeta{
		Version: 1, Schema: []raw{appendThrift(nil, schemaElement{Name: "schema"})}, Orders: []raw{},
	}}}
	return e, e.addColumns(nodes, children, codecZstd)
}

// Lines returns an enclosure for lines of JSON, each a row. The fields of T, a struct, are columns, named
// as in JSON: strings, bools, int32, int64 and float64. A pointer is nullable, and a slice is a list. A
// nested struct has several columns, named by its tag "columns". Those of a [corpus.Place] are the part,
// 0 if its input has no parts, and the number in the part. Other fields of the lines are left out.
func Lines[T any]() (output.Enclosure, error) {
	row := reflect.TypeFor[T]()
	e, err := newEnclosure(fieldNodes(nil, row))
	e.cut = func(lines []byte) (fields, rest []byte, err error) {
		line, rest, _ := bytes.Cut(lines, []byte{'\n'})
		v := reflect.New(row)
		if err := json.Unmarshal(line, v.Interface()); err != nil {
			return nil, nil, fmt.Errorf("a line for a row: %w", err)
		}
		return appendFields(nil, v.Elem()), rest, nil
	}
	return e, err
}

// Integers returns an enclosure for records of 64-bit numbers, eight bytes little-endian for each
// of the named columns. Each record is a row. Numbers from 1<<63 on are negative in Parquet.
func Integers(names ...string) (output.Enclosure, error) {
	var nodes []schemaElement
	for _, name := range names {
		nodes = appendNodes(nodes, name, reflect.TypeFor[int64]())
	}
	e, err := newEnclosure(nodes, len(names))
	e.cut = func(records []byte) (fields, rest []byte, err error) {
		size := min(8*len(names), len(records))
		return records[:size], records[size:], nil
	}
	return e, err
}

// fieldNodes appends the nodes of a struct, and returns the number of its columns and lists.
func fieldNodes(nodes []schemaElement, row reflect.Type) (_ []schemaElement, n int) {
	for _, f := range reflect.VisibleFields(row) {
		if f.Type.Kind() != reflect.Struct {
			nodes = appendNodes(nodes, f.Tag.Get("json"), f.Type)
			n++
			continue
		}
		for i, name := range strings.Fields(f.Tag.Get("columns")) {
			nodes = appendNodes(nodes, name, f.Type.Field(i).Type)
			n++
		}
	}
	return nodes, n
}

// appendNodes appends the nodes of a column or list.
func appendNodes(nodes []schemaElement, name string, t reflect.Type) []schemaElement {
	repetition, converted := int32(required), int32(convertedUTF8)
	if t.Kind() == reflect.Pointer {
		repetition, t = optional, t.Elem()
	}
	node := schemaElement{Name: name, Repetition: &repetition}
	switch t.Kind() {
	case reflect.Slice:
		repetition, converted = optional, convertedList
		node.Children, node.Converted, node.Logical = 1, &converted, &logicalType{List: &struct{}{}}
		again := int32(repeated)
		nodes = append(nodes, node, schemaElement{Name: "list", Repetition: &again, Children: 1})
		return appendNodes(nodes, "element", t.Elem())
	case reflect.Struct: // of a list
		fields, n := fieldNodes(nil, t)
		node.Children = int32(n)
		return append(append(nodes, node), fields...)
	case reflect.String:
		node.Converted, node.Logical = &converted, &logicalType{String: &struct{}{}}
	}
	typ := map[reflect.Kind]int32{
		reflect.String: typeBytes, reflect.Bool: typeBoolean, reflect.Int32: typeInt32, reflect.Int64: typeInt64, reflect.Float64: typeDouble,
	}[t.Kind()]
	node.Type = &typ
	return append(nodes, node)
}

// appendFields appends the entries of a struct. A list of structs has a column for each field.
func appendFields(dst []byte, row reflect.Value) []byte {
	for i := range row.NumField() {
		v := row.Field(i)
		switch {
		case v.Kind() == reflect.Struct:
			dst = appendFields(dst, v)
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			for i := range v.Type().Elem().NumField() {
				dst = appendEntries(dst, v, func(v reflect.Value) reflect.Value { return v.Field(i) })
			}
		case v.Kind() == reflect.Slice:
			dst = appendEntries(dst, v, func(v reflect.Value) reflect.Value { return v })
		case v.Kind() != reflect.Pointer:
			dst = appendPlain(dst, v)
		case v.IsNil():
			dst = append(dst, 0)
		default:
			dst = appendPlain(append(dst, 1), v.Elem())
		}
	}
	return dst
}

// appendEntries appends the entries of a column in a list. A missing list is a null. An empty list
// has a definition level between those of null and of a value.
func appendEntries(dst []byte, list reflect.Value, field func(reflect.Value) reflect.Value) []byte {
	switch {
	case list.IsNil():
		return append(dst, 0, 0)
	case list.Len() == 0:
		return append(dst, 1, 0)
	}
	for i := range list.Len() {
		if i > 0 {
			dst = append(dst, 1) // the repetition level
		}
		dst = appendPlain(append(dst, 2), field(list.Index(i)))
	}
	return append(dst, 0)
}

// appendPlain appends a value as stored in a row.
func appendPlain(dst []byte, v reflect.Value) []byte {
	if v.Kind() == reflect.String {
		return append(binary.AppendUvarint(dst, uint64(v.Len())), v.String()...)
	}
	dst, _ = binary.Append(dst, binary.LittleEndian, v.Interface()) // the size is fixed
	return dst
}
