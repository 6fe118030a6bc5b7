// Package corpus turns files into documents and verdicts into files.
//
// On the way in, [input.Expand] makes a list of inputs from files, globs, directories, archives
// and "-", a [Source] reads them one after the other as blocks of whole records
// (plain, gzip or zstd, recognised by content), and a [Parser] turns a block into
// documents. What a record is, and what it says, a [Format] knows, such as that
// of package jsonl. The source belongs to one goroutine; blocks may be parsed by
// as many goroutines as there are parsers, which is how one large file is read in
// parallel:
//
//	inputs, passed, err := input.Expand([]string{"crawl/"}, format.Endings())
//	src := corpus.NewSource(inputs, format, corpus.SourceConfig{})
//	for src.Next(ctx, block) == nil {
//		for doc := range parser.Parse(block) {
//			// doc.ID, doc.Text, or doc.Bad
//		}
//	}
//
// On the way out, the format writes documents to an [output.Writer], as they came or with
// their verdict. It compresses them by the ending of the file's name, and makes
// the file appear under its name only when it is whole.
//
// What it promises:
//
//   - The documents are those of the input, whatever the block size: where a
//     block ends has no influence on any document.
//   - A bad record is a value ([BadRecord]) with file, place and reason. Only
//     input and output themselves can fail with an error.
//   - Reading goes on at any [Place] that a document had, and finds out if what
//     stands before it is not what was read.
//   - The bytes of an output depend only on the records written and on where
//     [output.Writer.Sync] was called, never on timing or the number of processors.
package corpus
