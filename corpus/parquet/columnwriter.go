package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// columnWriter writes the pages of a column.
type columnWriter struct {
	leaf  *leaf
	codec int32

	reps, defs []byte
	values     []byte // in plain encoding; booleans take a byte each
	count      int    // entries in the page
	entries    int64
	pages      []byte
	plain      int64 // bytes of pages before compression
	dictionary dictionaryWriter
	statistics statistics
	order      func(a, b []byte) int // of values, for statistics, or nil

	page, body []byte // buffers for a page, plain and compressed
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
		c.statistics.nulls++
		return
	}
	at := len(c.values)
	if c.leaf.typ == typeBytes {
		c.values = binary.LittleEndian.AppendUint32(c.values, uint32(len(e.value)))
	}
	c.values = append(c.values, e.value...)
	c.statistics.add(e.value, c.order)
	if c.leaf.typ != typeBoolean {
		c.dictionary.add(c.values[at:])
	}
}

// flush writes the added entries as a page.
func (c *columnWriter) flush() (err error) {
	if c.count == 0 {
		return nil
	}
	page := c.page[:0]
	if c.leaf.maxRep > 0 {
		page = appendLevels(page, c.reps)
	}
	if c.leaf.maxDef > 0 {
		page = appendLevels(page, c.defs)
	}
	encoding := encPlain
	if indices, ok := c.dictionary.appendPage(page, len(c.values)); ok {
		page, encoding = indices, encDict
	} else if c.leaf.typ == typeBoolean {
		page = appendBits(page, c.values, 1)
	} else {
		page = append(page, c.values...)
	}
	c.page = page
	if c.pages, err = c.appendPage(c.pages, page, pageData, c.count, encoding); err != nil {
		return err
	}
	c.entries += int64(c.count)
	c.count, c.reps, c.defs, c.values = 0, c.reps[:0], c.defs[:0], c.values[:0]
	return nil
}

// appendPage appends a page of this kind, with its header.
func (c *columnWriter) appendPage(dst, page []byte, kind, count, encoding int) (_ []byte, err error) {
	if c.body, err = compress(c.codec, c.body[:0], page); err != nil {
		return dst, err
	}
	h := pageHeader{Type: int32(kind), Size: int32(len(page)), Stored: int32(len(c.body))}
	if kind == pageDict {
		h.Dict = &dictPage{int32(count), int32(encoding)}
	} else {
		h.Data = &dataPage{int32(count), int32(encoding), encRLE, encRLE}
	}
	from := len(dst)
	dst = appendThrift(dst, h)
	c.plain += int64(len(dst) - from + len(page))
	return append(dst, c.body...), nil
}

// appendLevels appends levels as runs, after their length.
func appendLevels(dst, levels []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for len(levels) > 0 {
		n := 1
		for n < len(levels) && levels[n] == levels[0] {
			n++
		}
		dst = append(binary.AppendUvarint(dst, uint64(n)<<1), levels[0])
		levels = levels[n:]
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

const (
	// maxDictionary bounds the bytes of a written dictionary.
	maxDictionary = 256 << 10
	// maxDistinct bounds the values in all dictionaries of a row group: each takes about 80 bytes.
	maxDistinct = 1 << 18
	// sampled is the number of first values; more than half of them must be repetitions.
	sampled = 1024
)

// dictionaryWriter collects the distinct values of a column while that saves space.
type dictionaryWriter struct {
	index map[string]uint32
	plain []byte   // the values in plain encoding
	page  []uint32 // indices of the values in the page
	room  *int     // how many more values the row group may have
	given int      // number of values so far
	off   bool     // the dictionary does not pay off
	used  bool     // a page refers to it
}

// add adds a value in plain encoding.
func (d *dictionaryWriter) add(value []byte) {
	if d.off {
		return
	}
	if d.given++; d.given == sampled && 2*len(d.index) > sampled {
		d.off = true
		return
	}
	i, known := d.index[string(value)]
	if !known {
		if len(d.plain)+len(value) > maxDictionary || *d.room == 0 {
			d.off = true
			return
		}
		if d.index == nil {
			d.index = map[string]uint32{}
		}
		i = uint32(len(d.index))
		d.index[string(value)] = i
		d.plain = append(d.plain, value...)
		*d.room--
	}
	d.page = append(d.page, i)
}

// appendPage appends the page's values as indices, if these take fewer than plain bytes.
func (d *dictionaryWriter) appendPage(dst []byte, plain int) (_ []byte, ok bool) {
	defer func() { d.page = d.page[:0] }()
	if d.off || len(d.page) == 0 {
		return dst, false
	}
	at, width := len(dst), bitsFor(len(d.index)-1)
	dst = appendHybrid(append(dst, byte(width)), d.page, width)
	size := len(dst) - at
	if !d.used {
		size += len(d.plain)
	}
	if size >= plain {
		d.off = true
		return dst[:at], false
	}
	d.used = true
	return dst, true
}

// appendHybrid appends numbers of width bits, in runs of at least eight equal ones and in packed
// groups of eight (Encodings.md, "RLE / Bit-Packing Hybrid").
func appendHybrid(dst []byte, numbers []uint32, width uint) []byte {
	packed := 0 // numbers[packed:i] are to be packed
	for i := 0; i < len(numbers); {
		n := 1
		for i+n < len(numbers) && numbers[i+n] == numbers[i] {
			n++
		}
		if fill := (8 - (i-packed)%8) % 8; n >= fill+8 { // fill the last group from the run
			dst = appendPacked(dst, numbers[packed:i+fill], width)
			dst = binary.AppendUvarint(dst, uint64(n-fill)<<1)
			for bit := uint(0); bit < width; bit += 8 {
				dst = append(dst, byte(numbers[i]>>bit))
			}
			packed = i + n
		}
		i += n
	}
	return appendPacked(dst, numbers[packed:], width)
}

// appendPacked appends numbers in groups of eight, padded with zeros.
func appendPacked(dst []byte, numbers []uint32, width uint) []byte {
	groups := (len(numbers) + 7) / 8
	if groups == 0 {
		return dst
	}
	return appendBits(binary.AppendUvarint(dst, uint64(groups)<<1|1), numbers, width)
}

// appendBits appends numbers of width bits, padded with zeros to a multiple of eight numbers.
func appendBits[T byte | uint32](dst []byte, numbers []T, width uint) []byte {
	held, bits := uint64(0), uint(0)
	for i := range (len(numbers) + 7) / 8 * 8 {
		if i < len(numbers) {
			held |= uint64(numbers[i]) << bits
		}
		for bits += width; bits >= 8; bits -= 8 {
			dst = append(dst, byte(held))
			held >>= 8
		}
	}
	return dst
}

// maxBound is the maximum length in bytes of the least and greatest value in statistics.
const maxBound = 256

// statistics describes a column in a row group (parquet.thrift, Statistics).
type statistics struct {
	nulls    int64
	min, max []byte
	has      bool
	off      bool // a value is not ordered
}

// add adds a value in the given order; nil means no order.
func (s *statistics) add(value []byte, order func(a, b []byte) int) {
	switch {
	case s.off:
	case order == nil || order(value, value) != 0:
		s.off = true
	case !s.has:
		s.min, s.max, s.has = append(s.min, value...), append(s.max, value...), true
	case order(value, s.min) < 0:
		s.min = append(s.min[:0], value...)
	case order(value, s.max) > 0:
		s.max = append(s.max[:0], value...)
	}
}

// appendBounds appends the least and greatest values after their lengths plus 1, or 0 for each if
// they are unknown or too long.
func (s *statistics) appendBounds(dst []byte) []byte {
	if !s.has || s.off || len(s.min) > maxBound || len(s.max) > maxBound {
		return append(dst, 0, 0)
	}
	for _, bound := range [][]byte{s.min, s.max} {
		dst = append(binary.AppendUvarint(dst, uint64(len(bound))+1), bound...)
	}
	return dst
}

// order returns the order of a column's values (parquet.thrift, ColumnOrder), or nil if readers
// disagree about it. NaN is not equal to itself.
func (l *leaf) order() func(a, b []byte) int {
	switch l.typ {
	case typeBoolean:
		return bytes.Compare
	case typeInt32, typeInt64:
		if l.unsigned() {
			return func(a, b []byte) int { return cmp.Compare(unsigned(a), unsigned(b)) }
		}
		return func(a, b []byte) int { return cmp.Compare(signed(a), signed(b)) }
	case typeFloat, typeDouble:
		return func(a, b []byte) int {
			x, y := fraction(a), fraction(b)
			if math.IsNaN(x) {
				return 1
			}
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(math.Copysign(1, x), math.Copysign(1, y)))
		}
	case typeBytes:
		t, texts := l.Logical, []int32{convertedUTF8, convertedEnum, convertedJSON, convertedBSON}
		logical := t == nil || t.String != nil || t.Enum != nil || t.JSON != nil || t.BSON != nil
		if logical && (l.Converted == nil || slices.Contains(texts, *l.Converted)) {
			return bytes.Compare
		}
	case typeFixed:
		if l.Logical == nil && l.Converted == nil {
			return bytes.Compare
		}
	}
	return nil
}

func unsigned(v []byte) uint64 {
	if len(v) == 4 {
		return uint64(binary.LittleEndian.Uint32(v))
	}
	return binary.LittleEndian.Uint64(v)
}

func signed(v []byte) int64 {
	if len(v) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(v)))
	}
	return int64(binary.LittleEndian.Uint64(v))
}

func fraction(v []byte) float64 {
	if len(v) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v))
}
