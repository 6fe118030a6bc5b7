package corpus

import (
	"io"
	"iter"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format separates the records of a file, reads the document in a record, and writes a record again.
// [Source] does the rest for all formats: inputs one after the other, compression, memory, limits,
// continuing at a place.
//
// A format embeds its kind, which has all other methods: [Lines], [Framed] or [Random]. Any number of
// goroutines may use a format at once. docs/extend.md shows how to add one.
type Format interface {
	// Name is what messages call the format: "JSON lines".
	Name() string
	// Endings are those of the names of its files, such as ".jsonl"; at least one.
	Endings() []string
	// Noun is what people call a record: "line".
	Noun() string
	// Recognize looks at the first bytes of an input, decompressed: at least [RecognizedBy], or
	// all of a shorter one. It reports whether they are of this format.
	Recognize(head []byte) bool

	// Kind returns which of the next three methods finds the records.
	Kind() Kind
	Cutter() Cutter
	// Frames returns a finder of the records of one input, of maxRecord bytes at most.
	Frames(maxRecord int) Frames
	// Open reads the description in a file.
	Open(file io.ReaderAt, size int64, limits Limits) (Rows, error)

	// NewParser returns a parser for one goroutine. If annotate is not empty, every record is answered
	// with a field of that name: the parser then hands out empty records too, finds the Slot of each
	// document, and a document that cannot have the field is bad. A format without annotations returns
	// an error.
	NewParser(annotate string) (Parser, error)

	// Keep writes a record as it came, with its end.
	Keep(w *output.Writer, raw []byte) error
	// Annotate writes a record with value, which is JSON, in its slot. Its other bytes stay.
	Annotate(w *output.Writer, raw []byte, at Slot, value []byte) error
	// Answer writes the answer to a bad record: a record of the field and its value alone, or the
	// record with its value.
	Answer(w *output.Writer, raw []byte, field string, value []byte) error
	// Enclose says how an output is written for records of the inputs, if it is more than the records
	// behind one another; nil if it is not.
	Enclose(inputs []input.Input, annotate bool) (output.Enclosure, error)
}

// Cutter finds the ends of records. One goroutine does this for all others, so it should look at few
// bytes.
//
// The end of a record must be visible in the bytes around it, in MaxTerminator of them at most.
type Cutter interface {
	// Begin looks at the first bytes of an input, at least three of a longer one. It returns how
	// many of these belong to no record, and a reason if nothing in the input can be a document.
	Begin(head []byte) (passed int, reject string)
	// Cut returns how many bytes at the beginning of data, which begins with a
	// record, are records with their ends, and how many these are; no more than
	// most, which is at least 1.
	Cut(data []byte, most int) (end, records int)
	// End returns the index behind the first end of a record in data that is
	// not within its first from bytes, or -1. Data may begin inside a record.
	End(data []byte, from int) int
	// Strip removes the end of a record, which the last of an input may lack. It reports whether
	// the record is empty, and so does not count.
	Strip(record []byte) (raw []byte, empty bool)
}

// Frames finds the records of one input. One goroutine does this for all others, so it should look at
// few bytes. It embeds [FrameDefaults].
//
// It sees an input in sections, one after the other. An uncompressed input is one section. In a
// compressed one, each member (gzip) or frame (zstd) accepted by [Frames.Starts] begins a section, and
// so do the bytes behind damage. A record never reaches into the next section.
type Frames interface {
	// Starts reports whether data is the beginning of a record, or of an input.
	// It sees at least [RecognizedBy] bytes, or all of a member.
	Starts(data []byte) bool
	// Begin says that what follows is another section.
	Begin()
	// Frame finds the record at the beginning of data, which has at least one byte.
	Frame(data []byte, end SectionEnd) Frame
	// Numbered reports whether records have the numbers of [Frame.Number]: no record's place has a
	// part, however the input is compressed.
	Numbered() bool
	// Head returns the beginning of the input that belongs in front of every output, such as the names
	// of columns; nil until it was seen. It does not change after the first record. has is false for a
	// format without one.
	Head() (head []byte, has bool)
}

// SectionEnd is the kind of end of the data given to a [Frames].
type SectionEnd uint8

const (
	GoesOn SectionEnd = iota // there is more of the section, and it can be asked for
	Ends                     // the section ends here, and may be cut off
	Whole                    // the section ends here, and a checksum says so
)

// Frame is what stands at one place of an input. Either Need is set, or Pass.
type Frame struct {
	Need   int    // bytes needed to decide, more than there are
	Take   int    // bytes of the document; 0 without one
	Pass   int    // bytes to go on by, at least Take unless Bad is set; may be more than there are
	Record bool   // a record begins here, and is numbered, be it a document or not
	Bad    string // the record is bad, for this reason; the available part of Take is shown
	Alone  bool   // the document may become much longer when it is decoded
	Other  bool   // the taken bytes are no document, but are written as they came
	Number int64  // of the record in its input, unless it follows the last one; only if Numbered
}

// MaxTerminator is how many bytes the end of a record may take.
const MaxTerminator = 16

// Parser turns blocks into documents. It is for one goroutine.
type Parser interface {
	// Parse returns the documents of a block in the order of its records.
	// Empty records are passed over unless all are answered.
	//
	// A Document itself is valid until the next one, all it points to until the
	// block is filled again, parsed again or released: it is in the block's
	// Data or in its memory, see [Block.Room].
	Parse(b *Block) iter.Seq[*Document]
}
