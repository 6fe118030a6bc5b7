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
	print   []byte // of the schema, with which a row begins
	meta           // but for rows and row groups; its leaves are in the order of the schema
	order   []int  // of columns in a row
	codecs  []int32
	writers sync.Pool // *[]columnWriter, for their memory
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
	e = &enclosure{print: m.print(), meta: *m}
	e.Version = max(m.Version, 1)
	if e.order, _, err = f.order(m); err != nil {
		return nil, err
	}
	var chunks []columnMeta
	if len(m.Groups) > 0 {
		if _, chunks, err = m.group(0); err != nil {
			return nil, err
		}
	}
	for i := range m.leaves {
		codec := int32(codecZstd)
		if chunks != nil {
			codec = writing(chunks[i].Codec)
		}
		e.codecs = append(e.codecs, codec)
	}
	if annotate {
		err = e.addVerdicts()
	}
	return e, err
}

// addColumns adds columns, given by their nodes, behind all others; children of the root are so many
// more.
func (e *enclosure) addColumns(nodes []schemaElement, children int, codec int32) error {
	var root schemaElement
	t := &thriftReader{data: e.Schema[0]}
	if err := t.read(&root); err != nil {
		return err
	}
	root.Children += int32(children)
	schema := append([]raw{appendThrift(nil, root)}, e.Schema[1:]...)
	for i := range nodes {
		schema = append(schema, appendThrift(nil, nodes[i]))
	}
	e.Schema, e.leaves = schema, nil
	if err := e.readSchema(); err != nil {
		return err
	}
	for i := len(e.order); i < len(e.leaves); i++ {
		e.order, e.codecs = append(e.order, i), append(e.codecs, codec)
		if e.Orders != nil {
			e.Orders = append(slices.Clip(e.Orders), appendThrift(nil, columnOrder{Type: &struct{}{}}))
		}
	}
	return nil
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
	var groups []written
	for end := size; end > 0; end = groups[len(groups)-1].start {
		g, err := e.frame(file, end)
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	slices.Reverse(groups)
	footer := e.footer(groups)
	end := footer
	if size == 0 {
		end = append([]byte(fileMagic), footer...)
	}
	end = binary.LittleEndian.AppendUint32(end, uint32(len(footer)))
	return append(end, fileMagic...), nil
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
		columns[i] = madeColumn{start: n(0), stored: n(1), plain: n(2), entries: n(3)}
	}
	return columns
}

// footer makes the footer of a file of row groups.
func (e *enclosure) footer(groups []written) []byte {
	footer := e.fileMeta
	footer.Rows, footer.Groups, footer.CreatedBy = 0, nil, "firstseen"
	for i := range groups {
		footer.Rows += int64(groups[i].rows)
		footer.Groups = append(footer.Groups, e.describe(&groups[i], i))
	}
	return appendThrift(nil, footer)
}

// describe makes the RowGroup with this number.
func (e *enclosure) describe(g *written, number int) raw {
	row := rowGroup{Rows: int64(g.rows), Start: g.start + 4}
	if ordinal := int16(number); int(ordinal) == number {
		row.Ordinal = &ordinal
	}
	for i := range g.columns {
		m, l := &g.columns[i], &e.leaves[i]
		row.Plain, row.Stored = row.Plain+m.plain, row.Stored+m.stored
		c := columnMeta{
			Type: l.typ, Encodings: []int32{encPlain, encRLE}, Path: l.path, Codec: e.codecs[i], Statistics: m.bounds,
			Values: m.entries, Plain: m.plain, Stored: m.stored, Data: g.start + m.start + m.dictionary,
		}
		if m.dictionary > 0 {
			c.Encodings, c.Dictionary = append(c.Encodings, encDict), g.start+m.start
		}
		row.Chunks = append(row.Chunks, appendThrift(nil, columnChunk{Meta: c}))
	}
	return appendThrift(nil, row)
}
