// Package fields decodes fields from stored bytes.
package fields

import (
	"cmp"
	"encoding/binary"
)

// A Reader reads fields one after the other. Past the end it reads zeros and sets Short. Numbers
// are little-endian or varints.
type Reader struct {
	Rest  []byte
	Short bool
}

// Next returns the next n bytes, or eight zeros if there are fewer.
func (r *Reader) Next(n int) []byte {
	if n < 0 || n > len(r.Rest) {
		r.Short, r.Rest = true, nil
		return make([]byte, 8)
	}
	b := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return b
}

func (r *Reader) Byte() byte     { return r.Next(1)[0] }
func (r *Reader) Uint16() uint16 { return binary.LittleEndian.Uint16(r.Next(2)) }
func (r *Reader) Uint32() uint32 { return binary.LittleEndian.Uint32(r.Next(4)) }
func (r *Reader) Uint64() uint64 { return binary.LittleEndian.Uint64(r.Next(8)) }

func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.Rest)
	r.Next(cmp.Or(n, -1))
	return v
}

func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.Rest)
	r.Next(cmp.Or(n, -1))
	return v
}

// Bytes reads bytes preceded by their number, a varint.
func (r *Reader) Bytes() []byte { return r.Next(int(min(r.Uvarint(), 1<<40))) }

// Into reads a number into each pointer.
func (r *Reader) Into(numbers []any) {
	for _, n := range numbers {
		_, _ = binary.Decode(r.Next(binary.Size(n)), binary.LittleEndian, n) // fails for other types only
	}
}
