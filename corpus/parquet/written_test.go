package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHybridIsRead checks that runs and packed groups of numbers are read back.
func TestHybridIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.UintRange(0, 18).Draw(t, "width")
		var numbers []uint32
		for range rapid.IntRange(0, 12).Draw(t, "stretches") {
			v := rapid.Uint32Range(0, 1<<width-1).Draw(t, "number")
			for range rapid.IntRange(1, 20).Draw(t, "times") {
				numbers = append(numbers, v)
			}
		}
		data := appendHybrid(nil, numbers, width)
		h := hybrid{data: data, width: width}
		for i, want := range numbers {
			if got, err := h.next(); err != nil || got != want {
				t.Fatalf("%v in %d bits: number %d is %d, %v", numbers, width, i, got, err)
			}
		}
	})
}

// enclosureOf returns an enclosure of rows with one column.
func enclosureOf(l leaf) *enclosure {
	optional := int32(optional)
	l.Name, l.path, l.Type, l.Repetition = "c", []string{"c"}, &l.typ, &optional
	e := &enclosure{print: []byte("schema 1"), meta: meta{leaves: []leaf{l}}, order: []int{0}, codecs: []int32{0}}
	e.cut = e.cutRow
	e.Version, e.Orders = 1, []raw{appendThrift(nil, columnOrder{Type: &struct{}{}})}
	e.Schema = []raw{appendThrift(nil, schemaElement{Name: "schema", Children: 1}), appendThrift(nil, l.schemaElement)}
	return e
}

// rowsOf encodes rows of an optional column, with nil as null.
func rowsOf(e *enclosure, values [][]byte) (rows []byte) {
	for _, v := range values {
		row := slices.Clone(e.print)
		if v == nil {
			row = append(row, 0)
		} else if row = append(row, 1); e.leaves[0].width() == 0 {
			row = append(binary.AppendUvarint(row, uint64(len(v))), v...)
		} else {
			row = append(row, v...)
		}
		rows = append(append(binary.LittleEndian.AppendUint32(rows, uint32(len(row))), row...), nil...)
	}
	return rows
}

// file returns a file of the given frames.
func file(t interface{ Fatal(...any) }, e *enclosure, frames ...[]byte) []byte {
	data := bytes.Join(frames, nil)
	footer, err := e.End(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return append(data, footer...)
}

func readColumn(t interface{ Fatal(...any) }, data []byte) (values [][]byte) {
	m, err := readMeta(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	p := &pages{file: bytes.NewReader(data), spend: func(int64) error { return nil }}
	c := &column{leaf: &m.leaves[0], pages: p}
	for g := range m.Groups {
		_, chunks, err := m.group(g)
		if err == nil {
			err = c.open(chunks[0])
		}
		for ; err == nil && c.more; err = c.advance() {
			v := []byte(nil)
			if c.def == c.leaf.maxDef {
				v = append([]byte{}, c.value...)
			}
			values = append(values, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return values
}

func converted(n int32) schemaElement { return schemaElement{Converted: &n} }

var optionalLeaves = []leaf{
	{typ: typeInt32, maxDef: 1},
	{typ: typeInt64, schemaElement: converted(convertedUint64), maxDef: 1},
	{typ: typeDouble, maxDef: 1},
	{typ: typeBytes, schemaElement: converted(convertedUTF8), maxDef: 1},
	{typ: typeBytes, schemaElement: converted(convertedDecimal), maxDef: 1},
	{typ: typeFixed, schemaElement: schemaElement{Length: 3}, maxDef: 1},
	{typ: typeInt96, maxDef: 1},
}

const convertedDecimal = 5

// TestColumnsAreRead checks that row groups are read back, with and without dictionaries, and that
// statistics cover all values.
func TestColumnsAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := enclosureOf(rapid.SampledFrom(optionalLeaves).Draw(t, "column"))
		l := &e.leaves[0]
		distinct := rapid.IntRange(1, 3000).Draw(t, "distinct")
		var frames [][]byte
		var all [][]byte
		for range rapid.IntRange(1, 3).Draw(t, "groups") {
			var values [][]byte
			for i := range rapid.IntRange(1, 3000).Draw(t, "rows") {
				k := (i*i + i/7) % distinct
				v := binary.LittleEndian.AppendUint64(nil, uint64(k)*0x9E3779B97F4A7C15)
				v = append(v, v...)[:16]
				switch {
				case k%11 == 3:
					v = nil
				case l.width() > 0:
					v = v[:l.width()]
				default:
					v = fmt.Appendf(nil, "%0*d", 1+k%5, k)
				}
				values = append(values, v)
			}
			frame, err := e.Frame(nil, rowsOf(e, values))
			if err != nil {
				t.Fatal(err)
			}
			frames, all = append(frames, frame), append(all, values...)
			checkStatistics(t, e, frame, values)
		}
		got := readColumn(t, file(t, e, frames...))
		if !slices.EqualFunc(got, all, bytes.Equal) {
			t.Fatalf("%d values come back as %d others", len(all), len(got))
		}
	})
}

// checkStatistics compares the statistics of a frame with its values.
func checkStatistics(t *rapid.T, e *enclosure, frame []byte, values [][]byte) {
	_, columns, err := e.frame(bytes.NewReader(frame), int64(len(frame)))
	if err != nil {
		t.Fatal(err)
	}
	m, l := columns[0].Statistics, &e.leaves[0]
	nulls, number := int64(0), func(v []byte) any {
		switch {
		case l.typ == typeInt32:
			return int64(int32(binary.LittleEndian.Uint32(v)))
		case l.typ == typeInt64:
			return binary.LittleEndian.Uint64(v)
		case l.typ == typeDouble:
			return math.Float64frombits(binary.LittleEndian.Uint64(v))
		}
		return string(v)
	}
	less := func(a, b any) bool {
		switch a := a.(type) {
		case int64:
			return a < b.(int64)
		case uint64:
			return a < b.(uint64)
		case float64:
			return a < b.(float64)
		}
		return a.(string) < b.(string)
	}
	var least, greatest any
	ordered := (l.Converted == nil || *l.Converted != convertedDecimal) && l.typ != typeInt96
	for _, v := range values {
		if v == nil {
			nulls++
			continue
		}
		n := number(v)
		if f, is := n.(float64); is && math.IsNaN(f) {
			ordered = false
		}
		if least == nil || less(n, least) {
			least = n
		}
		if greatest == nil || less(greatest, n) {
			greatest = n
		}
	}
	if m.Nulls != nulls || (m.Min != nil) != (ordered && least != nil) {
		t.Fatalf("%d nulls, bounds %v; want %d, %v", m.Nulls, m.Min != nil, nulls, ordered && least != nil)
	}
	if m.Min != nil && (number([]byte(*m.Min)) != least || number([]byte(*m.Max)) != greatest) {
		t.Fatalf("from %v to %v, want %v to %v", number([]byte(*m.Min)), number([]byte(*m.Max)), least, greatest)
	}
}

// TestRepeatedValuesTakeLittle checks that only a column of few distinct values gets a dictionary.
func TestRepeatedValuesTakeLittle(t *testing.T) {
	e := enclosureOf(optionalLeaves[3])
	few, many, later := make([][]byte, 20_000), make([][]byte, 20_000), make([][]byte, 10_000)
	for i := range few {
		few[i], many[i] = fmt.Appendf(nil, "https://example.org/site/%d", i/5000), fmt.Appendf(nil, "https://example.org/page/%d", i)
	}
	for i := range later { // repeats at first; later, a dictionary would cost more than it saves
		later[i] = fmt.Appendf(nil, "page %015d", i)
		if i < sampled {
			later[i] = fmt.Appendf(nil, "page %015d", i/2)
		}
	}
	for _, c := range []struct {
		values [][]byte
		most   int
		dict   bool
	}{{few, 400, true}, {many, 700_000, false}, {later, 250_000, false}} {
		frame, err := e.Frame(nil, rowsOf(e, c.values))
		if err != nil {
			t.Fatal(err)
		}
		_, columns, err := e.frame(bytes.NewReader(frame), int64(len(frame)))
		if err != nil || len(frame) > c.most || (columns[0].Dictionary > 0) != c.dict {
			t.Errorf("%.30q: %d bytes, a dictionary at %d, %v", c.values[0], len(frame), columns[0].Dictionary, err)
		}
		whole := file(t, e, frame)
		m, err := readMeta(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		_, chunks, err := m.group(0)
		if err != nil || chunks[0].start() != 4 || (chunks[0].Data > 4) != c.dict {
			t.Errorf("%.30q: its data begin at %d, %v", c.values[0], chunks[0].Data, err)
		}
	}
	// A column without repeats must not keep a dictionary from the next row group.
	frame, err := e.Frame(nil, rowsOf(e, few))
	if err != nil || len(frame) > 400 {
		t.Errorf("after a column without repetitions: %d bytes, %v", len(frame), err)
	}
}

func TestDamagedTrailers(t *testing.T) {
	e := enclosureOf(optionalLeaves[3])
	frame, err := e.Frame(nil, rowsOf(e, [][]byte{[]byte("a"), nil, []byte("b")}))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(frame) {
		whole := n == 0 || n == len(fileMagic) // a file that ends with the magic bytes has its footer
		if _, err := e.End(bytes.NewReader(frame[:n]), int64(n)); err == nil && !whole {
			t.Errorf("cut at %d of %d: no error", n, len(frame))
		}
	}
	for at := len(frame) - frameTail; at < len(frame); at++ {
		broken := slices.Clone(frame)
		broken[at] ^= 0x80
		if at < len(frame)-frameTail+8 {
			continue // only the number of rows is stored here
		}
		if _, err := e.End(bytes.NewReader(broken), int64(len(broken))); err == nil {
			t.Errorf("with another byte %d of %d: no error", at, len(frame))
		}
	}
}
