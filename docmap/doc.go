// Package docmap keeps, on disk, which documents hold which 64-bit keys: the
// side table beside a filter, asked when the filter says a key was seen.
//
// A Table is one file. The owner adds documents, each with an id, data of its own
// and keys, looks keys up, and makes a Checkpoint from time to time, which makes
// everything durable in one transaction together with values of the owner's own:
//
//	t, err := docmap.Open(path, docmap.Options{Scheme: "fs1-u15b-xxh3-n50-w10"})
//	first, err := t.Add(ids, data, keys)
//	err = t.Lookup(keys[0], holders, n)
//	err = t.Records(holders[:n[0]], ids, data)
//	if t.Full() {
//		err = t.Checkpoint(map[string][]byte{"read": progress})
//	}
//	err = t.Close()
//
// Recent keys are in memory, about 170 MB in all with the defaults, and
// in the file in their order of arrival. When there are enough they are sorted
// into a run of packed bins; runs are merged so that there are few to look
// into. Writing is sequential, and an entry takes about 8 bytes of the file.
// docs/format.md describes the file.
//
// What it promises:
//
//   - A key gives its earliest 8 documents, in order; documents beyond are not
//     kept. The answer is exact: there are no false ones.
//   - After a crash at any moment the file is as at the last checkpoint.
//   - The same documents, added in the same order, with a checkpoint when Full
//     says so, give the same runs with the same bytes.
//   - Damage to the file is an error (ErrDamaged), never another answer. Every
//     checksum is verified before what it covers is used for the first time.
//
// Keys have to be uniform hashes. Others are kept correctly, but time and
// space then depend on how they cluster.
//
// A Table is for one goroutine. One process writes a table at a time. Several can have it
// open with Options.ReadOnly, and beside one that writes, where ReadBesideWriter is true:
// each has the last transaction before it came.
package docmap
