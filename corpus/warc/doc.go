// Package warc reads web archives: WARC of version 0.17 to 1.1 (ISO 28500), of which
// the WET of Common Crawl is one, and ARC of version 1.
//
// Documents are what records of the types response, resource and conversion say, where
// their status and media type are among those asked for. All other records are passed
// over: requests, metadata, revisits, which have no content of their own, and resources
// that wget makes of its own logs. So are the records of an ARC that are of other
// protocols than HTTP.
//
// Files as they are met break the rules. What is done about that:
//
//   - A record is as long as its Content-Length says if behind it another begins, or the
//     input or its compressed member ends. Else the next header is looked for, in it and
//     then behind it: the record ends there. One longer than the limit is not held until
//     its end is seen: a whole header in it ends it, unless it is an archive itself.
//   - Header lines may be folded and end in LF, URIs may have angle brackets around them
//     and spaces in them, blank lines may be missing.
//   - A body that is not chunked, or not compressed, though its header says so, is taken
//     as it is.
//   - What is no record is a bad record up to the next header, and so is a damaged
//     member, once.
//
// Kept records are written byte for byte. In the place of a removed one [Format.Instead]
// writes a revisit record, if its payload is that of an earlier one, of which
// [Format.AppendWitness] says what has to be stored; it trusts no digest that a header
// states.
package warc
