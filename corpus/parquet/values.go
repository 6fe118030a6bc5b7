package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Encodings of values (parquet.thrift, Encoding).
const (
	encPlain       = 0
	encPlainDict   = 2
	encRLE         = 3
	encDeltaBinary = 5
	encDeltaLength = 6
	encDeltaBytes  = 7
	encDict        = 8
	encByteSplit   = 9
)

var errValues = errors.New("its values end too early")

// values reads the values of a page one after the other. The result of next is valid until the next
// call.
type values interface {
	next() ([]byte, error)
}

// newValues reads the values of a page in an encoding, in its bytes. It allocates nothing for the
// number they claim.
func (c *column) newValues(encoding int32, data []byte) (values, error) {
	l, n, d := c.leaf, c.entries, c.dict
	switch {
	case encoding == encPlain && l.typ == typeBoolean:
		return &plainBits{data: data}, nil
	case encoding == encPlain && l.typ == typeBytes:
		return &plainBytes{data: data}, nil
	case encoding == encPlain:
		return &plainFixed{data: data, width: l.width()}, nil
	case encoding == encDict, encoding == encPlainDict:
		if d == nil {
			return nil, errors.New("it has no dictionary before it")
		}
		if len(data) == 0 {
			return &indexed{dict: d}, nil
		}
		if data[0] > 32 {
			return nil, fmt.Errorf("its indices have %d bits", data[0])
		}
		return &indexed{dict: d, index: newHybrid(data[1:], uint(data[0]))}, nil
	case encoding == encRLE && l.typ == typeBoolean:
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return nil, errValues
		}
		return &runBits{runs: newHybrid(data[4:4+binary.LittleEndian.Uint32(data)], 1)}, nil
	case encoding == encDeltaBinary && (l.typ == typeInt32 || l.typ == typeInt64):
		deltas, err := newDeltas(data, n)
		return &deltaNumbers{deltas: deltas, width: l.width()}, err
	case encoding == encDeltaLength && l.typ == typeBytes:
		return newDeltaLength(data, n)
	case encoding == encDeltaBytes && (l.typ == typeBytes || l.typ == typeFixed):
		return newDeltaBytes(data, c)
	case encoding == encByteSplit && l.typ != typeBytes && l.typ != typeBoolean:
		if n <= 0 || len(data)%l.width() != 0 {
			return &byteSplit{}, nil
		}
		return &byteSplit{data: data, count: len(data) / l.width(), value: make([]byte, l.width())}, nil
	}
	return nil, fmt.Errorf("its encoding %d is not known, or not for its type", encoding)
}

type plainFixed struct {
	data  []byte
	width int
}

func (p *plainFixed) next() ([]byte, error) {
	if len(p.data) < p.width {
		return nil, errValues
	}
	v := p.data[:p.width]
	p.data = p.data[p.width:]
	return v, nil
}

type plainBytes struct{ data []byte }

func (p *plainBytes) next() ([]byte, error) {
	if len(p.data) < 4 {
		return nil, errValues
	}
	n := uint64(binary.LittleEndian.Uint32(p.data))
	if p.data = p.data[4:]; n > uint64(len(p.data)) {
		return nil, errValues
	}
	v := p.data[:n]
	p.data = p.data[n:]
	return v, nil
}

type plainBits struct {
	data []byte
	at   uint
	v    [1]byte
}

func (p *plainBits) next() ([]byte, error) {
	if p.at/8 >= uint(len(p.data)) {
		return nil, errValues
	}
	p.v[0] = p.data[p.at/8] >> (p.at % 8) & 1
	p.at++
	return p.v[:], nil
}

type runBits struct {
	runs hybrid
	v    [1]byte
}

func (r *runBits) next() ([]byte, error) {
	v, err := r.runs.next()
	r.v[0] = byte(v)
	return r.v[:], err
}

// dictionary is the values of a dictionary page.
type dictionary struct {
	data   []byte
	width  int      // of a value; 0: each begins with its length
	starts []uint32 // of values that have no width, and the end of the last, with 4 bytes more
}

// newDictionary reads a dictionary; starts is the memory held for an earlier one.
func newDictionary(l *leaf, data []byte, starts []uint32, p *pages) (*dictionary, error) {
	d := &dictionary{data: data, width: l.width(), starts: starts[:0]}
	if l.typ == typeBoolean {
		return nil, errors.New("it is a dictionary of truth values")
	}
	if d.width > 0 {
		return d, nil
	}
	count, at := 0, uint64(0)
	for ; at+4 <= uint64(len(data)); count++ {
		at += 4 + uint64(binary.LittleEndian.Uint32(data[at:]))
	}
	if at != uint64(len(data)) {
		return nil, errValues
	}
	if more := count + 1 - cap(starts); more > 0 {
		if err := p.hold(4 * more); err != nil {
			return nil, err
		}
		d.starts = make([]uint32, 0, count+1)
	}
	for at = 0; at < uint64(len(data)); {
		d.starts = append(d.starts, uint32(at)+4)
		at += 4 + uint64(binary.LittleEndian.Uint32(data[at:]))
	}
	d.starts = append(d.starts, uint32(at)+4)
	return d, nil
}

func (d *dictionary) value(i uint32) ([]byte, error) {
	if d.width > 0 {
		if (uint64(i)+1)*uint64(d.width) <= uint64(len(d.data)) {
			return d.data[int(i)*d.width:][:d.width], nil
		}
	} else if uint64(i)+1 < uint64(len(d.starts)) {
		return d.data[d.starts[i] : d.starts[i+1]-4], nil
	}
	return nil, fmt.Errorf("it names the value %d of the dictionary, which has fewer", i)
}

type indexed struct {
	dict  *dictionary
	index hybrid
}

func (x *indexed) next() ([]byte, error) {
	i, err := x.index.next()
	if err != nil {
		return nil, err
	}
	return x.dict.value(i)
}

type byteSplit struct {
	data      []byte
	count, at int
	value     []byte
}

func (s *byteSplit) next() ([]byte, error) {
	if s.at >= s.count {
		return nil, errValues
	}
	for i := range s.value {
		s.value[i] = s.data[i*s.count+s.at]
	}
	s.at++
	return s.value, nil
}
