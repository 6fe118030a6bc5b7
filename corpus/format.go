package corpus

import (
	"iter"

	"github.com/firstseen/firstseen/corpus/output"
)

// Format is how the documents of a file are written: how its records are told
// apart, what a record says, and how one is written again. [Source] does for all
// formats what is not theirs: inputs one after the other, compression, memory,
// limits, going on at a place.
//
// A format finds its records in one of two ways: it is a [Cutter], where records
// are told apart by what stands between them, or a [Framer] otherwise.
//
// A format is a value that any number of goroutines may use at once. How to add
// one is told in docs/extend.md.
type Format interface {
	// Name is what messages call the format: "JSON lines".
	Name() string
	// Endings are those of names by which a directory's files are known to be
	// of this format, such as ".jsonl"; at least one.
	Endings() []string
	// Noun is what people call a record: "line".
	Noun() string
	// Terminator is what ends a record. It belongs behind the last of an input
	// that lacks it when something shall follow.
	Terminator() []byte
	// NewParser returns a parser for one goroutine. If annotate is not empty,
	// every record is to be answered with a field of that name: the parser then
	// hands out empty records too, finds the Slot of each document, and a
	// document that cannot have the field is bad. A format that cannot be
	// annotated at all returns an error.
	NewParser(annotate string) (Parser, error)
	Printer
}

// Recognizer is a format that is known by how its inputs begin.
type Recognizer interface {
	// Recognize looks at the first bytes of an input, decompressed, of which it
	// is given at least [RecognizedBy], or all there are.
	Recognize(head []byte) bool
}

// Cutter finds where records end. It is what one goroutine does for all others,
// so it should look at as few bytes as it can.
//
// What ends a record must be visible in the bytes around its end, in no more
// than MaxTerminator of them.
type Cutter interface {
	// Begin looks at the first bytes of an input, of which it is given at least
	// three if there are as many. It tells how many of them belong to no record,
	// at most those it was given, and, if nothing in the input can be a
	// document, why.
	Begin(head []byte) (passed int, reject string)
	// Cut returns how many bytes at the beginning of data, which begins with a
	// record, are records with their ends, and how many these are; no more than
	// most, which is at least 1.
	Cut(data []byte, most int) (end, records int)
	// End returns the index behind the first end of a record in data that is
	// not within its first from bytes, or -1. Data may begin inside a record.
	End(data []byte, from int) int
	// Strip takes away what ends a record, which the last of an input may lack,
	// and tells whether the record is empty, and so none to count.
	Strip(record []byte) (raw []byte, empty bool)
}

// Framer is a format whose records begin with their length, or stand alone in an
// input. It finds records and leaves out what is no document, before it is copied.
type Framer interface {
	// Frames returns what finds the records of one input, none of which may be
	// longer than maxRecord bytes.
	Frames(maxRecord int) Frames
}

// Frames finds the records of one input, for one goroutine, which does so for all
// others: it looks at no more than it must.
//
// It sees an input in sections, one after the other. An input that is not
// compressed is one section. Of a compressed one, each member (gzip) or frame (zstd)
// that [Frames.Starts] begins another one, and so does what follows damage: a record
// never reaches from one section into the next.
type Frames interface {
	// Starts reports whether data is the beginning of a record, or of an input.
	// It sees at least [RecognizedBy] bytes, or all of a member.
	Starts(data []byte) bool
	// Begin says that what follows is another section.
	Begin()
	// Frame tells what stands at the beginning of data, which has at least one byte.
	Frame(data []byte, end SectionEnd) Frame
}

// SectionEnd tells how what a [Frames] sees ends.
type SectionEnd uint8

const (
	GoesOn SectionEnd = iota // there is more of the section, and it can be asked for
	Ends                     // the section ends here, and may be cut off
	Whole                    // the section ends here, and a checksum says so
)

// Frame is what stands at one place of an input. Either Need is set, or Pass.
type Frame struct {
	Need   int    // so many bytes are needed to tell; more than there are
	Take   int    // bytes of the document; 0 where there is none
	Pass   int    // bytes to go on by, at least Take unless Bad is set; may be more than there are
	Record bool   // a record begins here, and is numbered, be it a document or not
	Bad    string // the record is no document but a bad record for this reason; of Take, what is there is shown
	Alone  bool   // the document may become much longer when it is decoded
	Other  bool   // what is taken is no document, but is written as it came
	Number int64  // of the record in its input, where that is not the one behind the last; only of a [Numbered]
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

// Printer writes records, with their verdicts, to an output.
type Printer interface {
	// Keep writes a record as it came, with its end.
	Keep(w *output.Writer, raw []byte) error
	// Annotate writes a record with value, which is JSON, in its slot. Its
	// other bytes stay as they are.
	Annotate(w *output.Writer, raw []byte, at Slot, value []byte) error
	// Answer writes a record of nothing but the field and its value: the answer
	// to a record that is no document.
	Answer(w *output.Writer, field string, value []byte) error
}
