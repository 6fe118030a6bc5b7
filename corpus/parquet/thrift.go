package parquet

import (
	"encoding/binary"
	"errors"
	"math"
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

// maxNesting is how deep structures may be in each other.
const maxNesting = 32

var (
	errThrift = errors.New("it is not as Thrift's compact protocol is")
	errShort  = errors.New("it ends too early")
)

// thriftReader reads values one after the other. It allocates nothing for the lengths they claim:
// it returns only pieces of data. After an error it returns zeros.
type thriftReader struct {
	data []byte
	at   int
	err  error
}

func (r *thriftReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.data)
}

func (r *thriftReader) byte() byte {
	if r.at >= len(r.data) {
		r.fail(errShort)
		return 0
	}
	r.at++
	return r.data[r.at-1]
}

func (r *thriftReader) uvarint() uint64 {
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

func (r *thriftReader) int() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// int32 reads a number that fits into 32 bits.
func (r *thriftReader) int32() int32 {
	v := r.int()
	if v < math.MinInt32 || v > math.MaxInt32 {
		r.fail(errThrift)
		return 0
	}
	return int32(v)
}

func (r *thriftReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.data)-r.at) {
		r.fail(errShort)
		return nil
	}
	r.at += int(n)
	return r.data[r.at-int(n) : r.at : r.at]
}

// list reads the number and the type of the elements that follow. Each has a byte at least.
func (r *thriftReader) list() (n int, typ byte) {
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

// each calls f for every field of a structure, which must read its value, or skip it.
func (r *thriftReader) each(f func(id int, typ byte)) {
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
		f(id, head&15)
	}
}

// skip passes over a value.
func (r *thriftReader) skip(typ byte) { r.pass(typ, false, maxNesting) }

// pass passes over a value, which in a list has a byte even if it is a truth value.
func (r *thriftReader) pass(typ byte, listed bool, depth int) {
	if depth == 0 {
		r.fail(errThrift)
		return
	}
	switch typ {
	case thriftTrue, thriftFalse:
		if listed {
			r.byte()
		}
	case thriftByte:
		r.byte()
	case thriftI16, thriftI32, thriftI64:
		r.uvarint()
	case thriftDouble:
		for range 8 {
			r.byte()
		}
	case thriftBinary:
		r.bytes()
	case thriftList, thriftSet:
		n, elem := r.list()
		for range n {
			if r.pass(elem, true, depth-1); r.err != nil {
				return
			}
		}
	case thriftMap:
		r.passMap(depth)
	case thriftStruct:
		r.each(func(_ int, typ byte) { r.pass(typ, false, depth-1) })
	default:
		r.fail(errThrift)
	}
}

func (r *thriftReader) passMap(depth int) {
	n := r.uvarint()
	if n == 0 {
		return
	}
	types := r.byte()
	for ; n > 0 && r.err == nil; n-- {
		r.pass(types>>4, true, depth-1)
		r.pass(types&15, true, depth-1)
	}
}

// raw passes over a value and returns its bytes.
func (r *thriftReader) raw(typ byte) []byte {
	from := r.at
	r.skip(typ)
	if r.err != nil {
		return nil
	}
	return r.data[from:r.at:r.at]
}

// thriftWriter writes the fields of structures.
type thriftWriter struct {
	data []byte
	ids  []int // of the last field of each open structure
}

func (w *thriftWriter) begin() { w.ids = append(w.ids, 0) }

func (w *thriftWriter) end() {
	w.data = append(w.data, 0)
	w.ids = w.ids[:len(w.ids)-1]
}

func (w *thriftWriter) field(id int, typ byte) {
	last := &w.ids[len(w.ids)-1]
	if delta := id - *last; delta > 0 && delta < 16 {
		w.data = append(w.data, byte(delta)<<4|typ)
	} else {
		w.data = binary.AppendUvarint(append(w.data, typ), zigzag(int64(id)))
	}
	*last = id
}

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func (w *thriftWriter) number(v int64) { w.data = binary.AppendUvarint(w.data, zigzag(v)) }

func (w *thriftWriter) i32(id int, v int64) { w.field(id, thriftI32); w.number(v) }
func (w *thriftWriter) i64(id int, v int64) { w.field(id, thriftI64); w.number(v) }

func (w *thriftWriter) string(s string) {
	w.data = append(binary.AppendUvarint(w.data, uint64(len(s))), s...)
}

// raw writes a field from its encoded bytes; nil is none.
func (w *thriftWriter) raw(id int, typ byte, value []byte) {
	if value != nil {
		w.field(id, typ)
		w.data = append(w.data, value...)
	}
}

func (w *thriftWriter) list(n int, typ byte) {
	if n < 15 {
		w.data = append(w.data, byte(n)<<4|typ)
		return
	}
	w.data = binary.AppendUvarint(append(w.data, 15<<4|typ), uint64(n))
}
