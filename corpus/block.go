package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/internal/charset"
	"github.com/firstseen/firstseen/internal/hugemem"
)

// Block is a piece of one input: whole records, in the order of the input. Its
// zero value is ready for [Source.Next], and a block should be used again, for
// its buffers.
type Block struct {
	Input   int             // index into the inputs
	File    string          // name of the input, for documents and messages
	First   Place           // of the first record
	Read    int64           // stored bytes of all inputs read so far, for progress
	Data    []byte          // the records; only the last one of an input may lack its end
	Records int             // how many there are in Data, empty ones too
	Reject  string          // if not empty, every record in Data is bad for this reason
	Format  Format          // of the input
	Charset string          // that the input is decoded from; "" is none
	Spans   []Span          // places of the records in Data, if the format has [Frames]
	Frames  Frames          // their finder, for its constants
	More    func(bytes int) // unless it is nil, what [Block.Take] calls
	Opened  Rows            // their file, if its kind is AtRandom, for its constants
	Passed  bool            // only the ids of the documents are needed, not their texts

	// Inflated is how many bytes a parser has decompressed bodies of the records to. See
	// [Inflation].
	Inflated int64

	stored   int64 // bytes of the input, or so far
	maxRatio int

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

// Span is a record of a block that [Frames] have found.
type Span struct {
	At         Place
	Start, End int    // of the record in Data
	Bad        string // if not empty, the reason why it is no document
	Other      bool   // it is none, but is written as it came
}

// apartFrom is from how many bytes on a piece of memory is none of the Go heap.
const apartFrom = 256 << 10

// roomBeside is the room of a block beyond the length of its data, in bytes, for parsers that write
// a few bytes more than they take.
const roomBeside = 64

// Long reports whether the block is one record longer than BlockSize.
func (b *Block) Long() bool { return b.long.mem != nil }

// Release gives back the memory of a long record, which is none of the Go heap;
// Data and the documents are gone then. [Source.Next] does so too.
func (b *Block) Release() {
	if b.Long() {
		b.Data = nil
	}
	b.long.free()
	b.Rewind()
}

// Copy is a block with the same records, in memory of its own.
func (b *Block) Copy() Block {
	c := *b
	c.Data, c.Spans, c.own = slices.Clone(b.Data), slices.Clone(b.Spans), own{}
	return c
}

// Refill has the block hold the records of another, which must not change meanwhile.
func (b *Block) Refill(from *Block) {
	b.Release()
	mine, more, passed := b.own, b.More, b.Passed
	*b = *from
	b.own, b.More, b.Passed = mine, more, passed
}

// Rewind forgets what Room and Name have given out. A parser begins with it.
func (b *Block) Rewind() {
	if len(b.kept) > 0 {
		b.room = nil // it may be one of these
	}
	for i := range b.kept {
		b.kept[i].free()
	}
	b.room, b.names, b.kept = b.room[:0], b.names[:0], b.kept[:0]
	b.Inflated = 0
}

// Room returns the memory of the block for decoded texts, which Data does not contain. It is an empty
// slice to append to. Bytes then given to Hold stay until the block is filled again, parsed again or
// released.
//
// A block can hold as many bytes as Data has: no format makes a record longer by decoding it. The
// slice has room for the rest of these, and for 64 bytes more.
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

// Hold keeps the bytes appended to the last slice of Room.
func (b *Block) Hold(data []byte) []byte {
	n := len(b.room)
	b.room = b.room[:n+len(data)]
	return b.room[n : n+len(data) : n+len(data)]
}

// Keep copies a text into the memory of the block, also one longer than the rest of its room: a
// decompressed document can be longer than its record.
func (b *Block) Keep(text []byte) []byte {
	if room := b.Room(); cap(room) >= len(text) {
		return b.Hold(append(room, text...))
	}
	b.Take(len(text))
	return append(b.Memory(len(text)), text...)
}

// Memory returns an empty slice with room for n bytes, which stays like the bytes of Hold. A large one
// takes memory only for touched pages. Call Take before touching it.
func (b *Block) Memory(n int) []byte {
	if n <= apartFrom {
		return make([]byte, 0, n)
	}
	b.kept = append(b.kept, memory{})
	return b.kept[len(b.kept)-1].hold(nil, n)[:0]
}

// Take says that so many bytes are about to be taken beside the records and the room
// of the block. It may wait until others have given back theirs.
func (b *Block) Take(bytes int) {
	if b.More != nil {
		b.More(bytes)
	}
}

// Name is the id of a record that has none, FILE:PLACE, valid as what Hold keeps.
func (b *Block) Name(at Place) []byte {
	n := len(b.names)
	b.names = at.appendTo(append(append(b.names, b.File...), ':'))
	return b.names[n:len(b.names):len(b.names)]
}

// Strip removes the end of a record of the block. A rejected record may be known by its head alone,
// so it can look empty without being so.
func (b *Block) Strip(f Cutter, record []byte) (raw []byte, empty bool) {
	raw, empty = f.Strip(record)
	return raw, len(raw) == 0 || empty && b.Reject == ""
}

// Documents goes over the records found by [Frames], for its parser. read completes *doc, which has
// Raw and At, or returns why it is no document.
func (b *Block) Documents(doc *Document, read func() error) iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		b.Rewind()
		for _, span := range b.Spans {
			*doc = Document{Raw: b.Data[span.Start:span.End:span.End], At: span.At, Other: span.Other}
			if !span.Other || span.Bad != "" {
				b.complete(doc, span.Bad, read)
			}
			if !yield(doc) {
				return
			}
		}
	}
}

// CutDocuments is CutRecords for texts: a record must be UTF-8, and its id is its place.
func (b *Block) CutDocuments(c Cutter, doc *Document, all bool, read func() error) iter.Seq[*Document] {
	return b.CutRecords(c, doc, all, func() error {
		if !ValidUTF8(doc.Raw) {
			return errors.New("it is not UTF-8")
		}
		doc.ID = b.Name(doc.At)
		return read()
	})
}

// CutRecords goes over the records found by a [Cutter], for its parser. read completes *doc, which
// has Raw and At, or returns why it is no document. Empty records are handed out only if all is set.
func (b *Block) CutRecords(c Cutter, doc *Document, all bool, read func() error) iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		b.Rewind()
		at := b.First
		for rest := b.Data; len(rest) > 0; at = at.Next() {
			end, whole := c.Cut(rest, 1)
			if whole == 0 {
				end = len(rest)
			}
			raw, empty := b.Strip(c, rest[:end])
			rest = rest[end:]
			if empty && !all {
				continue
			}
			if *doc = (Document{Raw: raw, At: at, Empty: empty}); !empty {
				b.complete(doc, b.Reject, read)
			}
			if !yield(doc) {
				return
			}
		}
	}
}

// MaxID is the longest id in bytes. Tables and reports hold ids, and the documents between two
// checkpoints theirs in memory.
const MaxID = 64 << 10

// complete reads a document, unless there is a reason why it is bad. If that is the encoding of the input,
// the reason says so.
func (b *Block) complete(doc *Document, reason string, read func() error) {
	if reason == "" {
		switch err := read(); {
		case err != nil:
			reason = err.Error()
		case len(doc.ID) > MaxID:
			reason = fmt.Sprintf("its id is longer than %d bytes", MaxID)
		default:
			return
		}
	}
	if b.Charset != "" && bytes.IndexByte(doc.Raw, charset.Malformed) >= 0 {
		reason = fmt.Sprintf("it is not valid %s: decoded, %s", b.Charset, reason)
	}
	doc.ID, doc.Text = nil, nil
	doc.Bad = &BadRecord{File: b.File, At: doc.At, Reason: reason, Raw: doc.Raw}
}

// memory belongs to a long record, or to its room. It is outside the Go heap: it comes back at once
// when it is freed, does not trigger the collector, and takes only touched pages. A record long only
// beside small blocks is in the heap, because asking the system would cost more.
type memory struct{ mem []byte }

// hold makes room for n bytes and begins it with data, maybe of the same memory. It returns the held
// bytes.
func (m *memory) hold(data []byte, n int) []byte {
	var mem []byte
	var err error
	if n > apartFrom {
		mem, err = hugemem.Alloc(n)
	}
	if mem == nil || err != nil { // short, or address space is
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

// Inflation counts the decompressed bytes of the bodies of records, over one input after the other. A
// compressed input may hold pages compressed again, each small beside its record. The zero value is
// ready.
type Inflation struct {
	input   int
	decoded int64
}

// Add counts a parsed block. It fails if the bodies of an input have expanded to more than the source
// of the block allows for its stored bytes.
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
