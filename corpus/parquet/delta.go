package parquet

import (
	"encoding/binary"
	"errors"
)

var errDelta = errors.New("its deltas are not as they are encoded")

// maxDeltaBlock is how many numbers a block of deltas may have; writers use 128.
const maxDeltaBlock = 1 << 16

// deltas reads numbers stored as differences (Encodings.md, "Delta Encoding"). It holds only its
// position.
type deltas struct {
	data   []byte
	left   uint64 // numbers, in all
	value  int64
	first  bool // value is the next number
	block  int  // numbers of a block
	minis  int  // miniblocks of a block
	widths []byte
	mini   int // the next miniblock of the block
	least  int64
	packed []byte // the miniblock
	at, n  int    // in it
}

// newDeltas reads at most n numbers.
func newDeltas(data []byte, n int) (d *deltas, err error) {
	d = &deltas{data: data, first: true}
	head := [3]uint64{}
	for i := range head {
		if head[i], err = d.uvarint(); err != nil {
			return nil, err
		}
	}
	first, err := d.uvarint()
	d.value = int64(first>>1) ^ -int64(first&1)
	if err != nil || head[0] == 0 || head[0] > maxDeltaBlock || head[1] == 0 || head[0]%head[1] != 0 || head[0]/head[1]%8 != 0 || head[2] > uint64(n) {
		return nil, errDelta
	}
	d.block, d.minis, d.left = int(head[0]), int(head[1]), head[2]
	d.mini = d.minis
	return d, nil
}

func (d *deltas) uvarint() (uint64, error) {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		return 0, errDelta
	}
	d.data = d.data[n:]
	return v, nil
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
	if d.at == d.n {
		if err := d.miniblock(); err != nil {
			return 0, err
		}
	}
	width := uint(d.widths[d.mini-1])
	d.value += d.least + int64(bits(d.packed, uint(d.at)*width, width))
	d.at++
	return d.value, nil
}

// miniblock goes on to the next miniblock.
func (d *deltas) miniblock() error {
	if d.mini == d.minis {
		least, err := d.uvarint()
		if err != nil || len(d.data) < d.minis {
			return errDelta
		}
		d.least = int64(least>>1) ^ -int64(least&1)
		d.widths, d.data, d.mini = d.data[:d.minis], d.data[d.minis:], 0
	}
	d.at, d.n = 0, d.block/d.minis
	width := int(d.widths[d.mini])
	if width > 64 {
		return errDelta
	}
	size := min(d.n*width/8, len(d.data)) // the last may be cut off
	d.packed, d.data = d.data[:size], d.data[size:]
	d.mini++
	return nil
}

// end passes over all numbers and returns the data behind them.
func (d deltas) end() ([]byte, error) {
	for d.left > 0 {
		if _, err := d.next(); err != nil {
			return nil, err
		}
	}
	return d.data, nil
}

type deltaNumbers struct {
	*deltas
	width int
	v     [8]byte
}

func (d *deltaNumbers) next() ([]byte, error) {
	v, err := d.deltas.next()
	binary.LittleEndian.PutUint64(d.v[:], uint64(v))
	return d.v[:d.width], err
}

// deltaLength is texts behind their lengths.
type deltaLength struct {
	lengths *deltas
	data    []byte
}

func newDeltaLength(data []byte, n int) (*deltaLength, error) {
	lengths, err := newDeltas(data, n)
	if err != nil {
		return nil, err
	}
	rest, err := lengths.end()
	return &deltaLength{lengths, rest}, err
}

func (d *deltaLength) next() ([]byte, error) {
	n, err := d.lengths.next()
	if err != nil || n < 0 || n > int64(len(d.data)) {
		return nil, errors.Join(err, errValues)
	}
	v := d.data[:n]
	d.data = d.data[n:]
	return v, nil
}

// deltaBytes is a sequence of texts, each without the beginning it shares with the one before.
type deltaBytes struct {
	prefixes *deltas
	suffixes *deltaLength
	value    []byte
	column   *column
}

func newDeltaBytes(data []byte, c *column) (*deltaBytes, error) {
	prefixes, err := newDeltas(data, c.entries)
	if err != nil {
		return nil, err
	}
	rest, err := prefixes.end()
	if err != nil {
		return nil, err
	}
	suffixes, err := newDeltaLength(rest, c.entries)
	return &deltaBytes{prefixes: prefixes, suffixes: suffixes, value: c.joined[:0], column: c}, err
}

func (d *deltaBytes) next() ([]byte, error) {
	n, err := d.prefixes.next()
	if err != nil || n < 0 || n > int64(len(d.value)) {
		return nil, errors.Join(err, errValues)
	}
	suffix, err := d.suffixes.next()
	if err != nil {
		return nil, err
	}
	if err := d.room(int(n) + len(suffix)); err != nil {
		return nil, err
	}
	d.value = append(d.value[:n], suffix...)
	if width := d.column.leaf.width(); width > 0 && len(d.value) != width {
		return nil, errValues
	}
	return d.value, nil
}

// room makes room for a value of so many bytes, and keeps the part already there.
func (d *deltaBytes) room(size int) error {
	if size <= cap(d.value) {
		return nil
	}
	value, err := d.column.pages.grow(d.value, max(size, min(2*cap(d.value), maxPage)))
	if err != nil {
		return err
	}
	d.value = value[:copy(value, d.value)]
	d.column.joined = d.value
	return nil
}
