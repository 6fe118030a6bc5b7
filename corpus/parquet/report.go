package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// reported is a line of a report (docs/manual.md, "The report"), with the fields that have
// columns.
type reported struct {
	ID         string          `json:"id"`
	Verdict    string          `json:"verdict"`
	Kept       bool            `json:"kept"`
	Of         *string         `json:"of"`
	Why        *string         `json:"why"`
	Exact      bool            `json:"exact"`
	SameID     bool            `json:"same_id"`
	Again      bool            `json:"again"`
	Score      float64         `json:"score"`
	Seen       float64         `json:"seen"`
	Contained  float64         `json:"contained"`
	Estimated  bool            `json:"estimated"`
	Shared     int32           `json:"shared"`
	Comparable int32           `json:"comparable"`
	Segments   int32           `json:"segments"`
	OfSegments int32           `json:"of_segments"`
	Also       []reportedOther `json:"also"`
	Sample     []string        `json:"sample"`
	File       string          `json:"file"`
	Line       corpus.Place    `json:"line"`
	Time       *string         `json:"time"`
}

type reportedOther struct {
	ID     string `json:"id"`
	Shared int32  `json:"shared"`
}

// reportNode is a node of the schema of reports, in the order of a depth-first walk.
type reportNode struct {
	name       string
	typ        int64 // -1: a group
	repetition int64
	children   int64
	text, list bool
}

var reportSchema = []reportNode{
	{name: "schema", typ: -1, repetition: -1, children: 22},
	{name: "id", typ: typeBytes, text: true},
	{name: "verdict", typ: typeBytes, text: true},
	{name: "kept", typ: typeBoolean},
	{name: "of", typ: typeBytes, repetition: optional, text: true},
	{name: "why", typ: typeBytes, repetition: optional, text: true},
	{name: "exact", typ: typeBoolean},
	{name: "same_id", typ: typeBoolean},
	{name: "again", typ: typeBoolean},
	{name: "score", typ: typeDouble},
	{name: "seen", typ: typeDouble},
	{name: "contained", typ: typeDouble},
	{name: "estimated", typ: typeBoolean},
	{name: "shared", typ: typeInt32},
	{name: "comparable", typ: typeInt32},
	{name: "segments", typ: typeInt32},
	{name: "of_segments", typ: typeInt32},
	{name: "also", typ: -1, repetition: optional, children: 1, list: true},
	{name: "list", typ: -1, repetition: repeated, children: 1},
	{name: "element", typ: -1, children: 2},
	{name: "id", typ: typeBytes, text: true},
	{name: "shared", typ: typeInt32},
	{name: "sample", typ: -1, repetition: optional, children: 1, list: true},
	{name: "list", typ: -1, repetition: repeated, children: 1},
	{name: "element", typ: typeBytes, text: true},
	{name: "file", typ: typeBytes, text: true},
	{name: "part", typ: typeInt64},
	{name: "line", typ: typeInt64},
	{name: "time", typ: typeBytes, repetition: optional, text: true},
}

// linesEnclosure makes a file of lines of JSON, each a row.
type linesEnclosure[T any] struct {
	enclosure
	appendRow func(*T, []byte) []byte // appends the entries of all columns, in the order of the schema
}

// Report encloses a report: its lines are rows, their fields columns. The place of a document is
// part and line. The part is 0 if its input has no parts.
func Report() (output.Enclosure, error) {
	e := &linesEnclosure[reported]{appendRow: (*reported).append}
	return e, e.setSchema(reportSchema)
}

// setSchema begins a file of the schema that nodes are.
func (e *enclosure) setSchema(nodes []reportNode) error {
	w := &thriftWriter{}
	w.list(len(nodes), thriftStruct)
	for i := range nodes {
		nodes[i].write(w)
	}
	m := &meta{schemaRaw: w.data}
	if err := m.readSchema(); err != nil {
		return fmt.Errorf("the schema of %s: %w", nodes[1].name, err)
	}
	e.schema, e.orders, e.version, e.leaves = w.data, ordersOf(nil, len(m.leaves)), 1, m.leaves
	e.print = binary.LittleEndian.AppendUint64(nil, xxh3.Hash(w.data))
	for i := range m.leaves {
		e.order, e.codecs = append(e.order, i), append(e.codecs, codecZstd)
	}
	return nil
}

func (n *reportNode) write(w *thriftWriter) {
	w.begin()
	if n.typ >= 0 {
		w.i32(1, n.typ)
	}
	if n.repetition >= 0 {
		w.i32(3, n.repetition)
	}
	w.field(4, thriftBinary)
	w.string(n.name)
	if n.children > 0 {
		w.i32(5, n.children)
	}
	const utf8Converted, listConverted, stringLogical, listLogical = 0, 3, 1, 3
	switch {
	case n.text:
		w.logical(utf8Converted, stringLogical)
	case n.list:
		w.logical(listConverted, listLogical)
	}
	w.end()
}

// logical writes the meaning of a node: its converted type, and a union with one field set.
func (w *thriftWriter) logical(converted int64, field int) {
	w.i32(6, converted)
	w.field(10, thriftStruct)
	w.begin()
	w.field(field, thriftStruct)
	w.data = append(w.data, 0)
	w.end()
}

// Frame makes a row group of lines.
func (e *linesEnclosure[T]) Frame(dst, lines []byte) ([]byte, error) {
	var rows []byte
	for line := range bytes.Lines(lines) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			return dst, fmt.Errorf("a line for a row: %w", err)
		}
		at := len(rows)
		rows = append(rows, 0, 0, 0, 0)
		rows = e.appendRow(&row, append(rows, e.print...))
		binary.LittleEndian.PutUint32(rows[at:], uint32(len(rows)-at-4))
	}
	return e.enclosure.Frame(dst, rows)
}

// append appends the entries of all columns, in the order of the schema.
func (r *reported) append(dst []byte) []byte {
	dst = appendText(appendText(dst, r.ID), r.Verdict)
	dst = appendBool(dst, r.Kept)
	dst = appendOptional(appendOptional(dst, r.Of), r.Why)
	dst = appendBool(appendBool(appendBool(dst, r.Exact), r.SameID), r.Again)
	for _, v := range []float64{r.Score, r.Seen, r.Contained} {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	dst = appendBool(dst, r.Estimated)
	for _, v := range []int32{r.Shared, r.Comparable, r.Segments, r.OfSegments} {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	dst = appendList(dst, r.Also, func(dst []byte, o reportedOther) []byte { return appendText(dst, o.ID) })
	dst = appendList(dst, r.Also, func(dst []byte, o reportedOther) []byte {
		return binary.LittleEndian.AppendUint32(dst, uint32(o.Shared))
	})
	dst = appendList(dst, r.Sample, appendText)
	dst = appendText(dst, r.File)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Line.Part))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Line.Record))
	return appendOptional(dst, r.Time)
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendOptional(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, 0)
	}
	return appendText(append(dst, 1), *s)
}

// appendList appends the entries of a list. A missing list is a null. An empty list has a place of
// its own, at the definition level between the two.
func appendList[T any](dst []byte, list []T, value func([]byte, T) []byte) []byte {
	if list == nil {
		return append(dst, 0, 0)
	}
	if len(list) == 0 {
		return append(dst, 1, 0)
	}
	for i, v := range list {
		if i > 0 {
			dst = append(dst, 1) // the repetition level
		}
		dst = value(append(dst, 2), v)
	}
	return append(dst, 0)
}

// integersEnclosure makes a file of rows of whole numbers.
type integersEnclosure struct{ enclosure }

// Integers encloses records of 64-bit numbers, eight bytes little-endian for each of the named
// columns: each record is a row. Numbers from 1<<63 on are negative in Parquet.
func Integers(names ...string) (output.Enclosure, error) {
	nodes := []reportNode{{name: "schema", typ: -1, repetition: -1, children: int64(len(names))}}
	for _, name := range names {
		nodes = append(nodes, reportNode{name: name, typ: typeInt64})
	}
	e := new(integersEnclosure)
	return e, e.setSchema(nodes)
}

// Frame makes a row group of records.
func (e *integersEnclosure) Frame(dst, records []byte) ([]byte, error) {
	size := 8 * len(e.leaves)
	var rows []byte
	for ; len(records) >= size; records = records[size:] {
		rows = binary.LittleEndian.AppendUint32(rows, uint32(len(e.print)+size))
		rows = append(append(rows, e.print...), records[:size]...)
	}
	return e.enclosure.Frame(dst, rows)
}

// featured is a line of the features of a document (docs/format.md, "Shards of features").
type featured struct {
	Place int64        `json:"v"`
	ID    string       `json:"id"`
	File  string       `json:"file"`
	Line  corpus.Place `json:"line"`
	Time  *string      `json:"time"`
	Keys  []int64      `json:"k"`
}

var featuredSchema = []reportNode{
	{name: "schema", typ: -1, repetition: -1, children: 7},
	{name: "v", typ: typeInt64},
	{name: "id", typ: typeBytes, text: true},
	{name: "file", typ: typeBytes, text: true},
	{name: "part", typ: typeInt64},
	{name: "line", typ: typeInt64},
	{name: "time", typ: typeBytes, repetition: optional, text: true},
	{name: "k", typ: -1, repetition: optional, children: 1, list: true},
	{name: "list", typ: -1, repetition: repeated, children: 1},
	{name: "element", typ: typeInt64},
}

// Features encloses the features of documents: their lines are rows, their fields columns.
func Features() (output.Enclosure, error) {
	e := &linesEnclosure[featured]{appendRow: (*featured).append}
	return e, e.setSchema(featuredSchema)
}

func (f *featured) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Place))
	dst = appendText(appendText(dst, f.ID), f.File)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Line.Part))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Line.Record))
	return appendList(appendOptional(dst, f.Time), f.Keys, func(dst []byte, key int64) []byte {
		return binary.LittleEndian.AppendUint64(dst, uint64(key))
	})
}
