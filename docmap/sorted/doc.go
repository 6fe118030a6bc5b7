// Package sorted packs pairs of a 64-bit key and a document, in order, into bins of bytes. It
// finds the documents of a key in a bin, and unpacks bins again. It reads no files: the owner
// of the bins passes each when it is needed.
//
//	r := sorted.NewRun(sorted.DefaultDivision.Shape(sorted.LogFor(n), first, last), id, first)
//	b := sorted.Builder{Limit: 8}
//	b.In.Add(key, doc)                 // all entries of bin number 3, in any order
//	value, kept := b.Build(nil, r, 3)
//	bin, err := r.Open(3, value, true) // later: verified, remembered
//	docs, err = r.Find(docs[:0], &bin, key)
//
// Each of n entries takes 66 - log2(n) bits for its key, and the bits of its document's number
// within the run. All 64 bits of a key can be read back: answers are exact. No byte is used
// before its checksum is verified; a fault is a [Damage]. Keys must be uniform hashes; others
// are kept correctly, but take longer.
//
// # Format
//
// A run of 2^q buckets has 2^B bins, every one present, of 2^s sub-blocks of 2^k
// buckets, k being 7 but in tests:
//
//	s = min(6, q-k)           sub-blocks in a bin: 2^s
//	B = q-k-s                 bins: 2^B
//	l = 64-q                  low bits of a key
//	d = bits of (last-first)  bits of a document number, 0 to 32
//	w = 1+l+d                 bits of an entry
//
// From the top, the bits of a key are bin (B), sub-block (s), bucket (k), low (l). A
// bin, integers little-endian:
//
//	0         u64            checksum of what follows up to the sub-blocks
//	8         u32 × (2^s+1)  c: entries before each sub-block, and the total
//	12+4·2^s  sub-blocks     sub-block i starts (5+2^k/8)·i + ⌊c[i]·w/8⌋ bytes from here
//	end-8     8 bytes        zero, so that 8 bytes can be loaded anywhere
//
// A sub-block of n entries, sorted by key and then document, in bits from the least
// significant of the first byte:
//
//	32       checksum of the rest, up to the next sub-block
//	n + 2^k  for each bucket: a one for each of its entries, then a zero
//	n·l      low bits of each key
//	n·d      document number minus first of each entry
//
// Checksums are XXH3; that of a sub-block is the low half. Their seeds depend on the place of
// the bytes: id·2^32 + bin for the directory, plus (i+1)·2^56 for sub-block i. The bytes left
// before the next sub-block are zero.
package sorted
