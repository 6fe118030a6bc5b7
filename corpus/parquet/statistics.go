package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// maxBound is up to how many bytes the least and the greatest value of a column are written.
const maxBound = 256

// statistics are those of a column in a row group (parquet.thrift, Statistics).
type statistics struct {
	nulls    int64
	min, max []byte
	has      bool
	off      bool // a value has no place in the order
}

func (s *statistics) reset() { *s = statistics{min: s.min[:0], max: s.max[:0]} }

// add takes a value, by the order of its column; nil is none.
func (s *statistics) add(value []byte, order func(a, b []byte) int) {
	switch {
	case s.off:
	case order == nil || order(value, value) != 0:
		s.off = true
	case !s.has:
		s.min, s.max, s.has = append(s.min, value...), append(s.max, value...), true
	case order(value, s.min) < 0:
		s.min = append(s.min[:0], value...)
	case order(value, s.max) > 0:
		s.max = append(s.max[:0], value...)
	}
}

// bounds returns the least and the greatest value; nil if they are not known, or too long.
func (s *statistics) bounds() (least, greatest []byte) {
	if s.off || !s.has || len(s.min) > maxBound || len(s.max) > maxBound {
		return nil, nil
	}
	return s.min, s.max
}

// order returns the order of a column's values (parquet.thrift, ColumnOrder), nil if it has none that
// all readers agree on. A value that is no number is not equal to itself.
func (l *leaf) order() func(a, b []byte) int {
	switch l.typ {
	case typeBoolean:
		return bytes.Compare
	case typeInt32, typeInt64:
		if l.unsigned() {
			return func(a, b []byte) int { return cmp.Compare(unsigned(a), unsigned(b)) }
		}
		return func(a, b []byte) int { return cmp.Compare(signed(a), signed(b)) }
	case typeFloat, typeDouble:
		return func(a, b []byte) int {
			switch x, y := fraction(a), fraction(b); {
			case x < y:
				return -1
			case x == y && math.Signbit(x) == math.Signbit(y):
				return 0
			case x == y && math.Signbit(x):
				return -1
			}
			return 1
		}
	case typeBytes:
		if t := l.Logical; t != nil && t.String == nil && t.Enum == nil && t.JSON == nil && t.BSON == nil {
			return nil
		}
		if l.Converted == nil {
			return bytes.Compare
		}
		switch *l.Converted {
		case convertedUTF8, convertedEnum, convertedJSON, convertedBSON:
			return bytes.Compare
		}
	case typeFixed:
		if l.Logical == nil && l.Converted == nil {
			return bytes.Compare
		}
	}
	return nil
}

func unsigned(v []byte) uint64 {
	if len(v) == 4 {
		return uint64(binary.LittleEndian.Uint32(v))
	}
	return binary.LittleEndian.Uint64(v)
}

func signed(v []byte) int64 {
	if len(v) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(v)))
	}
	return int64(binary.LittleEndian.Uint64(v))
}

func fraction(v []byte) float64 {
	if len(v) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v))
}
