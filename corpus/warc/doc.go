// Package warc reads web archives: WARC of version 0.17 to 1.1 (ISO 28500), including the WET of
// Common Crawl, and ARC of version 1.
//
// Documents are records of the types response, resource and conversion with a wanted status and
// media type. All other records are passed over: requests, metadata, revisits without content of
// their own, and wget's resources of its own logs. So are records of an ARC under other protocols
// than HTTP.
//
// Real files break the rules, so the reader is lenient:
//
//   - A record is as long as its Content-Length says if another record begins behind it, or if the
//     input or its compressed member ends there. Otherwise the record ends at the next header,
//     inside it or behind it. A record longer than the limit is not held to its end: a whole header
//     in it ends it, unless it is an archive itself.
//   - Header lines may be folded and end in LF, URIs may stand in angle brackets and have spaces,
//     blank lines may be missing.
//   - A body without chunks or compression is taken unchanged, even if its header announces them.
//   - Bytes outside any record are one bad record up to the next header, and so is a damaged member.
//
// Kept records are written byte for byte. In the place of a removed one [Format.Instead] writes a
// revisit record, if its payload equals an earlier one's. [Format.AppendWitness] makes the data to
// store for that. Digests in headers are not trusted.
package warc
