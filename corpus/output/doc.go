// Package output writes records into files. A [Writer] compresses them by the ending of the
// file's name, and gives the file its name when it is whole. A [Tree] is a folder of such files,
// one for each input or of a size. [CheckOutputs] refuses outputs in conflict with inputs, with
// an index or with each other.
//
// It promises bytes: they depend on the records written and on the calls of [Writer.Sync],
// never on timing or the number of processors.
package output
