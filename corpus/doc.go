// Package corpus turns files into documents and verdicts into files.
//
// [input.Expand] lists inputs from files, globs, directories, archives and "-". A [Source] reads
// them in order as blocks of whole records: plain, gzip or zstd, recognised by content. A [Parser]
// turns a block into documents. A [Format], such as that of package jsonl, defines the records. The
// source belongs to one goroutine. Each parser can have its own, to parse a large file in parallel:
//
//	inputs, passed, err := input.Expand([]string{"crawl/"}, format.Endings())
//	src := corpus.NewSource(inputs, format, corpus.SourceConfig{})
//	for src.Next(ctx, block) == nil {
//		for doc := range parser.Parse(block) {
//			// doc.ID, doc.Text, or doc.Bad
//		}
//	}
//
// The format writes documents to an [output.Writer], unchanged or with their verdict. The writer
// compresses them by the ending of the file name. The file gets its name only when it is complete.
//
// The package promises:
//
//   - The documents are the same for any block size.
//   - A bad record is a value ([BadRecord]) with file, place and reason. Only input and output
//     themselves fail with an error.
//   - Reading resumes at the [Place] of any document, and detects a change of the input before it.
//   - The bytes of an output depend only on the records and on the calls of [output.Writer.Sync]
//     between them. Timing and the number of processors do not matter.
package corpus
