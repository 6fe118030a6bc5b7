package cli

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/pipeline"
)

func registerWindow(fs *pflag.FlagSet, w *pipeline.Window) {
	inSeconds(fs, &w.Seconds, "window", "documents count for this long, such as 48h or 2d, and no longer")
}

func (f *options) registerPlanned(fs *pflag.FlagSet) {
	inSeconds(fs, &f.Window.Seconds, "window", "plan for documents that count for so long, such as 48h or 2d")
	fs.Float64Var(&f.rate, "rate", 0, "with --window: documents that are kept a second")
}

// planned is how many documents are in the window to be planned for, 0 without one.
func (f *options) planned() (uint64, error) {
	switch {
	case f.Window.Seconds == 0 && f.rate == 0:
		return 0, nil
	case f.Window.Seconds == 0:
		return 0, errors.New("plan --rate: give --window too, the time for which documents count, such as 48h")
	case f.docs != "":
		return 0, errors.New("plan --window: give --rate, the documents a second, in place of --docs: an index with a window has only those of that time")
	case !(f.rate > 0):
		return 0, errors.New("plan --window: give --rate too, how many documents are kept a second")
	}
	n := math.Ceil(f.rate * float64(f.Window.Seconds))
	if n > math.MaxUint32 {
		return 0, fmt.Errorf("plan: %.0f documents in a window, and no more than %d can be: give a shorter --window", n, uint32(math.MaxUint32))
	}
	return uint64(n), nil
}

// inWindow adds the costs of a window: times of the documents and, in the side table, the slices
// about to be dropped and one being merged.
func (c *forecast) inWindow(seconds uint32) {
	c.Window = float64(seconds)
	c.MemoryBytes = index.WindowMemory(c.Documents)
	c.DiskBytes += c.TableBytes / 2
	c.TableBytes += c.TableBytes / 2
}

// checkTimes finds whether the documents carry their times, by the format of the inputs.
func (f *options) checkTimes() error {
	format := f.found
	if format == nil {
		format = f.formats.all()[f.formats.chosen] // of a pipe; nil if it is unknown
	}
	switch format.(type) {
	case warc.Format:
		f.Window.Told = f.Window.Seconds > 0
	case jsonl.Format, jsonarray.Format, csv.Format, nil:
	default:
		if f.Window.Told {
			return usageError{fmt.Errorf("--format auto:time=FIELD: documents of %s have no field of a time that is read: leave it out, for the time of arrival", format.Name())}
		}
	}
	return nil
}
