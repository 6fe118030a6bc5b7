package corpus

import "iter"

// Format is how the documents of a file are written: how its records are told
// apart, what a record says, and how one is written again. [Source] does for all
// formats what is not theirs: inputs one after the other, compression, memory,
// limits, going on at a place.
//
// A format is a value that any number of goroutines may use at once. How to add
// one is told in docs/extend.md.
type Format interface {
	// Endings are those of names by which a directory's files are known to be
	// of this format, such as ".jsonl"; at least one.
	Endings() []string
	// Noun is what people call a record: "line".
	Noun() string

	Cutter
	// NewParser returns a parser for one goroutine. If annotate is not empty,
	// every record is to be answered with a field of that name: the parser then
	// hands out empty records too, finds the Slot of each document, and a
	// document that cannot have the field is bad. A format that cannot be
	// annotated at all returns an error.
	NewParser(annotate string) (Parser, error)
	Printer
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
	// Terminator is what ends a record. It belongs behind the last of an input
	// that lacks it when something shall follow.
	Terminator() []byte
	// Strip takes away what ends a record, which the last of an input may lack,
	// and tells whether the record is empty, and so none to count.
	Strip(record []byte) (raw []byte, empty bool)
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
	// Keep writes a record as it came, with its end, the Terminator. Where many
	// records are kept they are written by [Writer.WriteRecords] instead.
	Keep(w *Writer, raw []byte) error
	// Annotate writes a record with value, which is JSON, in its slot. Its
	// other bytes stay as they are.
	Annotate(w *Writer, raw []byte, at Slot, value []byte) error
	// Answer writes a record of nothing but the field and its value: the answer
	// to a record that is no document.
	Answer(w *Writer, field string, value []byte) error
}
