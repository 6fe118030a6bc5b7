package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
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

// values returns the values of a page one by one. Each is valid until the next call.
type values func() ([]byte, error)

// newValues returns a reader of the values of a page. It allocates nothing for their claimed count.
func (c *column) newValues(encoding int32, data []byte) (values, error) {
	typ, n := c.leaf.typ, c.entries
	switch {
	case encoding == encPlain && typ == typeBoolean:
		return truths(hybrid{data: data, width: 1, packed: true, left: 8 * len(data)}), nil
	case encoding == encPlain:
		return plain(data, c.leaf.width()), nil
	case encoding == encDict, encoding == encPlainDict:
		return c.indexed(data)
	case encoding == encRLE && typ == typeBoolean:
		runs, _, ok := cutLength(data)
		if !ok {
			return nil, errValues
		}
		return truths(hybrid{data: runs, width: 1}), nil
	case encoding == encDeltaBinary && (typ == typeInt32 || typ == typeInt64):
		return deltaNumbers(data, n, c.leaf.width())
	case encoding == encDeltaLength && typ == typeBytes:
		return deltaLength(data, n)
	case encoding == encDeltaBytes && (typ == typeBytes || typ == typeFixed):
		return c.deltaBytes(data)
	case encoding == encByteSplit && typ != typeBytes && typ != typeBoolean:
		return byteSplit(data, c.leaf.width()), nil
	}
	return nil, fmt.Errorf("its encoding %d is unknown, or does not fit its type", encoding)
}

// cutLength splits data after the bytes whose number is in its first four bytes.
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

// plain reads values of a fixed width or, if width is 0, with a length before each.
func plain(data []byte, width int) values {
	at := 0
	if width > 0 {
		return func() ([]byte, error) {
			if len(data)-at < width {
				return nil, errValues
			}
			at += width
			return data[at-width : at], nil
		}
	}
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
	index := hybrid{data: data[1:], width: uint(data[0])}
	return func() ([]byte, error) {
		i, err := index.next()
		if err == nil && uint64(i) >= uint64(len(c.words)) {
			err = fmt.Errorf("it refers to value %d of the dictionary, which has fewer", i)
		}
		if err != nil {
			return nil, err
		}
		return c.words[i], nil
	}, nil
}

// wordBytes is the memory for the slice header of a dictionary value.
const wordBytes = 24

// setWords parses a dictionary page. Each value has at least one byte.
func (c *column) setWords(data []byte, count int32) error {
	c.hasWords = true
	switch {
	case c.leaf.typ == typeBoolean:
		return errors.New("it is a dictionary of booleans")
	case count < 0 || int64(count) > int64(len(data)):
		return errValues
	}
	if more := int(count) - cap(c.words); more > 0 {
		if err := c.pages.hold(more * wordBytes); err != nil {
			return err
		}
		c.words = make([][]byte, 0, count)
	}
	c.words = c.words[:0]
	next := plain(data, c.leaf.width())
	for range count {
		word, err := next()
		if err != nil {
			return err
		}
		c.words = append(c.words, word)
	}
	return nil
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

// deltaLength reads texts that follow their lengths.
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

// deltaBytes reads texts, each without the prefix that it shares with the previous one.
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

var errLevels = errors.New("its runs of levels or indices end too early, or are longer than the page")

// hybrid reads numbers of a few bits, in runs of one number and in packed groups of eight
// (Encodings.md, "RLE / Bit-Packing Hybrid"). It stores only its position.
type hybrid struct {
	data   []byte
	width  uint
	left   int    // of the run
	packed bool   // the run is packed; its next number begins at bit
	value  uint32 // of a run of one number
	bit    uint
}

func (h *hybrid) next() (uint32, error) {
	for h.left == 0 {
		if err := h.run(); err != nil {
			return 0, err
		}
	}
	h.left--
	if !h.packed {
		return h.value, nil
	}
	v := bitsAt(h.data, h.bit, h.width)
	h.bit += h.width
	if h.left == 0 {
		h.data = h.data[min(uint(len(h.data)), (h.bit+7)/8):]
	}
	return uint32(v), nil
}

func (h *hybrid) run() error {
	head, n := binary.Uvarint(h.data)
	if n <= 0 || head>>1 == 0 || head>>1 > 1<<31 {
		return errLevels
	}
	h.data = h.data[n:]
	if head&1 == 0 {
		size := int(h.width+7) / 8
		if size > len(h.data) {
			return errLevels
		}
		h.packed, h.left, h.value = false, int(head>>1), 0
		for i, b := range h.data[:size] {
			h.value |= uint32(b) << (8 * i)
		}
		h.data = h.data[size:]
		return nil
	}
	// The last group may be truncated after the last number that counts.
	groups := head >> 1
	if h.width > 0 {
		groups = min(groups, (uint64(len(h.data))+uint64(h.width)-1)/uint64(h.width))
	}
	if groups == 0 {
		return errLevels
	}
	h.packed, h.left, h.bit = true, int(groups)*8, 0
	return nil
}

// bitsAt returns the number at a bit offset; bits after the data are 0.
func bitsAt(data []byte, at, width uint) uint64 {
	i, shift := at/8, at%8
	if i+9 > uint(len(data)) {
		var end [9]byte
		copy(end[:], data[min(i, uint(len(data))):])
		data, i = end[:], 0
	}
	v := binary.LittleEndian.Uint64(data[i:])>>shift | uint64(data[i+8])<<(64-shift)
	return v & (1<<width - 1)
}

// bitsFor returns the number of bits of numbers up to n.
func bitsFor(n int) uint { return uint(bits.Len(uint(n))) }

var errDelta = errors.New("its deltas are encoded incorrectly")

// maxDeltaBlock is the maximum number of values in a block of deltas; writers use 128.
const maxDeltaBlock = 1 << 16

// deltas reads numbers stored as differences (Encodings.md, "Delta Encoding"), in constant memory.
type deltas struct {
	byteReader
	left   uint64 // numbers in total
	value  int64
	first  bool // value is the next number
	minis  int  // miniblocks of a block
	size   int  // numbers of a miniblock
	widths []byte
	mini   int // next miniblock of the block
	least  int64
	packed []byte // the current miniblock
	done   int    // numbers read from it
}

// newDeltas returns a reader of at most n numbers.
func newDeltas(data []byte, n int) (*deltas, error) {
	d := &deltas{byteReader: byteReader{data: data}, first: true}
	block, minis := d.uvarint(), d.uvarint()
	d.left, d.value = d.uvarint(), d.int()
	if d.err != nil || block == 0 || block > maxDeltaBlock || minis == 0 || block%minis != 0 || block/minis%8 != 0 || d.left > uint64(n) {
		return nil, errDelta
	}
	d.minis, d.size = int(minis), int(block/minis)
	d.mini, d.done = d.minis, d.size
	return d, nil
}

func (d *deltas) next() (int64, error) {
	if d.left == 0 {
		return 0, errValues
	}
	d.left--
	if d.first {
		d.first = false
		return d.value, nil
	}
	if d.done == d.size {
		if err := d.miniblock(); err != nil {
			return 0, err
		}
	}
	width := uint(d.widths[d.mini-1])
	d.value += d.least + int64(bitsAt(d.packed, uint(d.done)*width, width))
	d.done++
	return d.value, nil
}

func (d *deltas) miniblock() error {
	if d.mini == d.minis {
		d.least, d.widths = d.int(), d.take(uint64(d.minis))
		if d.err != nil {
			return errDelta
		}
		d.mini = 0
	}
	width := int(d.widths[d.mini])
	if width > 64 {
		return errDelta
	}
	d.packed = d.take(uint64(min(d.size*width/8, len(d.data)-d.at))) // the last may be truncated
	d.mini++
	d.done = 0
	return nil
}

// deltasBefore returns a reader of at most n numbers, and the data after them.
func deltasBefore(data []byte, n int) (d *deltas, rest []byte, err error) {
	if d, err = newDeltas(data, n); err != nil {
		return nil, nil, err
	}
	end := *d
	for end.left > 0 {
		if _, err := end.next(); err != nil {
			return nil, nil, err
		}
	}
	return d, end.data[end.at:], nil
}
