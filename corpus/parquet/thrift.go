package parquet

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Types of the Thrift compact protocol
// (github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxNesting is the maximum depth of nested structures.
const maxNesting = 32

var (
	errThrift = errors.New("it does not follow Thrift's compact protocol")
	errShort  = errors.New("it ends too early")
)

// byteReader reads values. It allocates nothing for claimed lengths. After errors it returns zeros.
type byteReader struct {
	data []byte
	at   int
	err  error
}

func (r *byteReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.data)
}

func (r *byteReader) byte() byte {
	if r.at >= len(r.data) {
		r.fail(errShort)
		return 0
	}
	r.at++
	return r.data[r.at-1]
}

func (r *byteReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data[r.at:])
	switch {
	case n == 0:
		r.fail(errShort)
		return 0
	case n < 0:
		r.fail(errThrift)
		return 0
	}
	r.at += n
	return v
}

func (r *byteReader) int() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *byteReader) take(n uint64) []byte {
	if n > uint64(len(r.data)-r.at) {
		r.fail(errShort)
		return nil
	}
	r.at += int(n)
	return r.data[r.at-int(n) : r.at : r.at]
}

// list reads the count and type of the following elements. Each has at least one byte.
func (r *byteReader) list() (n int, typ byte) {
	head := r.byte()
	size := uint64(head >> 4)
	if size == 15 {
		size = r.uvarint()
	}
	if size > uint64(len(r.data)-r.at) {
		r.fail(errShort)
		return 0, 0
	}
	return int(size), head & 15
}

// raw is an encoded structure, kept unchanged.
type raw []byte

// thriftField is a field of a Go struct for a Thrift structure. Its tag has the id, and possibly
// "optional" if zero is not written, or "written" if it is not read. Nil pointers are not written.
type thriftField struct {
	id                int
	typ               byte
	optional, written bool
}

var thriftFields sync.Map // reflect.Type to []thriftField

func thriftFieldsOf(t reflect.Type) []thriftField {
	if known, ok := thriftFields.Load(t); ok {
		return known.([]thriftField)
	}
	fields := make([]thriftField, t.NumField())
	for i := range fields {
		f := t.Field(i)
		id, option, _ := strings.Cut(f.Tag.Get("thrift"), ",")
		fields[i] = thriftField{
			typ: thriftType(f.Type), written: option == "written",
			optional: option == "optional" || f.Type.Kind() == reflect.Pointer,
		}
		fields[i].id, _ = strconv.Atoi(id) // a constant of this package
	}
	thriftFields.Store(t, fields)
	return fields
}

// thriftType returns the Thrift type of a Go type.
func thriftType(t reflect.Type) byte {
	if t == reflect.TypeFor[raw]() {
		return thriftStruct
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return map[reflect.Kind]byte{
		reflect.Bool: thriftTrue, reflect.Int16: thriftI16, reflect.Int32: thriftI32, reflect.Int64: thriftI64,
		reflect.String: thriftBinary, reflect.Slice: thriftList, reflect.Struct: thriftStruct,
	}[t.Kind()]
}

// readThrift reads a structure into v.
func readThrift(data []byte, v any) error {
	r := &byteReader{data: data}
	r.structure(reflect.ValueOf(v).Elem(), maxNesting)
	return r.err
}

// structure reads the fields of v, and skips fields with other ids or types.
func (r *byteReader) structure(v reflect.Value, depth int) {
	var fields []thriftField
	if v.IsValid() {
		fields = thriftFieldsOf(v.Type())
	}
	id := 0
	for r.err == nil {
		head := r.byte()
		if head == 0 {
			return
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int(r.int())
		}
		typ, field := head&15, reflect.Value{}
		for i, f := range fields {
			fits := f.typ == typ || f.typ == thriftTrue && typ == thriftFalse
			if f.id == id && fits && !f.written {
				field = v.Field(i)
			}
		}
		r.value(field, typ, depth-1)
	}
}

// value reads a value into v, which has its type, or skips it if v is the zero Value.
func (r *byteReader) value(v reflect.Value, typ byte, depth int) {
	if depth == 0 {
		r.fail(errThrift)
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch typ {
	case thriftTrue, thriftFalse:
		if v.IsValid() {
			v.SetBool(typ == thriftTrue)
		}
	case thriftByte:
		r.byte()
	case thriftI16, thriftI32, thriftI64:
		n := r.int()
		switch {
		case !v.IsValid():
		case v.OverflowInt(n):
			r.fail(errThrift)
		default:
			v.SetInt(n)
		}
	case thriftDouble:
		r.take(8)
	case thriftBinary:
		if b := r.take(r.uvarint()); v.IsValid() {
			v.SetString(string(b))
		}
	case thriftList, thriftSet:
		n, elem := r.list()
		if v.IsValid() {
			v.Set(reflect.ValueOf(r.raws(n, elem)))
			return
		}
		r.pass(uint64(n), depth, elem)
	case thriftMap:
		if n := r.uvarint(); n > 0 {
			types := r.byte()
			r.pass(n, depth, types>>4, types&15)
		}
	case thriftStruct:
		r.structure(v, depth)
	default:
		r.fail(errThrift)
	}
}

// pass skips n elements, each made of values of these types. Booleans in it take one byte.
func (r *byteReader) pass(n uint64, depth int, types ...byte) {
	for ; n > 0 && r.err == nil; n-- {
		for _, typ := range types {
			if typ == thriftTrue || typ == thriftFalse {
				typ = thriftByte
			}
			r.value(reflect.Value{}, typ, depth-1)
		}
	}
}

// maxList is the maximum number of structures in a list.
const maxList = 1 << 20

// raws reads a list of raw structures; other lists are never read.
func (r *byteReader) raws(n int, typ byte) []raw {
	if n > 0 && typ != thriftStruct || n > maxList {
		r.fail(errThrift)
	}
	list := []raw{}
	for i := 0; i < n && r.err == nil; i++ {
		from := r.at
		r.structure(reflect.Value{}, maxNesting)
		list = append(list, r.data[from:r.at:r.at])
	}
	return list
}

// appendThrift appends a structure, whose ids must ascend in steps below 16.
func appendThrift(dst []byte, structure any) []byte {
	v, last := reflect.ValueOf(structure), 0
	for i, f := range thriftFieldsOf(v.Type()) {
		field := v.Field(i)
		if f.optional && field.IsZero() {
			continue
		}
		field = reflect.Indirect(field)
		if f.typ == thriftTrue && !field.Bool() {
			f.typ = thriftFalse
		}
		dst = append(dst, byte(f.id-last)<<4|f.typ)
		dst, last = appendValue(dst, field), f.id
	}
	return append(dst, 0)
}

func appendValue(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool: // the type is the value
		return dst
	case reflect.String:
		return append(binary.AppendUvarint(dst, uint64(v.Len())), v.String()...)
	case reflect.Struct:
		return appendThrift(dst, v.Interface())
	case reflect.Slice:
		if encoded, ok := v.Interface().(raw); ok {
			return append(dst, encoded...)
		}
		n, typ := v.Len(), thriftType(v.Type().Elem())
		if n < 15 {
			dst = append(dst, byte(n)<<4|typ)
		} else {
			dst = binary.AppendUvarint(append(dst, 15<<4|typ), uint64(n))
		}
		for i := range n {
			dst = appendValue(dst, v.Index(i))
		}
		return dst
	}
	return binary.AppendVarint(dst, v.Int())
}
