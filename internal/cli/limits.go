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

// registerLimits registers the flags that bound how much an input can make a run take.
func registerLimits(fs *pflag.FlagSet, c *corpus.SourceConfig, maxBad *int64) {
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
	readBy(fs, ratio, "max-ratio", strconv.Itoa(compress.DefaultMaxRatio), "refuse an input that expands more than so many times to over 1 GiB; 0: never")
	fs.Int64Var(maxBad, "max-bad", -1, "stop at more bad records than this; 0 stops at the first, -1 never stops")
	refine(fs, nil, "limit", "record=64MiB (a longer one is bad), window=128MiB (of zstd --long, held in memory), ratio=1000 (expansion of an input to over 1 GiB; 0: any), bad=-1 (stop at more bad records than this; -1: never)")
}

// The least and the most that can be given for limits in bytes: a line of the one
// can still hold a document, and one of the other is still counted by an int.
const (
	leastLimit = 1 << 10
	mostLimit  = min(1<<40, math.MaxInt/4)
)

// These constants bound the memory of a run beside its filter. Lines of up to 16 MiB and windows of
// up to 8 MiB are included. A longer line is in memory twice, as it came and as its text, which
// differs if the line has escapes. Nothing else is then in flight. A large page is in memory a
// third time, decoded and still with its tags; the remaining allowance is enough for that. A larger
// window adds its excess.
const (
	memoryBeside     = 256 << 20
	memoryFilterOnly = 168 << 20
	ordinaryRecord   = 16 << 20
	ordinaryWindow   = 8 << 20
)

// memoryOf returns the memory of a run beside its filter, in bytes at most, for any input, any
// outputs and any number of jobs.
func memoryOf(c corpus.SourceConfig, filterOnly bool) uint64 {
	beside := int64(memoryBeside)
	if filterOnly {
		beside = memoryFilterOnly
	}
	return uint64(beside + 2*max(0, int64(c.MaxRecord)-ordinaryRecord) + windowBeyond(c.MaxWindow))
}

// parquetWritten is the memory for writing Parquet beyond that for other formats. It covers rows of
// frames by columns, and their pages, for each compressed output.
const parquetWritten = 130 << 20

// memoryOfParquet returns the further memory of a run over such inputs, in bytes at most, when it
// writes their rows again.
func memoryOfParquet(found corpus.Format) uint64 {
	if _, ok := found.(parquet.Format); !ok {
		return 0
	}
	return parquet.Memory + parquetWritten
}

// decodersFor returns how many goroutines decode compressed inputs ahead, and the memory of a run
// outside the heap, in bytes: their data waits there. Without a table there is no memory for that, and
// the program itself takes some of the little there is.
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

// processors is how many a run is given. One job over web archives has one more, if there
// is one: to decompress them and to find their records takes half of the time.
func (f *options) processors() int {
	if f.found != nil && f.found.Kind() == corpus.ByFrames && f.Workers == 1 {
		return min(2, processors())
	}
	return f.Workers
}

// jobsPerProcessor: more goroutines than this gain nothing, and each takes memory.
const jobsPerProcessor = 4

// checkJobs returns the number of jobs to use for -j and reports it if it differs.
func checkJobs(jobs int, stderr io.Writer) int {
	most := jobsPerProcessor * processors()
	if jobs <= most {
		return jobs
	}
	fmt.Fprintf(stderr, "firstseen: -j %d is more than %d times the %d processors; %d is used, with the same output\n",
		jobs, jobsPerProcessor, processors(), most)
	return most
}
