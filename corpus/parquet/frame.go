package parquet

import (
	"bytes"
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
// Readers of Parquet pass over the trailer, as nothing names it. See docs/format.md, "Parquet".
const (
	frameMagic = "fsRowGr2"
	frameTail  = 40 // bytes, the end of the trailer

	formerMagic  = "fsRowGrp" // of frames without dictionaries and statistics, of earlier versions
	formerTail   = 32
	formerColumn = 32
)

// A madeColumn describes a column of a row group that was written.
type madeColumn struct {
	start         int64 // of its first page in the frame
	dictionary    int64 // stored bytes of its dictionary, which comes first; 0: none
	stored, plain int64 // bytes of its pages, compressed and not
	entries       int64
	*bounds       // nil: unknown
}

func (m *madeColumn) append(dst []byte) []byte {
	for _, n := range []int64{m.start, m.dictionary, m.stored, m.plain, m.entries, m.Nulls} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	for _, bound := range []*string{m.Min, m.Max} {
		if bound == nil {
			dst = append(dst, 0)
			continue
		}
		dst = append(binary.AppendUvarint(dst, uint64(len(*bound))+1), *bound...)
	}
	return dst
}

// parse reads what append has written, and returns the rest.
func (m *madeColumn) parse(b []byte) (rest []byte, ok bool) {
	m.bounds = &bounds{}
	for _, at := range []*int64{&m.start, &m.dictionary, &m.stored, &m.plain, &m.entries, &m.Nulls} {
		v, n := binary.Uvarint(b)
		if *at = int64(v); n <= 0 || *at < 0 {
			return nil, false
		}
		b = b[n:]
	}
	for _, at := range []**string{&m.Min, &m.Max} {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > uint64(len(b)-n)+1 {
			return nil, false
		}
		if b = b[n:]; v > 0 {
			bound := string(b[:v-1])
			*at, b = &bound, b[v-1:]
		}
	}
	return b, true
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
		if e.Orders != nil { // without them readers may take any order
			columns[i].order = e.leaves[i].order()
		}
	}
	return columns
}

// Frame makes a row group of rows.
func (e *enclosure) Frame(dst, records []byte) ([]byte, error) {
	columns := e.columns()
	if len(records) <= keptFrame {
		defer e.writers.Put(&columns)
	}
	room := maxDistinct
	for i := range columns {
		columns[i].dictionary.room = &room
	}
	rows := uint64(0)
	for len(records) > 0 {
		row, rest, ok := cutLength(records)
		if !ok || len(row) == 0 {
			return dst, errRow
		}
		if err := e.addRow(columns, row); err != nil {
			return dst, err
		}
		records = rest
		rows++
	}
	return e.appendFrame(dst, columns, rows)
}

// addRow adds the entries of a row to the columns.
func (e *enclosure) addRow(columns []columnWriter, row []byte) (err error) {
	row, ok := bytes.CutPrefix(row, e.print)
	if !ok {
		return errors.New("a row is of another schema than the first: write each input to a file of its own, with --out-dir")
	}
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
	var made []byte
	for i := range columns {
		c := &columns[i]
		err := c.flush()
		m := madeColumn{start: int64(len(dst) - start), entries: c.entries, bounds: c.statistics.bounds()}
		if err == nil && c.dictionary.used {
			dst, err = c.appendPage(dst, c.dictionary.plain, pageDict, len(c.dictionary.index), encPlain)
			m.dictionary = int64(len(dst)-start) - m.start
		}
		if err != nil {
			return dst, fmt.Errorf("column %s: %w", c.leaf.name(), err)
		}
		m.stored, m.plain = m.dictionary+int64(len(c.pages)), c.plain
		made = m.append(made)
		dst = append(dst, c.pages...)
	}
	dst = append(dst, made...)
	for _, n := range []int{int(rows), len(columns), len(made), len(dst) - start + frameTail} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	return append(dst, frameMagic...), nil
}
