// Package sizes forecasts the disk space and memory of an index.
package sizes

import (
	"math"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/index/filterlog"
)

// WindowMemory returns the memory of a window of docs documents: their times, and those of the
// slice dropped next.
func WindowMemory(docs uint64) uint64 { return 4*(docs+docs/8) + 16<<20 }

// RunMemory returns the most memory in bytes for look-ups in the runs of a table of docs documents,
// each with keysPerDoc keys and an id.
func RunMemory(docs, keysPerDoc float64) uint64 {
	return uint64(docs * (keysPerDoc + 1) * docmap.EntryMemory)
}

// StreamDisk returns the largest size in bytes of a filter-only index while a stream is added.
func StreamDisk(s bloomstore.Shape) uint64 {
	return filterlog.Disk(s, method.WholeKeys+feature.MaxSegments)
}

// The disk space of a side table in bytes. A pending key, repeats included, counts with its share
// of page space left empty. An entry of a run counts with the space of a merge. A document counts
// without its id. The rest is rewritten with each checkpoint.
const (
	diskPerPending = 9.2
	diskPerEntry   = 15
	diskPerDoc     = 110 // with up to 69 of its sketch
	diskFixed      = 512 << 10
)

// TableDisk returns the largest size in bytes of a side table of docs documents. keys counts their
// keys, repeats included. entries counts the stored pairs of key and document, at most 8 per key.
// idBytes is the mean length of an id. memtable keys make a run, 0 for the default.
func TableDisk(docs, keys, entries, idBytes float64, memtable int) uint64 {
	if memtable <= 0 {
		memtable = docmap.DefaultMemtableKeys
	}
	most, total := float64(memtable), diskFixed+docs*(diskPerDoc+1.125*idBytes)
	// Until the first run is written, all keys are pending, and their pages are free later. The
	// numbers may be estimates, so near that point both are counted.
	if entries < most/2 && docs < most/8 {
		total += keys * diskPerPending
	} else {
		flush := min(1, most/max(entries, 1))
		total += keys*flush*diskPerPending + entries*diskPerEntry
	}
	// The file grows by a sixteenth at a time, and at most 32 MiB.
	return uint64(math.Ceil(total + min(total/16, 32<<20)))
}
