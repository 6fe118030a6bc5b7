// Package jsonl reads and writes JSON lines: files with one JSON object on each line. One field of
// it is the text of a document. [Format] is for [corpus.NewSource] and a run.
//
// Its promises:
//
//   - JSON is read strictly: everything refused by encoding/json is refused, and so are invalid
//     UTF-8 and a wanted field that occurs twice. A lone surrogate escape becomes U+FFFD, as in
//     encoding/json.
//   - A line ends with '\n'; a '\r' before that belongs to it. Blank lines are no records, but they
//     are counted.
//   - An annotation is added at the end of the object; all other bytes of the
//     line, white space included, stay as they are.
package jsonl
