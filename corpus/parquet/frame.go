package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// pageBytes is how many bytes of values a page gets at most, unless one row has more.
const pageBytes = 1 << 20

// frameRow returns the parts of a row in a frame: its length, the row, and the added columns.
func frameRow(raw, added []byte) [][]byte {
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(raw)+len(added)))
	return [][]byte{length[:], raw, added}
}

// A frame of an output is a row group. It has the four bytes that begin a file, the pages of its
// columns one after the other, and a trailer. [enclosure.End] makes the footer from the trailers.
// The trailer is in little-endian numbers of 64 bits. For each column it has the offset of its
// first page in the frame, its stored bytes, its bytes decompressed, and its values. Then come the
// number of rows, that of columns, the length of the frame, and the eight bytes of frameMagic.
// Readers of Parquet pass over the trailer, as nothing names it.
const (
	frameMagic   = "fsRowGrp"
	frameColumn  = 32
	frameTrailer = 32
)

// columnWriter makes the pages of a column.
type columnWriter struct {
	leaf  *leaf
	codec int32

	reps, defs []byte
	values     []byte // plainly; truth values a byte each
	count      int    // entries of the page
	entries    int64
	pages      []byte
	plain      int64 // bytes of pages, before compression

	page, body []byte // memory for one, plainly and compressed
}

// reset makes ready for another row group, in the same memory.
func (c *columnWriter) reset() {
	*c = columnWriter{
		leaf: c.leaf, codec: c.codec,
		reps: c.reps[:0], defs: c.defs[:0], values: c.values[:0], pages: c.pages[:0], page: c.page, body: c.body,
	}
}

func (c *columnWriter) add(e entry) {
	c.count++
	if c.leaf.maxRep > 0 {
		c.reps = append(c.reps, byte(e.rep))
	}
	if c.leaf.maxDef > 0 {
		c.defs = append(c.defs, byte(e.def))
	}
	if e.def < c.leaf.maxDef {
		return
	}
	if c.leaf.typ == typeBytes {
		c.values = binary.LittleEndian.AppendUint32(c.values, uint32(len(e.value)))
	}
	c.values = append(c.values, e.value...)
}

// flush makes a page of the added entries.
func (c *columnWriter) flush() (err error) {
	if c.count == 0 {
		return nil
	}
	page := c.page[:0]
	if c.leaf.maxRep > 0 {
		page = appendLevels(page, c.reps, bitsFor(c.leaf.maxRep))
	}
	if c.leaf.maxDef > 0 {
		page = appendLevels(page, c.defs, bitsFor(c.leaf.maxDef))
	}
	if c.leaf.typ == typeBoolean {
		page = appendBits(page, c.values)
	} else {
		page = append(page, c.values...)
	}
	c.page = page
	if c.body, err = compress(c.codec, c.body[:0], page); err != nil {
		return err
	}
	head := pageHeader(len(page), len(c.body), c.count)
	c.pages = append(append(c.pages, head...), c.body...)
	c.plain += int64(len(head) + len(page))
	c.entries += int64(c.count)
	c.count, c.reps, c.defs, c.values = 0, c.reps[:0], c.defs[:0], c.values[:0]
	return nil
}

// pageHeader returns the header of a data page of version 1, with plain values.
func pageHeader(plain, stored, count int) []byte {
	w := &thriftWriter{}
	w.begin()
	w.i32(1, pageData)
	w.i32(2, int64(plain))
	w.i32(3, int64(stored))
	w.field(5, thriftStruct)
	w.begin()
	w.i32(1, int64(count))
	w.i32(2, encPlain)
	w.i32(3, encRLE)
	w.i32(4, encRLE)
	w.end()
	w.end()
	return w.data
}

// appendLevels appends levels in runs, behind their length.
func appendLevels(dst, levels []byte, width uint) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for i := 0; i < len(levels); {
		n := 1
		for i+n < len(levels) && levels[i+n] == levels[i] {
			n++
		}
		dst = binary.AppendUvarint(dst, uint64(n)<<1)
		if dst = append(dst, levels[i]); width > 8 {
			dst = append(dst, 0)
		}
		i += n
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

func appendBits(dst, values []byte) []byte {
	for i, v := range values {
		if i%8 == 0 {
			dst = append(dst, 0)
		}
		dst[len(dst)-1] |= v & 1 << (i % 8)
	}
	return dst
}

// keptFrame is up to how many bytes of rows the memory for them is used again.
const keptFrame = 16 << 20

// columns returns the writers of a row group, in the memory of an earlier one if there is any.
func (e *enclosure) columns() []columnWriter {
	if used, ok := e.writers.Get().(*[]columnWriter); ok {
		for i := range *used {
			(*used)[i].reset()
		}
		return *used
	}
	columns := make([]columnWriter, len(e.leaves))
	for i := range columns {
		columns[i] = columnWriter{leaf: &e.leaves[i], codec: e.codecs[i]}
	}
	return columns
}

// Frame makes a row group of rows.
func (e *enclosure) Frame(dst, records []byte) ([]byte, error) {
	columns := e.columns()
	if len(records) <= keptFrame {
		defer e.writers.Put(&columns)
	}
	rows := uint64(0)
	for len(records) > 0 {
		n := uint64(0)
		if len(records) >= 4 {
			n = uint64(binary.LittleEndian.Uint32(records))
		}
		if n == 0 || n > uint64(len(records)-4) {
			return dst, errRow
		}
		if err := e.addRow(columns, records[4:4+n]); err != nil {
			return dst, err
		}
		records = records[4+n:]
		rows++
	}
	return e.appendFrame(dst, columns, rows)
}

// addRow adds the entries of a row to the columns.
func (e *enclosure) addRow(columns []columnWriter, row []byte) (err error) {
	if len(row) < len(e.print) || string(row[:len(e.print)]) != string(e.print) {
		return errors.New("a row is of another schema than the first: write each input to a file of its own, with --out-dir")
	}
	row = row[len(e.print):]
	for _, i := range e.order {
		c := &columns[i]
		if len(c.values) >= pageBytes || c.count >= pageBytes {
			if err := c.flush(); err != nil {
				return err
			}
		}
		if row, err = c.leaf.each(row, c.add); err != nil {
			return err
		}
	}
	if len(row) > 0 {
		return errRow
	}
	return nil
}

func (e *enclosure) appendFrame(dst []byte, columns []columnWriter, rows uint64) ([]byte, error) {
	start := len(dst)
	dst = append(dst, fileMagic...)
	var trailer []byte
	number := func(v uint64) { trailer = binary.LittleEndian.AppendUint64(trailer, v) }
	for i := range columns {
		c := &columns[i]
		if err := c.flush(); err != nil {
			return dst, fmt.Errorf("column %s: %w", c.leaf.name(), err)
		}
		number(uint64(len(dst) - start))
		number(uint64(len(c.pages)))
		number(uint64(c.plain))
		number(uint64(c.entries))
		dst = append(dst, c.pages...)
	}
	number(rows)
	number(uint64(len(columns)))
	number(uint64(len(dst) - start + len(trailer) + 16))
	return append(append(dst, trailer...), frameMagic...), nil
}
