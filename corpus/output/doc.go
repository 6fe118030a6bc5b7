// Package output writes records to files. A [Writer] compresses them by the ending of the file
// name, and names the file when it is complete. A [Tree] is a folder of such files, one for each
// input or of a fixed size. [CheckOutputs] rejects conflicts with inputs, indexes and each other.
//
// The bytes of an output depend only on the records and the calls of [Writer.Sync], never on timing
// or the number of processors.
package output
