package forecast

import (
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/parquet"
)

// These constants bound the memory of a run beside its filter, for lines up to 16 MiB and windows
// up to 8 MiB. A longer line is in memory twice, as it came and as its text, which differs if it
// has escapes. Nothing else is then in flight. A large page is in memory a third time, decoded with
// its tags; the rest of the allowance covers that. A larger window adds its excess.
const (
	memoryBeside     = 256 << 20
	memoryFilterOnly = 168 << 20
	OrdinaryRecord   = 16 << 20
	OrdinaryWindow   = 8 << 20
)

// Memory returns the most bytes of a run beside its filter, for any inputs, outputs and jobs.
func Memory(c corpus.SourceConfig, filterOnly bool) uint64 {
	beside := int64(memoryBeside)
	if filterOnly {
		beside = memoryFilterOnly
	}
	return uint64(beside + 2*max(0, int64(c.MaxRecord)-OrdinaryRecord) + WindowBeyond(c.MaxWindow))
}

// parquetWritten is the memory for writing Parquet in addition to that for other formats. It covers
// rows of frames by columns, and their pages, for each compressed output.
const parquetWritten = 130 << 20

// MemoryOfParquet returns the most further bytes of a run that rewrites the rows of Parquet.
func MemoryOfParquet(found corpus.Format) uint64 {
	if _, ok := found.(parquet.Format); !ok {
		return 0
	}
	return parquet.Memory + parquetWritten
}

// WindowBeyond returns the bytes of a window beyond those of ordinary inputs.
func WindowBeyond(window int64) int64 { return max(0, window-OrdinaryWindow) }
