// Package docmap keeps, on disk, which documents hold which 64-bit keys. It is the side
// table beside a filter: when the filter has seen a key before, the table names the documents.
//
// A Table is one file. The owner adds documents, each with an id, data of its own and keys,
// and looks keys up. From time to time it makes a Checkpoint. That makes everything durable
// in one transaction, together with values of the owner's own:
//
//	t, err := docmap.Open(path, docmap.Options{Scheme: "fs1-u15b-xxh3-n50-w10"})
//	first, err := t.Add(ids, data, keys, nil, nil)
//	err = t.Lookup(keys[0], holders, n)
//	err = t.Records(holders[:n[0]], ids, data)
//	if t.Full() {
//		err = t.Checkpoint(map[string][]byte{"read": progress})
//	}
//	err = t.Close()
//
// Recent keys are in memory, about 170 MB in all with the defaults, and in the file in order
// of arrival. A full memory table is sorted into a run of packed bins. Runs are merged, so
// that a look-up searches few of them. Writing is sequential, and an entry takes about 8
// bytes of the file. docs/format.md describes the file.
//
// Promises:
//
//   - A look-up returns a key's earliest 8 documents, in order; later ones are not kept. The
//     answer is exact: no document is named falsely.
//   - After a crash at any moment the file is as at the last checkpoint.
//   - The same documents, added in the same order with a checkpoint whenever Full says so,
//     give the same runs with the same bytes.
//   - Damage to the file is an error (ErrDamaged), never another answer. Every checksum is
//     verified before the first use of the bytes it covers.
//
// Keys must be uniform hashes. Others are kept correctly, but time and space then depend on
// how they cluster.
//
// A Table is for one goroutine. One process writes a table at a time. Several can read it with
// Options.ReadOnly when none writes it.
package docmap
