// Package corpus turns files into documents and verdicts into files.
//
// On the way in, [Expand] makes a list of inputs from files, globs,
// directories and "-", a [Source] reads them one after the other as chunks of
// whole lines (plain, gzip or zstd, recognised by content), and a [Parser]
// turns a chunk into records. The source belongs to one goroutine; chunks may
// be parsed by as many goroutines as there are parsers, which is how one large
// file is read in parallel:
//
//	inputs, passed, err := corpus.Expand([]string{"crawl/"})
//	src := corpus.NewSource(inputs, corpus.SourceConfig{})
//	for src.Next(ctx, chunk) == nil {
//		for rec := range parser.Parse(chunk) {
//			// rec.ID, rec.Text, or rec.Err
//		}
//	}
//
// On the way out, a [Writer] takes lines, compresses them by the ending of the
// file's name, and makes the file appear under its name only when it is whole.
// [Annotate] adds a field to a line without touching its other bytes.
//
// What it promises:
//
//   - The records are those of the input, whatever the chunk size: where a
//     chunk ends has no influence on any record.
//   - A bad line is a value ([BadRecord]) with file, line and reason. Only
//     input and output themselves can fail with an error.
//   - JSON is read strictly: what encoding/json refuses is refused, and so is
//     invalid UTF-8 and a wanted field that occurs twice. A lone surrogate
//     escape becomes U+FFFD, as in encoding/json.
//   - The bytes of an output depend only on the lines written and on where
//     [Writer.Sync] was called, never on timing or the number of processors.
package corpus
