package parquet

import (
	"cmp"
	"encoding/binary"
	"strings"
)

// Bomb is a small file that claims large contents.
type Bomb struct {
	Repetition int32  // of the columns
	List       bool   // whether a second column, the list "list", holds the page
	Parts      []int  // sizes of the names above the column in its path
	Columns    int    // number of adjacent columns called "text"
	Codec      int32  //
	Dict       []byte // plain values of a dictionary
	Page       []byte // decompressed
	Size       int    // claimed by the page header; 0 for the true size
	Encoding   int32
	Entries    int // of the page
	Groups     int // row groups, all with the same pages
	Rows       int64
	Values     int64
	Old        bool // as parquet-mr 1.2.8 wrote it: the header of the dictionary is not counted
}

// Bytes returns the file.
func (b *Bomb) Bytes() []byte {
	file := []byte(fileMagic)
	page := func(typ int32, plain int, body []byte, entries int, encoding int32) {
		h := pageHeader{Type: typ, Size: int32(plain), Stored: int32(len(body))}
		if typ == pageDict {
			h.Dict = &dictPage{int32(entries), encoding}
		} else {
			h.Data = &dataPage{int32(entries), encoding, encRLE, encRLE}
		}
		file = append(appendThrift(file, h), body...)
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
	end := len(file)
	if b.Old {
		end -= at - dict - len(squeeze(b.Dict))
		at, dict = dict, 0
	}
	footer := b.footer(int64(at), int64(dict), int64(end))
	file = append(file, footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), fileMagic...)
}

func (b *Bomb) footer(at, dict, end int64) []byte {
	m := fileMeta{Version: 1}
	if b.Old {
		m.CreatedBy = "parquet-mr"
	}
	node := func(name string, typ *int32, children int, repetition int32) {
		m.Schema = append(m.Schema, appendThrift(nil, schemaElement{Name: name, Type: typ, Repetition: &repetition, Children: int32(children)}))
	}
	columns := max(b.Columns, 1)
	if b.List {
		columns = 2
	}
	for i, n := range append([]int{1}, b.Parts...) {
		children := 1
		if i == len(b.Parts) {
			children = columns
		}
		node(strings.Repeat("n", n), nil, children, b.Repetition)
	}
	typ := int32(typeBytes)
	g := rowGroup{Plain: 1 << 20, Rows: b.Rows}
	for i := range columns {
		c := columnMeta{
			Type: typ, Encodings: []int32{b.Encoding, encRLE}, Path: []string{"text"}, Codec: b.Codec,
			Values: b.Values, Plain: 1 << 20, Stored: end - cmp.Or(dict, at), Data: at, Dictionary: dict,
		}
		switch {
		case b.List && i == 0:
			c.Data, c.Stored, c.Values, c.Dictionary = 4, end-4, 1, 0
			node("text", &typ, 0, b.Repetition)
		case b.List:
			c.Path, c.Dictionary = []string{"list"}, 0
			node("list", &typ, 0, repeated)
		default:
			node("text", &typ, 0, b.Repetition)
		}
		g.Chunks = append(g.Chunks, appendThrift(nil, columnChunk{Meta: c}))
	}
	groups := max(b.Groups, 1)
	m.Rows = b.Rows * int64(groups)
	for range groups {
		m.Groups = append(m.Groups, appendThrift(nil, g))
	}
	return appendThrift(nil, m)
}

// Codecs and encodings of bombs.
const (
	Snappy, Gzip, Brotli, LZ4, Zstd = codecSnappy, codecGzip, codecBrotli, codecLZ4Raw, codecZstd
	DeltaLength, DeltaBytes, Dict   = encDeltaLength, encDeltaBytes, encDict
	Optional                        = optional
)
