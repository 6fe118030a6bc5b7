// Package jsonl reads and writes JSON lines: files with one JSON object in each
// line, of which one field is the text of a document. [Format] is what
// [corpus.NewSource] and a run are given.
//
// What it promises:
//
//   - JSON is read strictly: what encoding/json refuses is refused, and so is
//     invalid UTF-8 and a wanted field that occurs twice. A lone surrogate
//     escape becomes U+FFFD, as in encoding/json.
//   - A line ends with '\n'; a '\r' before that belongs to it. Lines of nothing
//     but white space are no records, but they are counted.
//   - An annotation is added at the end of the object; all other bytes of the
//     line, white space included, stay as they are.
package jsonl
