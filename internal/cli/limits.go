package cli

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/parquet"
)

// registerLimits registers the flags that limit the cost of an input.
func (f *options) registerLimits(fs *pflag.FlagSet) {
	c := &f.source
	c.MaxRecord, c.MaxWindow = corpus.DefaultMaxRecord, compress.DefaultMaxWindow
	inBytes(fs, &c.MaxRecord, "max-record", leastLimit, mostLimit, "longest line; a longer one is a bad record")
	inBytes(fs, &c.MaxWindow, "max-window", leastLimit, mostLimit, "largest window of a zstd input (zstd --long); it is held in memory")
	ratio := func(text string) (err error) {
		if c.MaxRatio, err = strconv.Atoi(text); err != nil || c.MaxRatio < 0 {
			return want("0 or more")
		}
		if c.MaxRatio == 0 {
			c.MaxRatio = -1 // no limit, as 0 is the default of package corpus
		}
		return nil
	}
	readBy(fs, ratio, "max-ratio", strconv.Itoa(compress.DefaultMaxRatio), "refuse an input that expands more than this many times, to over 1 GiB; 0: never")
	fs.Int64Var(&f.MaxBad, "max-bad", -1, "stop at more bad records than this; 0 stops at the first, -1 never stops")
	fs.IntVar(&f.maxUnreadable, "max-unreadable", 0, "pass over this many inputs that cannot be read, -1 over any number")
	refine(fs, nil, "limit", "record=64MiB (a longer one is bad), window=128MiB (of zstd --long, held in memory), ratio=1000 (expansion of an input to over 1 GiB; 0: any), bad=-1 (stop at more bad records than this; -1: never), unreadable=0 (pass over this many inputs that cannot be read; -1: any number)")
}

// The least and the most for limits in bytes. A line of leastLimit can still hold a document, and
// an int can still count mostLimit.
const (
	leastLimit = 1 << 10
	mostLimit  = min(1<<40, math.MaxInt/4)
)

// These constants bound the memory of a run beside its filter, for lines up to 16 MiB and windows
// up to 8 MiB. A longer line is in memory twice, as it came and as its text, which differs if it
// has escapes. Nothing else is then in flight. A large page is in memory a third time, decoded with
// its tags; the rest of the allowance covers that. A larger window adds its excess.
const (
	memoryBeside     = 256 << 20
	memoryFilterOnly = 168 << 20
	ordinaryRecord   = 16 << 20
	ordinaryWindow   = 8 << 20
)

// memoryOf returns the most bytes of a run beside its filter, for any inputs, outputs and jobs.
func memoryOf(c corpus.SourceConfig, filterOnly bool) uint64 {
	beside := int64(memoryBeside)
	if filterOnly {
		beside = memoryFilterOnly
	}
	return uint64(beside + 2*max(0, int64(c.MaxRecord)-ordinaryRecord) + windowBeyond(c.MaxWindow))
}

// parquetWritten is the memory for writing Parquet in addition to that for other formats. It covers
// rows of frames by columns, and their pages, for each compressed output.
const parquetWritten = 130 << 20

// memoryOfParquet returns the most further bytes of a run that rewrites the rows of Parquet.
func memoryOfParquet(found corpus.Format) uint64 {
	if _, ok := found.(parquet.Format); !ok {
		return 0
	}
	return parquet.Memory + parquetWritten
}

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

func windowBeyond(window int64) int64 { return max(0, window-ordinaryWindow) }

// processors is the number of processors; tests set another.
var processors = runtime.NumCPU

// processors returns the number of processors for a run. One job over web archives has a second, if
// there is one: decompressing and finding the records takes half of the time.
func (f *options) processors() int {
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
