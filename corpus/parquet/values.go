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

// values returns the values of a page one after the other. Each is valid until the next call.
type values func() ([]byte, error)

// newValues reads the values of a page in an encoding, in its bytes. It allocates nothing for the
// number they claim.
func (c *column) newValues(encoding int32, data []byte) (values, error) {
	typ, n := c.leaf.typ, c.entries
	switch {
	case encoding == encPlain && typ == typeBoolean:
		return truths(hybrid{data: data, width: 1, packed: true, left: 8 * len(data)}), nil
	case encoding == encPlain && typ == typeBytes:
		return plainBytes(data), nil
	case encoding == encPlain:
		return plainFixed(data, c.leaf.width()), nil
	case encoding == encDict, encoding == encPlainDict:
		return c.indexed(data)
	case encoding == encRLE && typ == typeBoolean:
		runs, _, ok := cutLength(data)
		if !ok {
			return nil, errValues
		}
		return truths(newHybrid(runs, 1)), nil
	case encoding == encDeltaBinary && (typ == typeInt32 || typ == typeInt64):
		return deltaNumbers(data, n, c.leaf.width())
	case encoding == encDeltaLength && typ == typeBytes:
		return deltaLength(data, n)
	case encoding == encDeltaBytes && (typ == typeBytes || typ == typeFixed):
		return c.deltaBytes(data)
	case encoding == encByteSplit && typ != typeBytes && typ != typeBoolean:
		return byteSplit(data, c.leaf.width()), nil
	}
	return nil, fmt.Errorf("its encoding %d is not known, or not for its type", encoding)
}

// cutLength cuts data behind the bytes whose number its first four bytes say.
func cutLength(data []byte) (counted, rest []byte, ok bool) {
	if len(data) < 4 {
		return nil, data, false
	}
	n := uint64(binary.LittleEndian.Uint32(data))
	if data = data[4:]; n > uint64(len(data)) {
		return nil, data, false
	}
	return data[:n:n], data[n:], true
}

func plainFixed(data []byte, width int) values {
	at := 0
	return func() ([]byte, error) {
		if len(data)-at < width {
			return nil, errValues
		}
		at += width
		return data[at-width : at], nil
	}
}

func plainBytes(data []byte) values {
	at := 0
	return func() ([]byte, error) {
		v, _, ok := cutLength(data[at:])
		if !ok {
			return nil, errValues
		}
		at += 4 + len(v)
		return v, nil
	}
}

func truths(bits hybrid) values {
	v := make([]byte, 1)
	return func() ([]byte, error) {
		bit, err := bits.next()
		v[0] = byte(bit)
		return v, err
	}
}

func byteSplit(data []byte, width int) values {
	count, at := len(data)/width, 0
	v := make([]byte, width)
	return func() ([]byte, error) {
		if at >= count || len(data)%width != 0 {
			return nil, errValues
		}
		for i := range v {
			v[i] = data[i*count+at]
		}
		at++
		return v, nil
	}
}

func (c *column) indexed(data []byte) (values, error) {
	switch {
	case !c.hasWords:
		return nil, errors.New("it has no dictionary before it")
	case len(data) == 0:
		data = []byte{0}
	case data[0] > 32:
		return nil, fmt.Errorf("its indices have %d bits", data[0])
	}
	index := newHybrid(data[1:], uint(data[0]))
	return func() ([]byte, error) {
		i, err := index.next()
		if err != nil {
			return nil, err
		}
		return c.word(i)
	}, nil
}

// setWords takes the values of a dictionary page, and finds those without a width.
func (c *column) setWords() error {
	c.hasWords = true
	if c.leaf.typ == typeBoolean {
		return errors.New("it is a dictionary of truth values")
	}
	if c.leaf.width() > 0 {
		return nil
	}
	count, at := 0, uint64(0)
	for ; at+4 <= uint64(len(c.words)); count++ {
		at += 4 + uint64(binary.LittleEndian.Uint32(c.words[at:]))
	}
	if at != uint64(len(c.words)) {
		return errValues
	}
	if more := count + 1 - cap(c.starts); more > 0 {
		if err := c.pages.hold(4 * more); err != nil {
			return err
		}
		c.starts = make([]uint32, 0, count+1)
	}
	c.starts = append(c.starts[:0], 4)
	for at = 0; at < uint64(len(c.words)); {
		at += 4 + uint64(binary.LittleEndian.Uint32(c.words[at:]))
		c.starts = append(c.starts, uint32(at)+4)
	}
	return nil
}

// word returns a value of the dictionary.
func (c *column) word(i uint32) ([]byte, error) {
	if width := uint64(c.leaf.width()); width > 0 {
		if at := uint64(i) * width; at+width <= uint64(len(c.words)) {
			return c.words[at:][:width], nil
		}
	} else if uint64(i)+1 < uint64(len(c.starts)) {
		return c.words[c.starts[i] : c.starts[i+1]-4], nil
	}
	return nil, fmt.Errorf("it names the value %d of the dictionary, which has fewer", i)
}

func deltaNumbers(data []byte, n, width int) (values, error) {
	numbers, err := newDeltas(data, n)
	v := make([]byte, 8)
	return func() ([]byte, error) {
		number, err := numbers.next()
		binary.LittleEndian.PutUint64(v, uint64(number))
		return v[:width], err
	}, err
}

// deltaLength reads texts behind their lengths.
func deltaLength(data []byte, n int) (values, error) {
	lengths, rest, err := deltasBefore(data, n)
	return func() ([]byte, error) {
		n, err := lengths.next()
		if err != nil || n < 0 || n > int64(len(rest)) {
			return nil, errors.Join(err, errValues)
		}
		v := rest[:n]
		rest = rest[n:]
		return v, nil
	}, err
}

// deltaBytes reads texts, each without the beginning it shares with the one before.
func (c *column) deltaBytes(data []byte) (values, error) {
	prefixes, rest, err := deltasBefore(data, c.entries)
	if err != nil {
		return nil, err
	}
	suffixes, err := deltaLength(rest, c.entries)
	c.joined = c.joined[:0]
	return func() ([]byte, error) {
		n, err := prefixes.next()
		if err != nil || n < 0 || n > int64(len(c.joined)) {
			return nil, errors.Join(err, errValues)
		}
		suffix, err := suffixes()
		if err != nil {
			return nil, err
		}
		if size := int(n) + len(suffix); size > cap(c.joined) {
			room, err := c.pages.grow(c.joined, max(size, min(2*cap(c.joined), maxPage)))
			if err != nil {
				return nil, err
			}
			c.joined = room[:copy(room, c.joined)]
		}
		c.joined = append(c.joined[:n], suffix...)
		if width := c.leaf.width(); width > 0 && len(c.joined) != width {
			return nil, errValues
		}
		return c.joined, nil
	}, err
}
