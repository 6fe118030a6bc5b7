package parquet

import (
	"errors"
	"fmt"
	"reflect"
)

// Types of pages (parquet.thrift, PageType).
const (
	pageData   = 0
	pageDict   = 2
	pageDataV2 = 3
)

// column reads the entries of a column in a row group: values or nulls, with their levels.
type column struct {
	leaf  *leaf
	pages *pages

	chunk columnMeta
	at    int64 // offset of the next page
	end   int64
	left  int64 // entries in pages not yet begun
	page  int   // number of the open page, for messages

	data, dictionary []byte   // pages
	words            [][]byte // of the dictionary
	levels           []byte   // of a page of version 2
	joined           []byte   // buffer for a value stored as deltas
	hasWords         bool
	entries          int // left in the page
	reps, defs       hybrid
	values           values

	more bool // the next entry is
	entry
}

func (c *column) open(chunk columnMeta) error {
	c.chunk, c.at, c.end = chunk, chunk.start(), chunk.start()+chunk.Stored
	c.left, c.entries, c.hasWords, c.page = chunk.Values, 0, false, -1
	return c.advance()
}

func (c *column) fail(err error) error {
	if c.page < 0 {
		return fmt.Errorf("column %s: %w", c.leaf.name(), err)
	}
	return fmt.Errorf("column %s, page %d: %w", c.leaf.name(), c.page, err)
}

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
	c.more, c.entry = true, entry{def: c.leaf.maxDef}
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
	var err error
	if c.value, err = c.values(); err != nil {
		return c.fail(err)
	}
	return nil
}

// pageHeader is a PageHeader, which includes the header for its type.
type pageHeader struct {
	Type   int32       `thrift:"1"`
	Size   int32       `thrift:"2"` // decompressed
	Stored int32       `thrift:"3"`
	CRC    *int32      `thrift:"4"`
	Data   *dataPage   `thrift:"5"`
	Dict   *dictPage   `thrift:"7"`
	DataV2 *dataPageV2 `thrift:"8"`
}

type dataPage struct {
	Entries     int32 `thrift:"1"`
	Encoding    int32 `thrift:"2"`
	DefEncoding int32 `thrift:"3"`
	RepEncoding int32 `thrift:"4"`
}

type dictPage struct {
	Values   int32 `thrift:"1"`
	Encoding int32 `thrift:"2"`
}

type dataPageV2 struct {
	Entries    int32 `thrift:"1"`
	Encoding   int32 `thrift:"4"`
	DefLength  int32 `thrift:"5"`
	RepLength  int32 `thrift:"6"`
	Compressed *bool `thrift:"7"` // nil means it is
}

// nextPage opens the next page. It skips pages of other types, such as an index.
func (c *column) nextPage() error {
	c.page++
	h, err := c.header()
	if err != nil {
		return fmt.Errorf("its header: %w", err)
	}
	if int64(h.Stored) > c.end-c.at || h.Stored < 0 || h.Size < 0 || h.Size > maxPage {
		return fmt.Errorf("it claims %d bytes, and %d decompressed; %d are left, and the limit is %d", h.Stored, h.Size, c.end-c.at, maxPage)
	}
	var open func(h *pageHeader, stored []byte) error
	switch {
	case h.Type == pageDict && h.Dict != nil:
		open = c.openDictionary
	case h.Type == pageData && h.Data != nil:
		open, err = c.openV1, c.begin(h.Data.Entries)
	case h.Type == pageDataV2 && h.DataV2 != nil:
		open, err = c.openV2, c.begin(h.DataV2.Entries)
	case h.Type == pageDict, h.Type == pageData, h.Type == pageDataV2:
		return errors.New("its header lacks the part that its type needs")
	default:
		c.at += int64(h.Stored)
		return nil
	}
	if err != nil {
		return err
	}
	stored, err := c.pages.read(c.at, h)
	if err != nil {
		return err
	}
	c.at += int64(h.Stored)
	return open(h, stored)
}

// header reads the page header at c.at, and advances past it.
func (c *column) header() (*pageHeader, error) {
	for size := int64(512); ; size *= 16 {
		buf := make([]byte, min(size, max(c.end-c.at, 0)))
		if err := c.pages.readAt(buf, c.at); err != nil {
			return nil, err
		}
		t, h := &byteReader{data: buf}, &pageHeader{}
		t.structure(reflect.ValueOf(h).Elem(), maxNesting)
		if t.err == nil {
			c.at += int64(t.at)
			return h, nil
		}
		if int64(len(buf)) < size || size > 1<<20 || !errors.Is(t.err, errShort) {
			return nil, t.err
		}
	}
}

func (c *column) openDictionary(h *pageHeader, stored []byte) (err error) {
	if c.hasWords {
		return errors.New("it is a second dictionary")
	}
	if encoding := h.Dict.Encoding; encoding != encPlain && encoding != encPlainDict {
		return fmt.Errorf("it is a dictionary in the unsupported encoding %d", encoding)
	}
	if c.dictionary, err = c.pages.decompress(c.dictionary, int(h.Size), c.chunk.Codec, stored); err != nil {
		return err
	}
	return c.setWords(c.dictionary, h.Dict.Values)
}

// begin counts the entries of a page.
func (c *column) begin(entries int32) error {
	if entries < 0 || int64(entries) > c.left {
		return fmt.Errorf("it has %d values, and only %d are left in the column", entries, c.left)
	}
	c.entries = int(entries)
	c.left -= int64(entries)
	// Every entry is visited, but a few bytes can claim billions.
	return c.pages.spend(int64(entries))
}

func (c *column) openV1(h *pageHeader, stored []byte) (err error) {
	if c.data, err = c.pages.decompress(c.data, int(h.Size), c.chunk.Codec, stored); err != nil {
		return err
	}
	rest := c.data
	level := func(most int, encoding int32) (hybrid, error) {
		if most == 0 {
			return hybrid{}, nil
		}
		if encoding != encRLE {
			return hybrid{}, errors.New("its levels are packed in an old, unsupported way: write the file again")
		}
		runs, behind, ok := cutLength(rest)
		if !ok {
			return hybrid{}, errLevels
		}
		rest = behind
		return hybrid{data: runs, width: bitsFor(most)}, nil
	}
	if c.reps, err = level(c.leaf.maxRep, h.Data.RepEncoding); err != nil {
		return err
	}
	if c.defs, err = level(c.leaf.maxDef, h.Data.DefEncoding); err != nil {
		return err
	}
	c.values, err = c.newValues(h.Data.Encoding, rest)
	return err
}

func (c *column) openV2(h *pageHeader, stored []byte) (err error) {
	rep, def := h.DataV2.RepLength, h.DataV2.DefLength
	levels := int64(rep) + int64(def)
	if rep < 0 || def < 0 || levels > int64(len(stored)) || levels > int64(h.Size) {
		return errLevels
	}
	if c.levels, err = c.pages.grow(c.levels, int(levels)); err != nil {
		return err
	}
	copy(c.levels, stored)
	c.reps = hybrid{data: c.levels[:rep], width: bitsFor(c.leaf.maxRep)}
	c.defs = hybrid{data: c.levels[rep:], width: bitsFor(c.leaf.maxDef)}
	codec := c.chunk.Codec
	if h.DataV2.Compressed != nil && !*h.DataV2.Compressed {
		codec = codecNone
	}
	if c.data, err = c.pages.decompress(c.data, int(int64(h.Size)-levels), codec, stored[levels:]); err != nil {
		return err
	}
	c.values, err = c.newValues(h.DataV2.Encoding, c.data)
	return err
}
