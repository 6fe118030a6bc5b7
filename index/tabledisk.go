package index

import (
	"math"

	"github.com/firstseen/firstseen/docmap"
)

// The disk of a side table in bytes. A pending key, repeats included, counts with its share of a page
// that its chunk does not fill. An entry of a run counts with the space of a merge. A document counts
// without its id. The rest is rewritten with each checkpoint.
const (
	diskPerPending = 9.2
	diskPerEntry   = 15
	diskPerDoc     = 110 // with up to 69 of its sketch
	diskFixed      = 512 << 10
)

// TableDisk returns the largest size in bytes of a side table with so many documents. keys counts all
// their keys, repeats included. entries counts the stored pairs of key and document, at most 8 for a
// key. idBytes is the mean length of an id. Keys become a run at memtable entries, 0 for the default.
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
