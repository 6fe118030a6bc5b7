package parquet

import (
	"cmp"
	"encoding/binary"
	"strings"
)

// Bomb is a small file that claims much.
type Bomb struct {
	Repetition int32  // of the columns
	List       bool   // there is a second column, the list "list", and the page is of that
	Parts      []int  // of the column's path above it, bytes of names
	Columns    int    // columns called "text", behind one another
	Codec      int32  //
	Dict       []byte // plain values of a dictionary
	Page       []byte // decompressed
	Size       int    // that the header of the page claims, 0: what it has
	Encoding   int32
	Entries    int // of the page
	Groups     int // row groups, all of the same pages
	Rows       int64
	Values     int64
}

// Bytes are those of the file.
func (b *Bomb) Bytes() []byte {
	file := []byte(fileMagic)
	page := func(typ, plain int, body []byte, entries int, encoding int32) {
		w := &thriftWriter{}
		w.begin()
		w.i32(1, int64(typ))
		w.i32(2, int64(plain))
		w.i32(3, int64(len(body)))
		w.field(map[int]int{pageData: 5, pageDict: 7}[typ], thriftStruct)
		w.begin()
		w.i32(1, int64(entries))
		w.i32(2, int64(encoding))
		w.i32(3, encRLE)
		w.i32(4, encRLE)
		w.end()
		w.end()
		file = append(append(file, w.data...), body...)
	}
	squeeze := func(data []byte) []byte {
		out, err := compress(b.Codec, nil, data)
		if err != nil {
			panic(err)
		}
		return out
	}
	if b.List {
		page(pageData, 4, squeeze(make([]byte, 4)), 1, encPlain)
	}
	at, dict := len(file), 0
	if b.Dict != nil {
		dict = at
		page(pageDict, len(b.Dict), squeeze(b.Dict), 1, encPlain)
		at = len(file)
	}
	page(pageData, cmp.Or(b.Size, len(b.Page)), squeeze(b.Page), b.Entries, b.Encoding)
	footer := b.footer(int64(at), int64(dict), int64(len(file)))
	file = append(file, footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), fileMagic...)
}

func (b *Bomb) footer(at, dict, end int64) []byte {
	w := &thriftWriter{}
	w.begin()
	w.i32(1, 1)
	w.field(2, thriftList)
	node := func(name string, typ, children int64, repetition int32) {
		w.begin()
		if typ >= 0 {
			w.i32(1, typ)
		}
		w.i32(3, int64(repetition))
		w.field(4, thriftBinary)
		w.string(name)
		if children > 0 {
			w.i32(5, children)
		}
		w.end()
	}
	columns := max(b.Columns, 1)
	if b.List {
		columns = 2
	}
	w.list(1+len(b.Parts)+columns, thriftStruct)
	for i, n := range append([]int{1}, b.Parts...) {
		children := 1
		if i == len(b.Parts) {
			children = columns
		}
		node(strings.Repeat("n", n), -1, int64(children), b.Repetition)
	}
	for i := range columns {
		if b.List && i == 1 {
			node("list", typeBytes, 0, repeated)
			continue
		}
		node("text", typeBytes, 0, b.Repetition)
	}
	groups := max(b.Groups, 1)
	w.i64(3, b.Rows*int64(groups))
	w.field(4, thriftList)
	w.list(groups, thriftStruct)
	for range groups {
		w.begin()
		w.field(1, thriftList)
		w.list(columns, thriftStruct)
		for i := range columns {
			at, values := at, b.Values
			if b.List && i == 0 {
				at, values = 4, 1
			}
			w.begin()
			w.i64(2, 0) // there is no copy of the metadata
			w.field(3, thriftStruct)
			w.begin()
			w.i32(1, typeBytes)
			w.field(2, thriftList)
			w.list(2, thriftI32)
			w.number(int64(b.Encoding))
			w.number(encRLE)
			w.field(3, thriftList)
			w.list(1, thriftBinary)
			if b.List && i == 1 {
				w.string("list")
			} else {
				w.string("text")
			}
			w.i32(4, int64(b.Codec))
			w.i64(5, values)
			w.i64(6, 1<<20)
			w.i64(7, end-cmp.Or(dict, at))
			w.i64(9, at)
			if dict > 0 && !b.List {
				w.i64(11, dict)
			}
			w.end()
			w.end()
		}
		w.i64(2, 1<<20)
		w.i64(3, b.Rows)
		w.end()
	}
	w.end()
	return w.data
}

// Codecs and encodings of bombs.
const (
	Snappy, Gzip, Brotli, LZ4, Zstd = codecSnappy, codecGzip, codecBrotli, codecLZ4Raw, codecZstd
	DeltaLength, DeltaBytes, Dict   = encDeltaLength, encDeltaBytes, encDict
	Optional                        = optional
)
