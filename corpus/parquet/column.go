package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Types of pages (parquet.thrift, PageType).
const (
	pageData   = 0
	pageIndex  = 1
	pageDict   = 2
	pageDataV2 = 3
)

// column reads a column of a row group, entry by entry: a value or a null, with its levels.
type column struct {
	leaf  *leaf
	pages *pages

	chunk chunk
	at    int64 // of the next page
	end   int64
	left  int64 // entries in pages that were not begun
	page  int   // number of the open page, for messages

	data, words []byte   // a page, and the dictionary
	levels      []byte   // of a page of version 2
	starts      []uint32 // memory for starts of the dictionary
	joined      []byte   // memory for a value stored as deltas
	dict        *dictionary
	entries     int // left in the page
	reps, defs  hybrid
	values      values

	// The next entry, if more is set.
	more     bool
	rep, def int
	value    []byte // nil for a null
}

// open begins a chunk.
func (c *column) open(ch chunk) error {
	c.chunk, c.at, c.end = ch, ch.start(), ch.start()+ch.size
	c.left, c.entries, c.dict, c.page = ch.values, 0, nil, -1
	return c.advance()
}

func (c *column) fail(err error) error {
	if c.page < 0 {
		return fmt.Errorf("column %s: %w", c.leaf.name(), err)
	}
	return fmt.Errorf("column %s, page %d: %w", c.leaf.name(), c.page, err)
}

// advance goes to the next entry.
func (c *column) advance() error {
	for c.entries == 0 {
		if c.left == 0 {
			c.more = false
			return nil
		}
		if err := c.nextPage(); err != nil {
			return c.fail(err)
		}
	}
	c.entries--
	c.more, c.rep, c.def, c.value = true, 0, c.leaf.maxDef, nil
	if c.leaf.maxRep > 0 {
		v, err := c.reps.next()
		if c.rep = int(v); err != nil || c.rep > c.leaf.maxRep {
			return c.fail(errLevels)
		}
	}
	if c.leaf.maxDef > 0 {
		v, err := c.defs.next()
		if c.def = int(v); err != nil || c.def > c.leaf.maxDef {
			return c.fail(errLevels)
		}
	}
	if c.def < c.leaf.maxDef {
		return nil
	}
	v, err := c.values.next()
	if err != nil {
		return c.fail(err)
	}
	c.value = v
	return nil
}

// header is the content of the header of a page.
type header struct {
	typ, size, stored     int32 // size: decompressed
	crc                   int32
	checked               bool
	entries, encoding     int32
	defEncoding           int32
	repEncoding           int32
	defLength, repLength  int32 // of version 2
	compressed, described bool
}

// nextPage opens the next page of values.
func (c *column) nextPage() error {
	c.page++
	h, err := c.header()
	if err != nil {
		return fmt.Errorf("its header: %w", err)
	}
	if int64(h.stored) > c.end-c.at || h.stored < 0 || h.size < 0 || h.size > maxPage {
		return fmt.Errorf("it says it has %d bytes, and %d decompressed; %d are left, and the limit is %d", h.stored, h.size, c.end-c.at, maxPage)
	}
	if h.typ != pageData && h.typ != pageDict && h.typ != pageDataV2 {
		c.at += int64(h.stored)
		return nil
	}
	if !h.described {
		return errors.New("its header lacks what its type wants")
	}
	if h.typ != pageDict {
		if err := c.begin(h); err != nil {
			return err
		}
	}
	stored, err := c.pages.read(c.at, h)
	if err != nil {
		return err
	}
	c.at += int64(h.stored)
	switch h.typ {
	case pageDict:
		return c.openDictionary(h, stored)
	case pageData:
		return c.openV1(h, stored)
	}
	return c.openV2(h, stored)
}

// header reads the header of the page at c.at, and goes behind it.
func (c *column) header() (*header, error) {
	var buf []byte
	for size := int64(512); ; size *= 16 {
		n := min(size, c.end-c.at)
		if n <= 0 {
			return nil, errShort
		}
		buf = slices.Grow(buf[:0], int(n))[:n]
		if err := c.pages.readAt(buf, c.at); err != nil {
			return nil, err
		}
		t := &thriftReader{data: buf}
		h := readHeader(t)
		switch {
		case t.err == nil:
			c.at += int64(t.at)
			return h, nil
		case n < size || size > 1<<20 || !errors.Is(t.err, errShort):
			return nil, t.err
		}
	}
}

func readHeader(t *thriftReader) *header {
	h := &header{compressed: true}
	t.each(func(id int, typ byte) {
		switch {
		case id == 1 && typ == thriftI32:
			h.typ = t.int32()
		case id == 2 && typ == thriftI32:
			h.size = t.int32()
		case id == 3 && typ == thriftI32:
			h.stored = t.int32()
		case id == 4 && typ == thriftI32:
			h.crc, h.checked = t.int32(), true
		case (id == 5 || id == 7 || id == 8) && typ == thriftStruct:
			h.describe(t, id)
		default:
			t.skip(typ)
		}
	})
	return h
}

// describe reads the header parts that only data pages (5), dictionaries (7), and data pages of
// version 2 (8) have.
func (h *header) describe(t *thriftReader, kind int) {
	h.described = true
	t.each(func(id int, typ byte) {
		if kind == 8 && id == 7 && (typ == thriftTrue || typ == thriftFalse) {
			h.compressed = typ == thriftTrue
			return
		}
		if typ != thriftI32 {
			t.skip(typ)
			return
		}
		v := t.int32()
		switch {
		case id == 1:
			h.entries = v
		case id == 2 && kind != 8, id == 4 && kind == 8:
			h.encoding = v
		case id == 3 && kind == 5:
			h.defEncoding = v
		case id == 4 && kind == 5:
			h.repEncoding = v
		case id == 5 && kind == 8:
			h.defLength = v
		case id == 6 && kind == 8:
			h.repLength = v
		}
	})
}

func (c *column) openDictionary(h *header, stored []byte) (err error) {
	if c.dict != nil {
		return errors.New("it is a second dictionary")
	}
	if h.encoding != encPlain && h.encoding != encPlainDict {
		return fmt.Errorf("it is a dictionary in the encoding %d", h.encoding)
	}
	if c.words, err = c.pages.decompress(c.words, int(h.size), c.chunk.codec, stored); err != nil {
		return err
	}
	if c.dict, err = newDictionary(c.leaf, c.words, c.starts, c.pages); err == nil {
		c.starts = c.dict.starts
	}
	return err
}

// begin counts the entries of a page.
func (c *column) begin(h *header) error {
	if h.entries < 0 || int64(h.entries) > c.left {
		return fmt.Errorf("it has %d values, and the column %d more", h.entries, c.left)
	}
	c.entries = int(h.entries)
	c.left -= int64(h.entries)
	// Each entry is gone through, though a few bytes can claim thousands of millions.
	return c.pages.spend(int64(h.entries))
}

func (c *column) openV1(h *header, stored []byte) (err error) {
	if c.data, err = c.pages.decompress(c.data, int(h.size), c.chunk.codec, stored); err != nil {
		return err
	}
	rest := c.data
	level := func(most int, encoding int32) (hybrid, error) {
		if most == 0 {
			return hybrid{}, nil
		}
		if encoding != encRLE {
			return hybrid{}, errors.New("its levels are packed in the old way, which is not read: write the file again")
		}
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return hybrid{}, errLevels
		}
		n := 4 + int(binary.LittleEndian.Uint32(rest))
		runs := newHybrid(rest[4:n], bitsFor(most))
		rest = rest[n:]
		return runs, nil
	}
	if c.reps, err = level(c.leaf.maxRep, h.repEncoding); err != nil {
		return err
	}
	if c.defs, err = level(c.leaf.maxDef, h.defEncoding); err != nil {
		return err
	}
	c.values, err = c.newValues(h.encoding, rest)
	return err
}

func (c *column) openV2(h *header, stored []byte) (err error) {
	levels := int64(h.repLength) + int64(h.defLength)
	if h.repLength < 0 || h.defLength < 0 || levels > int64(len(stored)) || levels > int64(h.size) {
		return errLevels
	}
	if c.levels, err = c.pages.grow(c.levels, int(levels)); err != nil {
		return err
	}
	copy(c.levels, stored)
	c.reps = newHybrid(c.levels[:h.repLength], bitsFor(c.leaf.maxRep))
	c.defs = newHybrid(c.levels[h.repLength:], bitsFor(c.leaf.maxDef))
	codec := c.chunk.codec
	if !h.compressed {
		codec = codecNone
	}
	if c.data, err = c.pages.decompress(c.data, int(int64(h.size)-levels), codec, stored[levels:]); err != nil {
		return err
	}
	c.values, err = c.newValues(h.encoding, c.data)
	return err
}
