package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/thrift/lib/go/thrift"
)

// raw is an encoded structure. It stays as it is.
type raw []byte

// thriftField is a field of a structure, which is a Go struct. Its tag has the id, and maybe "optional" if
// zero is not written, or "written" if it is not read. A nil pointer is not written.
type thriftField struct {
	id                int
	typ               thrift.TType
	optional, written bool
}

var thriftFields sync.Map // of a reflect.Type, as []thriftField

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

// thriftType is how values of a Go type are encoded.
func thriftType(t reflect.Type) thrift.TType {
	if t == reflect.TypeFor[raw]() {
		return thrift.STRUCT
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return map[reflect.Kind]thrift.TType{
		reflect.Bool: thrift.BOOL, reflect.Int16: thrift.I16, reflect.Int32: thrift.I32, reflect.Int64: thrift.I64,
		reflect.String: thrift.STRING, reflect.Slice: thrift.LIST, reflect.Struct: thrift.STRUCT,
	}[t.Kind()]
}

// maxList is how many structures a list may have.
const maxList = 1 << 20

var (
	thriftLimits = &thrift.TConfiguration{MaxMessageSize: maxFooter, MaxContainerSize: maxList}
	ctx          = context.Background() // nothing waits
)

// thriftReader reads structures. The library takes no memory for lengths that are only claimed.
type thriftReader struct {
	*thrift.TCompactProtocol
	data []byte
	rest *bytes.Buffer
}

// readThrift reads a structure to v, and returns how many bytes it has.
func readThrift(data []byte, v any) (size int, err error) {
	rest := bytes.NewBuffer(data)
	r := &thriftReader{thrift.NewTCompactProtocolConf(&thrift.TMemoryBuffer{Buffer: rest}, thriftLimits), data, rest}
	if err := r.structure(reflect.ValueOf(v).Elem()); err != nil { // not wrapped: it is no end of the input
		return r.at(), fmt.Errorf("it is not as Thrift's compact protocol is: %v", err)
	}
	return r.at(), nil
}

func (r *thriftReader) at() int { return len(r.data) - r.rest.Len() }

// structure reads the fields that v has, and passes over those of other ids or types.
func (r *thriftReader) structure(v reflect.Value) error {
	fields := thriftFieldsOf(v.Type())
	_, err := r.ReadStructBegin(ctx)
	for err == nil {
		_, typ, id, fault := r.ReadFieldBegin(ctx)
		if fault != nil {
			return fault
		}
		if typ == thrift.STOP {
			return r.ReadStructEnd(ctx)
		}
		i := slices.IndexFunc(fields, func(f thriftField) bool { return f.id == int(id) && f.typ == typ && !f.written })
		if i < 0 {
			err = r.Skip(ctx, typ)
		} else {
			err = r.value(v.Field(i))
		}
	}
	return err
}

// value reads a value of a type that fits. Of lists it reads those of raw structures.
func (r *thriftReader) value(v reflect.Value) (err error) {
	n := int64(0)
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return r.value(v.Elem())
	case reflect.Struct:
		return r.structure(v)
	case reflect.Slice:
		list, err := r.raws()
		v.Set(reflect.ValueOf(list))
		return err
	case reflect.Bool:
		truth, err := r.ReadBool(ctx)
		v.SetBool(truth)
		return err
	case reflect.String:
		text, err := r.ReadString(ctx)
		v.SetString(text)
		return err
	case reflect.Int64:
		n, err = r.ReadI64(ctx)
	default:
		var n32 int32
		n32, err = r.ReadI32(ctx)
		n = int64(n32)
	}
	v.SetInt(n)
	return err
}

func (r *thriftReader) raws() (list []raw, err error) {
	elem, n, err := r.ReadListBegin(ctx)
	if err == nil && n > 0 && elem != thrift.STRUCT {
		err = errors.New("a list has elements of another type")
	}
	list = []raw{}
	for ; err == nil && n > 0; n-- {
		from := r.at()
		err = r.Skip(ctx, thrift.STRUCT)
		list = append(list, r.data[from:r.at():r.at()])
	}
	return list, err
}

// compactTypes are the codes of types in the compact protocol.
var compactTypes = map[thrift.TType]byte{
	thrift.BOOL: thrift.COMPACT_BOOLEAN_TRUE, thrift.I16: thrift.COMPACT_I16, thrift.I32: thrift.COMPACT_I32, thrift.I64: thrift.COMPACT_I64,
	thrift.STRING: thrift.COMPACT_BINARY, thrift.LIST: thrift.COMPACT_LIST, thrift.STRUCT: thrift.COMPACT_STRUCT,
}

// appendThrift appends a structure, whose ids ascend in steps below 16.
func appendThrift(dst []byte, v any) []byte { return appendStructure(dst, reflect.ValueOf(v)) }

func appendStructure(dst []byte, v reflect.Value) []byte {
	last := 0
	for i, f := range thriftFieldsOf(v.Type()) {
		field := v.Field(i)
		if f.optional && field.IsZero() {
			continue
		}
		field = reflect.Indirect(field)
		typ := compactTypes[f.typ]
		if f.typ == thrift.BOOL && !field.Bool() {
			typ = thrift.COMPACT_BOOLEAN_FALSE
		}
		dst = append(dst, byte(f.id-last)<<4|typ)
		dst, last = appendValue(dst, field), f.id
	}
	return append(dst, 0)
}

func appendValue(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool: // its type is all
		return dst
	case reflect.String:
		return append(binary.AppendUvarint(dst, uint64(v.Len())), v.String()...)
	case reflect.Struct:
		return appendStructure(dst, v)
	case reflect.Slice:
		if encoded, ok := v.Interface().(raw); ok {
			return append(dst, encoded...)
		}
		n, typ := v.Len(), compactTypes[thriftType(v.Type().Elem())]
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
