package index

import (
	"math"

	"github.com/firstseen/firstseen/docmap"
)

// What a side table takes of disk: for a key that is not in a run yet, repeats
// included, with the page that its chunk does not fill; for an entry of a run, with
// what a merge writes before it frees anything; for a document beside its id; and for
// what is written anew with each checkpoint.
const (
	diskPerPending = 9.2
	diskPerEntry   = 15
	diskPerDoc     = 110 // of which its sketch is up to 69
	diskFixed      = 512 << 10
)

// TableDisk is the most disk, in bytes, that a side table of so many documents takes:
// keys is what they have in all, repeats included, entries is what is kept of them, a
// key with up to 8 documents; ids are idBytes long in the mean. Keys become runs when
// there are memtable entries, 0 for the default.
func TableDisk(docs, keys, entries, idBytes float64, memtable int) uint64 {
	if memtable <= 0 {
		memtable = docmap.DefaultMemtableKeys
	}
	most, total := float64(memtable), diskFixed+docs*(diskPerDoc+1.125*idBytes)
	// Until the first run is made all keys are pending, and their pages are free
	// later. The numbers may be estimates: near that both are counted.
	if entries < most/2 && docs < most/8 {
		total += keys * diskPerPending
	} else {
		flush := min(1, most/max(entries, 1))
		total += keys*flush*diskPerPending + entries*diskPerEntry
	}
	// The file grows by a sixteenth, and by no more than 32 MiB.
	return uint64(math.Ceil(total + min(total/16, 32<<20)))
}
