// Package fields decodes fields from stored bytes, and adds tagged ones to those of a document: see
// docs/format.md, "Data of a document".
package fields

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
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

// The tags of fields that more than one package reads.
const (
	TagTime  = 1 // the time of a document from the input
	TagPicks = 4 // the list of its picks
)

// ErrShort is returned for fields that are cut off.
var ErrShort = errors.New("the stored data of a document is invalid: the store is damaged, or another program wrote it")

// Append appends a field to those of a document. Fields are in the order of their tags, each at most
// once.
func Append(added []byte, tag byte, value []byte) []byte {
	added = append(added, tag)
	added = binary.AppendUvarint(added, uint64(len(value)))
	return append(added, value...)
}

// Find finds a field of a document. It skips others, even unknown ones. ok reports whether it exists.
func Find(added []byte, tag byte) (value []byte, ok bool, err error) {
	for in := (Reader{Rest: added}); len(in.Rest) > 0; {
		at, value := in.Byte(), in.Bytes()
		if in.Short {
			return nil, false, ErrShort
		}
		if at == tag {
			return value, true, nil
		}
	}
	return nil, false, nil
}

// AppendTime appends the time of a document in Unix seconds. It clamps times to 1970 and the largest
// unsigned 32-bit time.
func AppendTime(added []byte, seconds int64) []byte {
	seconds = min(max(seconds, 0), math.MaxUint32)
	return Append(added, TagTime, binary.LittleEndian.AppendUint32(nil, uint32(seconds)))
}

// Time returns the time that AppendTime appended, if it has.
func Time(added []byte) (time uint32, ok bool) {
	b, ok, err := Find(added, TagTime)
	if err != nil || !ok || len(b) != 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b), true
}
