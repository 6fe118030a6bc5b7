package corpus

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/internal/base/charset"
	"github.com/firstseen/firstseen/internal/base/hugemem"
)

// A Block is a piece of one input: whole records, in the order of the input. It is for one goroutine
// at a time, which may be another than the source's. Its zero value is ready for [Source.Next]. Reuse
// blocks to reuse their buffers.
type Block struct {
	Input   int             // index into the inputs
	File    string          // of the input, for documents and messages
	First   Place           // of the first record
	Read    int64           // stored bytes of all inputs read so far, for progress
	Data    []byte          // the records; only the last record of an input may lack its end
	Offset  int64           // of Data in the decoded input, if the kind is ByEnds and Reject is empty
	Records int             // number of records in Data, including empty ones
	Reject  string          // if not empty, the reason why every record in Data is bad
	Format  Format          // of the input
	Charset string          // source encoding of the input; "" if it is not decoded
	Spans   []Span          // the records in Data
	Frames  Frames          // finder of the records, for its constants, if the kind is ByFrames
	More    func(bytes int) // if not nil, called by [Block.Take]
	Opened  Rows            // file with the records, for its constants, if the kind is AtRandom
	All     bool            // every record is answered, empty ones too; set by the parser

	// Inflated counts the bytes decompressed by the parser from bodies, for [Inflation].
	Inflated int64

	stored   int64 // stored bytes of the input, or those read so far
	maxRatio int
	cutter   Cutter // that found the records, or nil

	own
}

// own is the memory of a block.
type own struct {
	buf   []byte   // Data and the beginning of the next block
	long  memory   // Data, if it is one long record
	room  []byte   // see Room
	names []byte   // see Name
	kept  []memory // see Memory
}

// Span is a record of a block.
type Span struct {
	At         Place
	Start, End int    // of the record in Data, with its end if a [Cutter] found it
	Bad        string // if not empty, the reason why the record is bad
	Other      bool   // the record is no document, but is written unchanged
}

// apartFrom is the size in bytes above which a piece of memory is outside the Go heap.
const apartFrom = 256 << 10

// roomBeside is the capacity of Room beyond len(Data), for parsers that write more than they read.
const roomBeside = 64

// Long reports whether the block is one record longer than BlockSize.
func (b *Block) Long() bool { return b.long.mem != nil }

// Release frees the memory of a long record, which is outside the Go heap. It invalidates Data and
// the documents. [Source.Next] calls it too.
func (b *Block) Release() {
	if b.Long() {
		b.Data = nil
	}
	b.long.free()
	b.Rewind()
}

// Copy returns a block with the same records, in separate memory.
func (b *Block) Copy() Block {
	c := *b
	c.Data, c.Spans, c.own = slices.Clone(b.Data), slices.Clone(b.Spans), own{}
	return c
}

// Refill replaces the records with those of another block, which must not change meanwhile.
func (b *Block) Refill(from *Block) {
	b.Release()
	mine, more := b.own, b.More
	*b = *from
	b.own, b.More = mine, more
}

// Rewind discards the bytes returned by Room, Hold and Name. Parsers call it first.
func (b *Block) Rewind() {
	if len(b.kept) > 0 {
		b.room = nil // it may be in kept
	}
	for i := range b.kept {
		b.kept[i].free()
	}
	b.room, b.names, b.kept = b.room[:0], b.names[:0], b.kept[:0]
	b.Inflated = 0
}

// Room returns an empty slice in the memory of the block, for texts decoded from Data. Bytes
// appended and passed to Hold stay valid until the block is filled again, parsed again or released.
//
// The memory holds len(Data) bytes, since no format decodes a record to more bytes. The slice has
// capacity for the rest of them, and for 64 more.
func (b *Block) Room() []byte {
	if need := len(b.Data) + roomBeside; cap(b.room) < need {
		if b.Long() {
			b.room = b.Memory(need)
		} else {
			b.room = slices.Grow(b.room[:0], need)
		}
	}
	return b.room[len(b.room):]
}

// Hold keeps the bytes appended to the latest slice from Room. Those that did not fit are in memory
// of their own: an id decoded twice, or entities of HTML.
func (b *Block) Hold(data []byte) []byte {
	n := len(b.room)
	if len(data) > 0 && (n == cap(b.room) || &data[0] != &b.room[:n+1][n]) {
		return data
	}
	b.room = b.room[:n+len(data)]
	return b.room[n : n+len(data) : n+len(data)]
}

// Join sets the text of a document: those of its fields, joined by line feeds. read appends the
// text of a field to dst, or nothing. Empty ones are left out.
func (b *Block) Join(doc *Document, names []string, read func(dst []byte, field int) []byte) {
	text := b.Room()
	for i, name := range names {
		before := len(text)
		if before > 0 {
			text = append(text, '\n')
		}
		start := len(text)
		if text = read(text, i); len(text) == start {
			text = text[:before]
		} else if len(names) > 1 {
			doc.Fields = append(doc.Fields, Field{name, start, len(text)})
		}
	}
	doc.Text = b.Hold(text)
}

// Keep copies a text into the memory of the block. The text may exceed the remaining room: a
// decompressed document can be longer than its record.
func (b *Block) Keep(text []byte) []byte {
	if room := b.Room(); cap(room) >= len(text) {
		return b.Hold(append(room, text...))
	}
	b.Take(len(text))
	return append(b.Memory(len(text)), text...)
}

// Memory returns an empty slice of capacity n, valid as long as bytes from Hold. A large slice uses
// memory only for touched pages. Call Take before touching it.
func (b *Block) Memory(n int) []byte {
	if n <= apartFrom {
		return make([]byte, 0, n)
	}
	b.kept = append(b.kept, memory{})
	return b.kept[len(b.kept)-1].hold(nil, n)[:0]
}

// Take reserves memory beyond the records and the room of the block. It may wait until others
// release memory.
func (b *Block) Take(bytes int) {
	if b.More != nil {
		b.More(bytes)
	}
}

// Name returns FILE:PLACE, the id of a record without one, valid as long as bytes from Hold.
func (b *Block) Name(at Place) []byte {
	n := len(b.names)
	b.names = at.appendTo(append(append(b.names, b.File...), ':'))
	return b.names[n:len(b.names):len(b.names)]
}

// BlockOf returns a block with the records in data, of a format whose kind is ByEnds. first is the
// number of the first one. Spans is not set: records of one byte would take sixty times their memory.
func BlockOf(file string, first int64, data []byte, f Format) *Block {
	return &Block{File: file, First: Place{Record: first}, Data: data, Format: f, cutter: f.Cutter()}
}

// next sets span, which is that of the record before, to that of the ith record. It returns false if there
// is none.
func (b *Block) next(i int, span *Span) bool {
	switch {
	case i < len(b.Spans):
		*span = b.Spans[i]
	case b.Records > 0 || span.End == len(b.Data):
		return false
	default: // of BlockOf
		*span = Span{At: Place{Record: b.First.Record + int64(i)}, Start: span.End, End: len(b.Data)}
		if end := b.cutter.End(b.Data[span.Start:], 0); end >= 0 {
			span.End = span.Start + end
		}
	}
	return true
}

// cut adds whole records at the start of data to Spans, until they are most, and returns their
// length. The first has the place at. Its end is beyond the first from bytes.
func (b *Block) cut(at Place, data []byte, from, most int) (end int) {
	for len(b.Spans) < most {
		next := b.cutter.End(data[end:], from)
		if next < 0 {
			break
		}
		b.Spans = append(b.Spans, Span{At: at, Start: end, End: end + next})
		at, end, from = at.Next(), end+next, 0
	}
	return end
}

// raw returns a record without its end. A rejected record may be only a head, so a blank one is not
// necessarily empty.
func (b *Block) raw(span Span) (raw []byte, empty bool) {
	raw = b.Data[span.Start:span.End:span.End]
	if b.cutter == nil {
		return raw, false
	}
	raw, empty = b.cutter.Strip(raw)
	return raw, len(raw) == 0 || empty && b.Reject == ""
}

// Documents yields the records of the block, for a parser, empty ones only if All is set. read
// completes *doc, whose Raw and At are set, or returns the reason why the record is bad.
func (b *Block) Documents(doc *Document, read func() error) iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		b.Rewind()
		span := Span{}
		for i := 0; b.next(i, &span); i++ {
			raw, empty := b.raw(span)
			if empty && !b.All {
				continue
			}
			*doc = Document{Raw: raw, At: span.At, Empty: empty, Other: span.Other}
			if !empty && (!span.Other || span.Bad != "") {
				b.complete(doc, cmp.Or(b.Reject, span.Bad), read)
			}
			if !yield(doc) {
				return
			}
		}
	}
}

// MaxID is the maximum length of an id in bytes. Tables and reports store ids. Those of the
// documents between two checkpoints stay in memory.
const MaxID = 64 << 10

// complete reads a document, unless there is a reason why it is bad. A document without an id gets
// its name. The reason mentions the encoding of the input if the record was malformed in it.
func (b *Block) complete(doc *Document, reason string, read func() error) {
	if reason == "" {
		switch err := read(); {
		case err != nil:
			reason = err.Error()
		case len(doc.ID) > MaxID:
			reason = fmt.Sprintf("its id is longer than %d bytes", MaxID)
		case len(doc.ID) == 0:
			doc.ID = b.Name(doc.At)
			return
		default:
			return
		}
	}
	if b.Charset != "" && bytes.IndexByte(doc.Raw, charset.Malformed) >= 0 {
		reason = fmt.Sprintf("it is not valid %s: decoded with errors: %s", b.Charset, reason)
	}
	doc.ID, doc.Text = nil, nil
	doc.Bad = &BadRecord{File: b.File, At: doc.At, Reason: reason, Raw: doc.Raw}
}

// memory holds a long record or decoded texts, outside the Go heap. It is returned to the system
// when freed, does not trigger the collector, and uses only touched pages. Memory up to apartFrom
// stays in the heap: a system call would cost more.
type memory struct{ mem []byte }

// hold allocates n bytes, starting with a copy of data, which may be in the old memory.
func (m *memory) hold(data []byte, n int) []byte {
	var mem []byte
	var err error
	if n > apartFrom {
		mem, err = hugemem.Alloc(n)
	}
	if mem == nil || err != nil { // small, or the system refused
		mem = make([]byte, n)
	}
	held := mem[:copy(mem, data)]
	m.free()
	m.mem = mem
	return held
}

func (m *memory) free() {
	_ = hugemem.Free(m.mem) // it refuses memory of the heap
	m.mem = nil
}

// Inflation counts the bytes decompressed from record bodies, input by input, in one goroutine. A compressed input
// may hold bodies compressed again, each small compared with its record. Its zero value is ready to
// use.
type Inflation struct {
	input   int
	decoded int64
}

// Add counts a parsed block. It returns an error if the bodies of the input exceed the expansion
// that the source allows for its stored bytes.
func (n *Inflation) Add(b *Block) error {
	if b.Input != n.input {
		*n = Inflation{input: b.Input}
	}
	n.decoded += b.Inflated
	e := compress.Expansion{Stored: func() int64 { return b.stored }, Decoded: n.decoded, Most: b.maxRatio}
	if err := e.Add(0); err != nil {
		return fmt.Errorf("reading %s: the bodies of its records: %w", b.File, err)
	}
	return nil
}
