// Package parquet reads and writes Apache Parquet files
// (github.com/apache/parquet-format, version 2.11), each row of which is a document.
//
// A file is read at random, column by column, page by page, and its rows are put
// together again: a record is a row, and a place its row group and its number in that.
// Only the columns of text and id are read unless rows are to be written again.
//
// A file that is written has the schema and the metadata of the one that was read, as
// they stand there. Each frame of a [corpus.Writer] is a row group, with its description
// behind it, so that a file can be gone on with; see [enclosure].
//
// Nothing in a file is believed before it is checked. Memory is that of a page and a
// dictionary for each column that is read, see [Memory]; work is bounded by what a file
// holds and is decompressed to, see [corpus.Limits].
//
// Reader and writer are our own, because github.com/parquet-go/parquet-go (0.32) allocates
// for a page whatever its header claims, up to 2 GiB, before a byte is decompressed; has a
// fixed table of codecs, without the LZ4 of old files and with no way to add it; and reads
// pages with no place to count what they are expanded to.
package parquet
