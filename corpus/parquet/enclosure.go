package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
)

// enclosure encodes rows of files with the same schema. The result has that schema, and the
// metadata of the first file, byte for byte.
type enclosure struct {
	print  []byte // of the schema, precedes each row
	meta          // except rows and row groups; its leaves are in schema order
	order  []int  // of columns in a row
	codecs []int32
	cut    func(records []byte) (row, rest []byte, err error) // removes the first row
}

// Enclose returns an enclosure for rows of the inputs, after reading their footers. The schema of
// an input counts unless none of its rows is written.
func (f Format) Enclose(inputs []input.Input, annotate bool) (output.Enclosure, error) {
	if !f.Rows {
		return nil, errors.New("the Parquet rows are not read in full, so they cannot be written")
	}
	var e *enclosure
	first := "" // input whose rows are written
	for _, in := range inputs {
		m, err := metaOf(in)
		writes := err == nil && f.writes(m, annotate)
		switch {
		case err != nil:
		case e == nil, writes && first == "":
			e, err = f.enclosure(m, annotate)
		case writes && !bytes.Equal(e.print, m.print()):
			return nil, fmt.Errorf("%s and %s have different schemas, and cannot be written to one file: use --out-dir, or give each a run of its own with the same --index", in.Name, first)
		}
		if writes {
			first = cmp.Or(first, in.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", in.Name, err)
		}
	}
	return e, nil
}

// writes reports whether rows of a file may be written. Rows without a text are only answered.
func (f Format) writes(m *meta, annotate bool) bool {
	order, _, err := f.order(m)
	return err != nil || len(order) > 0 && (annotate || !m.leaves[order[0]].isNull())
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
	e.cut = e.cutRow
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
		if chunks != nil && chunks[i].Codec != codecLZO {
			codec = chunks[i].Codec
		}
		if codec == codecLZ4 {
			codec = codecLZ4Raw
		}
		e.codecs = append(e.codecs, codec)
	}
	if annotate {
		err = e.addVerdicts()
	}
	return e, err
}

// End returns the footer of a file of frames.
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
	var groups []rowGroup
	for end := size; end > 0; end = groups[len(groups)-1].Start - 4 {
		g, _, err := e.frame(file, end)
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	slices.Reverse(groups)
	footer := e.fileMeta
	footer.Rows, footer.Groups, footer.CreatedBy = 0, nil, "firstseen"
	for i, g := range groups {
		if ordinal := int16(i); int(ordinal) == i {
			g.Ordinal = &ordinal
		}
		footer.Rows += g.Rows
		footer.Groups = append(footer.Groups, appendThrift(nil, g))
	}
	var end []byte
	if size == 0 {
		end = append(end, fileMagic...)
	}
	from := len(end)
	end = appendThrift(end, footer)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(end)-from))
	return append(end, fileMagic...), nil
}

var errFrames = errors.New("the file differs from the one that was written")

// frame reads the trailer of the frame that ends at end.
func (e *enclosure) frame(file io.ReaderAt, end int64) (g rowGroup, columns []columnMeta, err error) {
	tail := make([]byte, frameTail)
	if _, err := file.ReadAt(tail, max(end-frameTail, 0)); err != nil {
		return g, nil, err
	}
	number := func(at int) int64 { return int64(binary.LittleEndian.Uint64(tail[at:])) }
	rows, count, size, start := number(0), number(8), number(16), end-number(24)
	from := end - frameTail - size
	if string(tail[32:]) != frameMagic || count != int64(len(e.leaves)) || start < 0 || size < 0 || from < start {
		return g, nil, errFrames
	}
	r := &byteReader{data: make([]byte, size)}
	if _, err := file.ReadAt(r.data, from); err != nil {
		return g, nil, err
	}
	g = rowGroup{Rows: rows, Start: start + 4}
	for i := range e.leaves {
		c := columnMeta{Type: e.leaves[i].typ, Path: e.leaves[i].path, Codec: e.codecs[i], Encodings: []int32{encPlain, encRLE}}
		c.readTrailer(r, start)
		g.Plain, g.Stored = g.Plain+c.Plain, g.Stored+c.Stored
		g.Chunks = append(g.Chunks, appendThrift(nil, columnChunk{Meta: c}))
		columns = append(columns, c)
	}
	if r.err != nil || r.at < len(r.data) {
		err = errFrames
	}
	return g, columns, err
}

// readTrailer reads the part of a trailer about a column, in a frame that begins at start.
func (c *columnMeta) readTrailer(r *byteReader, start int64) {
	c.Statistics = &bounds{}
	at, dictionary := int64(0), int64(0)
	for _, to := range []*int64{&at, &dictionary, &c.Stored, &c.Plain, &c.Values, &c.Statistics.Nulls} {
		if *to = int64(r.uvarint()); *to < 0 {
			r.fail(errFrames)
		}
	}
	for _, to := range []**string{&c.Statistics.Min, &c.Statistics.Max} {
		if n := r.uvarint(); n > 0 {
			bound := string(r.take(n - 1))
			*to = &bound
		}
	}
	if c.Data = start + at + dictionary; dictionary > 0 {
		c.Dictionary, c.Encodings = start+at, append(c.Encodings, encDict)
	}
}

// pageBytes is the maximum number of bytes of values in a page, unless a single row has more.
const pageBytes = 1 << 20

// frameRow returns the parts of a row in a frame: its length, the row, and the added columns.
func frameRow(raw, added []byte) [][]byte {
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(raw)+len(added)))
	return [][]byte{length[:], raw, added}
}

// A frame of an output is a row group: the four bytes that begin a file, the pages of its columns,
// and a trailer. [enclosure.End] builds the footer from the trailers. Readers of Parquet skip a
// trailer, since nothing refers to it. See docs/format.md, "Parquet".
const (
	frameMagic = "fsRowGr2"
	frameTail  = 40 // bytes at the end of the trailer
)

// columns returns the writers of a row group.
func (e *enclosure) columns() []columnWriter {
	columns, room := make([]columnWriter, len(e.leaves)), maxDistinct
	for i := range columns {
		columns[i] = columnWriter{leaf: &e.leaves[i], codec: e.codecs[i], dictionary: dictionaryWriter{room: &room}}
		if e.Orders != nil { // without orders, readers may assume any
			columns[i].order = e.leaves[i].order()
		}
	}
	return columns
}

// Frame encodes rows as a row group.
func (e *enclosure) Frame(dst, records []byte) (_ []byte, err error) {
	columns := e.columns()
	rows := uint64(0)
	for ; len(records) > 0; rows++ {
		var row []byte
		if row, records, err = e.cut(records); err == nil {
			err = e.addRow(columns, row)
		}
		if err != nil {
			return dst, err
		}
	}
	return e.appendFrame(dst, columns, rows)
}

// cutRow removes a row made by [frameRow].
func (e *enclosure) cutRow(records []byte) (row, rest []byte, err error) {
	row, rest, ok := cutLength(records)
	if !ok || len(row) == 0 {
		return nil, nil, errRow
	}
	if row, ok = bytes.CutPrefix(row, e.print); !ok {
		return nil, nil, errors.New("a row has another schema than the first row: write each input to a file of its own, with --out-dir")
	}
	return row, rest, nil
}

func (e *enclosure) addRow(columns []columnWriter, row []byte) error {
	r := &byteReader{data: row}
	for _, i := range e.order {
		c := &columns[i]
		if len(c.values) >= pageBytes || c.count >= pageBytes {
			if err := c.flush(); err != nil {
				return err
			}
		}
		c.leaf.each(r, c.add)
	}
	if r.err != nil || r.at < len(r.data) {
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
		at, dictionary := len(dst), 0
		if err == nil && c.dictionary.used {
			dst, err = c.appendPage(dst, c.dictionary.plain, pageDict, len(c.dictionary.index), encPlain)
			dictionary = len(dst) - at
		}
		if err != nil {
			return dst, fmt.Errorf("column %s: %w", c.leaf.name(), err)
		}
		dst = append(dst, c.pages...)
		for _, n := range []int64{int64(at - start), int64(dictionary), int64(len(dst) - at), c.plain, c.entries, c.statistics.nulls} {
			made = binary.AppendUvarint(made, uint64(n))
		}
		made = c.statistics.appendBounds(made)
	}
	dst = append(dst, made...)
	for _, n := range []int{int(rows), len(columns), len(made), len(dst) - start + frameTail} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	return append(dst, frameMagic...), nil
}
