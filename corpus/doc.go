// Package corpus turns files into documents and verdicts into files.
//
// On the way in, [input.Expand] makes a list of inputs from files, globs, directories, archives
// and "-". A [Source] reads them one after the other as blocks of whole records (plain, gzip or
// zstd, recognised by content), and a [Parser] turns a block into documents. A [Format], such as
// that of package jsonl, knows the records. The source belongs to one goroutine. Each parser can
// have a goroutine of its own, so one large file is read in parallel:
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
// the file appear under its name only when it is complete.
//
// Its promises:
//
//   - The documents are the same for any block size.
//   - A bad record is a value ([BadRecord]) with file, place and reason. Only
//     input and output themselves can fail with an error.
//   - Reading continues at the [Place] of any document, and notices a change of the input before it.
//   - The bytes of an output depend only on the records and on the calls of [output.Writer.Sync]
//     between them, never on timing or the number of processors.
package corpus
