package parquet

import (
	"bytes"
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
	columns []byte // of each frameColumn bytes
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
	errFrames := errors.New("the file is not as it was written")
	for end := size; end > 0; {
		tail := make([]byte, frameTrailer+frameColumn*len(e.leaves))
		if end < int64(len(tail)) {
			return nil, errFrames
		}
		if _, err := file.ReadAt(tail, end-int64(len(tail))); err != nil {
			return nil, err
		}
		columns, last := tail[:frameColumn*len(e.leaves)], tail[frameColumn*len(e.leaves):]
		length := binary.LittleEndian.Uint64(last[16:])
		if string(last[24:]) != frameMagic || binary.LittleEndian.Uint64(last[8:]) != uint64(len(e.leaves)) || length > uint64(end) || length < uint64(len(tail)) {
			return nil, errFrames
		}
		end -= int64(length)
		groups = append(groups, written{start: end, rows: binary.LittleEndian.Uint64(last), columns: columns})
	}
	slices.Reverse(groups)
	return groups, nil
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
		n := func(k int) int64 { return int64(binary.LittleEndian.Uint64(g.columns[frameColumn*i+8*k:])) }
		stored, plain = stored+n(1), plain+n(2)
		e.chunk(w, i, g.start+n(0), n(1), n(2), n(3))
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

// chunk writes a ColumnChunk.
func (e *enclosure) chunk(w *thriftWriter, i int, at, stored, plain, entries int64) {
	l := &e.leaves[i]
	w.begin()
	w.i64(2, 0) // there is no copy of the metadata
	w.field(3, thriftStruct)
	w.begin()
	w.i32(1, int64(l.typ))
	w.field(2, thriftList)
	w.list(2, thriftI32)
	w.number(encPlain)
	w.number(encRLE)
	w.field(3, thriftList)
	w.list(len(l.path), thriftBinary)
	for _, name := range l.path {
		w.string(name)
	}
	w.i32(4, int64(e.codecs[i]))
	w.i64(5, entries)
	w.i64(6, plain)
	w.i64(7, stored)
	w.i64(9, at)
	w.end()
	w.end()
}
