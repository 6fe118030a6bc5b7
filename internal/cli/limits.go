package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/internal/engine/pipeline/forecast"
)

// decodersFor returns the number of goroutines that decode compressed inputs ahead, and the memory
// outside the heap, in bytes, for their data. A run without a table has no memory for that, and
// needs some for the program itself.
func decodersFor(jobs int, filterOnly bool) (decoders int, outside int64) {
	if filterOnly {
		return 0, 8 << 20
	}
	if decoders = min(jobs, processors()); decoders > 1 {
		outside = compress.AheadMemory / 2
	}
	return decoders, outside
}

// processors is the number of processors; tests set another.
var processors = runtime.NumCPU

// processors returns the number of processors for a run. One job over web archives has a second, if
// there is one: decompressing and finding the records takes half of the time.
func (f *dedupOptions) processors() int {
	if f.found != nil && f.found.Kind() == corpus.ByFrames && f.Workers == 1 {
		return min(2, processors())
	}
	return f.Workers
}

// jobsPerProcessor limits the goroutines: more gain nothing, and each takes memory.
const jobsPerProcessor = 4

// checkJobs returns the number of jobs to use for -j, and reports it if it differs.
func checkJobs(jobs int, stderr io.Writer) int {
	most := jobsPerProcessor * processors()
	if jobs <= most {
		return jobs
	}
	fmt.Fprintf(stderr, "firstseen: -j %d is more than %d times the %d processors; %d is used, with the same output\n",
		jobs, jobsPerProcessor, processors(), most)
	return most
}

// heapBudget is the size of the Go heap, in bytes, beyond which the collector works harder. It
// excludes the filter, the table's memory and lines longer than a chunk. The rest of a run takes
// some 30 MiB, and 50 more if two outputs are compressed.
const heapBudget = 112 << 20

// limitHeap keeps a run within the forecast of firstseen plan, unless GOMEMLIMIT is set. A large
// window stays in memory while its input is read, and raises the limit. Otherwise the collector
// would run all the time. Memory outside the heap lowers the limit.
func limitHeap(maxWindow, outside int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapBudget + forecast.WindowBeyond(maxWindow) - outside)
	}
}
