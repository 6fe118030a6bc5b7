package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
)

// enclosure makes a file from rows of others that share one schema. It has that schema, and the
// metadata of the first of these files, byte for byte.
type enclosure struct {
	print          []byte // of the schema, with which a row begins
	leaves         []leaf // in the order of the schema
	order          []int  // of columns in a row
	codecs         []int32
	version        int64
	schema, orders []byte
	kv             []byte
	writers        sync.Pool // *[]columnWriter, for their memory
}

// Enclose reads the footers of the inputs.
func (f Format) Enclose(inputs []input.Input, annotate bool) (output.Enclosure, error) {
	if !f.Rows {
		return nil, errors.New("the rows of Parquet are not read to be written")
	}
	var e *enclosure
	for _, in := range inputs {
		m, err := metaOf(in)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", in.Name, err)
		}
		if e != nil && !bytes.Equal(e.print, m.print()) {
			return nil, fmt.Errorf("%s has another schema than %s, and cannot be written to one file with it: use --out-dir, or give it a run of its own with the same --index", in.Name, inputs[0].Name)
		}
		if e != nil {
			continue
		}
		if e, err = f.enclosure(m, annotate); err != nil {
			return nil, fmt.Errorf("reading %s: %w", in.Name, err)
		}
	}
	return e, nil
}

func metaOf(in input.Input) (*meta, error) {
	file, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	return readMeta(file.At, size)
}

func (f Format) enclosure(m *meta, annotate bool) (e *enclosure, err error) {
	e = &enclosure{print: m.print(), version: max(m.version, 1), schema: m.schemaRaw, orders: m.ordersRaw, kv: m.kvRaw}
	if e.order, _, err = f.order(m); err != nil {
		return nil, err
	}
	e.leaves = m.leaves
	var chunks []chunk
	if len(m.groups) > 0 {
		if chunks, err = m.groups[0].read(nil); err != nil {
			return nil, err
		}
	}
	for i := range m.leaves {
		codec := int32(codecZstd)
		if len(chunks) > 0 {
			codec = writing(chunks[i].codec)
		}
		e.codecs = append(e.codecs, codec)
	}
	if !annotate {
		return e, nil
	}
	if e.schema, e.orders, err = m.withVerdicts(); err != nil {
		return nil, err
	}
	for i := range verdictLeaves {
		e.order = append(e.order, len(e.leaves))
		e.leaves = append(slices.Clip(e.leaves), verdictLeaves[i])
		e.codecs = append(e.codecs, e.codecs[0])
	}
	return e, nil
}

// written is a row group that was written.
type written struct {
	start   int64 // of its frame
	rows    uint64
	columns []madeColumn
}

// End makes the footer of a file of frames.
func (e *enclosure) End(file io.ReaderAt, size int64) ([]byte, error) {
	if size > 0 {
		var tail [4]byte
		if _, err := file.ReadAt(tail[:], size-4); err != nil {
			return nil, err
		}
		if string(tail[:]) == fileMagic {
			return nil, nil
		}
	}
	groups, err := e.frames(file, size)
	if err != nil {
		return nil, err
	}
	footer := e.footer(groups)
	end := footer
	if size == 0 {
		end = append([]byte(fileMagic), footer...)
	}
	end = binary.LittleEndian.AppendUint32(end, uint32(len(footer)))
	return append(end, fileMagic...), nil
}

// frames finds the frames of a file, from its end to its beginning.
func (e *enclosure) frames(file io.ReaderAt, size int64) (groups []written, err error) {
	for end := size; end > 0; {
		g, err := e.frame(file, end)
		if err != nil {
			return nil, err
		}
		end = g.start
		groups = append(groups, g)
	}
	slices.Reverse(groups)
	return groups, nil
}

var errFrames = errors.New("the file is not as it was written")

// frame reads the trailer of the frame that ends at a place.
func (e *enclosure) frame(file io.ReaderAt, end int64) (g written, err error) {
	read := func(n, before int64) []byte {
		if n < 0 || n > end-before || err != nil {
			err = cmp.Or(err, errFrames)
			return make([]byte, frameTail)
		}
		b := make([]byte, n)
		_, err = file.ReadAt(b, end-before-n)
		return b
	}
	tail := read(min(frameTail, end), 0)
	if len(tail) < formerTail {
		return g, errFrames
	}
	number := func(at int) int64 { return int64(binary.LittleEndian.Uint64(tail[len(tail)-at:])) }
	length := number(16)
	switch magic := string(tail[len(tail)-8:]); {
	case magic == formerMagic:
		g.rows, g.columns = uint64(number(32)), e.formerColumns(read(int64(formerColumn*len(e.leaves)), formerTail))
	case magic == frameMagic && len(tail) == frameTail && number(32) == int64(len(e.leaves)):
		g.rows, g.columns = uint64(number(40)), e.madeColumns(read(number(24), frameTail))
	}
	if g.start = end - length; err != nil || g.columns == nil || length <= 0 || g.start < 0 {
		return g, cmp.Or(err, errFrames)
	}
	return g, nil
}

// madeColumns reads the columns of a trailer, nil if they are not there.
func (e *enclosure) madeColumns(b []byte) []madeColumn {
	columns := make([]madeColumn, len(e.leaves))
	for i := range columns {
		var ok bool
		if b, ok = columns[i].parse(b); !ok {
			return nil
		}
	}
	if len(b) > 0 {
		return nil
	}
	return columns
}

// formerColumns reads the columns of a trailer of an earlier version: four numbers each.
func (e *enclosure) formerColumns(b []byte) []madeColumn {
	columns := make([]madeColumn, len(e.leaves))
	for i := range columns {
		n := func(k int) int64 {
			return int64(binary.LittleEndian.Uint64(b[min(formerColumn*i+8*k, len(b)-8):]))
		}
		columns[i] = madeColumn{start: n(0), stored: n(1), plain: n(2), entries: n(3), nulls: -1}
	}
	return columns
}

// footer writes FileMetaData.
func (e *enclosure) footer(groups []written) []byte {
	w := &thriftWriter{}
	w.begin()
	w.i32(1, e.version)
	w.raw(2, thriftList, e.schema)
	rows := int64(0)
	for _, g := range groups {
		rows += int64(g.rows)
	}
	w.i64(3, rows)
	w.field(4, thriftList)
	w.list(len(groups), thriftStruct)
	for i := range groups {
		e.group(w, &groups[i], i)
	}
	w.raw(5, thriftList, e.kv)
	w.field(6, thriftBinary)
	w.string("firstseen")
	w.raw(7, thriftList, e.orders)
	w.end()
	return w.data
}

func (e *enclosure) group(w *thriftWriter, g *written, number int) {
	w.begin()
	w.field(1, thriftList)
	w.list(len(e.leaves), thriftStruct)
	plain, stored := int64(0), int64(0)
	for i := range e.leaves {
		m := &g.columns[i]
		stored, plain = stored+m.stored, plain+m.plain
		e.chunk(w, i, g.start+m.start, m)
	}
	w.i64(2, plain)
	w.i64(3, int64(g.rows))
	w.i64(5, g.start+4)
	w.i64(6, stored)
	if number < 1<<15 {
		w.field(7, thriftI16)
		w.number(int64(number))
	}
	w.end()
}

// chunk writes the ColumnChunk of a column at a place.
func (e *enclosure) chunk(w *thriftWriter, i int, at int64, m *madeColumn) {
	l := &e.leaves[i]
	w.begin()
	w.i64(2, 0) // there is no copy of the metadata
	w.field(3, thriftStruct)
	w.begin()
	w.i32(1, int64(l.typ))
	w.field(2, thriftList)
	encodings := []int64{encPlain, encRLE}
	if m.dictionary > 0 {
		encodings = append(encodings, encDict)
	}
	w.list(len(encodings), thriftI32)
	for _, encoding := range encodings {
		w.number(encoding)
	}
	w.field(3, thriftList)
	w.list(len(l.path), thriftBinary)
	for _, name := range l.path {
		w.string(name)
	}
	w.i32(4, int64(e.codecs[i]))
	w.i64(5, m.entries)
	w.i64(6, m.plain)
	w.i64(7, m.stored)
	w.i64(9, at+m.dictionary)
	if m.dictionary > 0 {
		w.i64(11, at)
	}
	m.statistics(w)
	w.end()
	w.end()
}

// statistics writes the Statistics of a column.
func (m *madeColumn) statistics(w *thriftWriter) {
	if m.nulls < 0 {
		return
	}
	w.field(12, thriftStruct)
	w.begin()
	w.i64(3, m.nulls)
	if m.min != nil && m.max != nil {
		w.field(5, thriftBinary)
		w.string(string(m.max))
		w.field(6, thriftBinary)
		w.string(string(m.min))
	}
	w.end()
}
