package corpus

import (
	"io"
	"iter"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format separates the records of a file, reads the document in a record, and writes records.
// [Source] does the rest for all formats: order, decompression, memory, limits and resuming.
//
// A format embeds its kind, [Lines], [Framed] or [Random], which provides the other methods. Any
// number of goroutines may use a format at once. docs/extend.md shows how to add one.
type Format interface {
	// Name is the name of the format in messages, such as "JSON lines".
	Name() string
	// Endings returns the endings of its file names, such as ".jsonl"; at least one.
	Endings() []string
	// Noun is the word for a record, such as "line".
	Noun() string
	// Recognize reports whether the first bytes of an input, decompressed, have this format. head
	// has at least [compress.RecognizedBy] bytes, or all of a shorter input.
	Recognize(head []byte) bool

	// Kind selects which of the next three methods finds the records.
	Kind() Kind
	Cutter() Cutter
	// Frames returns a finder for the records of one input, each of at most maxRecord bytes.
	Frames(maxRecord int) Frames
	// Open reads the metadata of a file.
	Open(file io.ReaderAt, size int64, limits Limits) (Rows, error)

	// NewParser returns a parser for one goroutine. If annotate is not empty, every record gets a
	// field of that name: the parser returns empty records too, and sets the Slot of each document.
	// A document that cannot have the field is bad. Formats without annotations return an error.
	NewParser(annotate string) (Parser, error)

	// Keep writes a record unchanged, with its end.
	Keep(w *output.Writer, raw []byte) error
	// Annotate inserts value, which is JSON, into the slot of a record and writes it.
	Annotate(w *output.Writer, raw []byte, at Slot, value []byte) error
	// Answer writes the answer to a bad record: a record of only the field and its value, or the
	// bad record with the value.
	Answer(w *output.Writer, raw []byte, field string, value []byte) error
	// Enclose returns how an output encloses records of the inputs, or nil if the output only
	// concatenates them.
	Enclose(inputs []input.Input, annotate bool) (output.Enclosure, error)
}

// Cutter finds the ends of records. One goroutine does this for all others, so it should examine
// few bytes. The end of a record must be visible in at most [LookAhead] bytes around it.
type Cutter interface {
	// Begin examines the first bytes of an input: at least three, or all of a shorter one. It
	// returns how many of them belong to no record, or the reason why the input has no document.
	Begin(head []byte) (passed int, reject string)
	// End returns the index after the first end of a record beyond the first from bytes, or -1.
	// Data may begin inside a record.
	End(data []byte, from int) int
	// Strip removes the end of a record; the last one of an input may lack it. It reports whether
	// the record is empty, and thus no document.
	Strip(record []byte) (raw []byte, empty bool)
}

// Frames finds the records of one input. One goroutine does this for all others, so it should
// examine few bytes. Implementations embed [FrameDefaults].
//
// Frames sees an input as consecutive sections. An uncompressed input is one section. In a
// compressed one, a section begins at each member (gzip) or frame (zstd) that [Frames.Starts]
// accepts, and after damage. A record never crosses the end of a section.
type Frames interface {
	// Starts reports whether data is the start of a record or of an input. Data has at least
	// [compress.RecognizedBy] bytes, or all of a shorter member.
	Starts(data []byte) bool
	// Begin announces another section.
	Begin()
	// Frame finds the record at the start of data, which has at least one byte.
	Frame(data []byte, end SectionEnd) Frame
	// Numbered reports whether [Frame.Number] numbers records; their places then have no part.
	Numbered() bool
	// Head returns the start of the input that every output repeats, such as the column names; nil
	// until read. It is constant after the first record. has is false for formats without a head.
	Head() (head []byte, has bool)
}

// SectionEnd describes the end of the data passed to [Frames.Frame].
type SectionEnd uint8

const (
	GoesOn SectionEnd = iota // the section has more data, available on request
	Ends                     // the section ends here, and may be truncated
	Whole                    // the section ends here, as a checksum confirms
)

// Frame describes the data at one place of an input. Either Need or Pass is set.
type Frame struct {
	Need   int    // bytes needed to decide, more than were given
	Take   int    // bytes of the document; 0 if there is none
	Pass   int    // bytes to advance, at least Take unless Bad is set; may exceed the data given
	Record bool   // a record begins here and is numbered, even if it is no document
	Bad    string // reason why the record is bad; the available part of Take is shown
	Alone  bool   // the document may grow much longer when decoded
	Other  bool   // the taken bytes are no document, but are written unchanged
	Number int64  // of the record in its input, unless it follows the last one; only if Numbered
}

// LookAhead is the maximum length in bytes of the end of a record, with what shows that it is one.
const LookAhead = 160

// Parser turns blocks into documents. It must be used by one goroutine only.
type Parser interface {
	// Parse returns the documents of a block in the order of its records. It omits empty records
	// unless all records are answered.
	//
	// A Document is valid until the next one. Its slices are valid until the block is filled again,
	// parsed again or released: they point into the block's Data or its memory, see [Block.Room].
	Parse(b *Block) iter.Seq[*Document]
}
