package cli

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// errUnsound is the outcome of a check that found damage.
var errUnsound = errors.New("it is not sound; what helps stands with each finding")

// checking are the flags of firstseen index check.
type checking struct {
	printed
	rebuild, quiet bool
}

func newCheckCommand() *cobra.Command {
	var f checking
	cmd := onIndex("index-check", noArgs, f.run)
	fs := cmd.Flags()
	fs.BoolVar(&f.rebuild, "rebuild", false, "make the filter anew if it is missing, old or damaged")
	f.printed.register(fs)
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress on standard error")
	return cmd
}

func (f *checking) run(cmd *cobra.Command, dir string, _ []string) error {
	progress, stop := f.progress(cmd.ErrOrStderr())
	found, err := index.Check(cmd.Context(), dir, index.CheckOptions{
		Rebuild: f.rebuild, State: pipeline.LedgerName, Progress: progress,
	})
	stop()
	if err != nil {
		return err
	}
	if err = f.print(cmd, found, func() string { return checkedText(found) }); err == nil && !found.Sound {
		err = fmt.Errorf("index %s: %w", dir, errUnsound)
	}
	return err
}

// checkProgress draws a bar while standard error is a terminal. stop removes it.
func (f *checking) progress(stderr io.Writer) (progress func(string, uint64, uint64), stop func()) {
	if f.quiet || terminalOf(stderr) == nil {
		return nil, func() {}
	}
	var step atomic.Value
	step.Store("")
	bars := mpb.New(mpb.WithOutput(stderr), mpb.WithRefreshRate(progressInterval))
	bar := bars.New(0, mpb.BarStyle(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return "reading the " + step.Load().(string) + " " })),
		mpb.BarRemoveOnComplete(),
	)
	progress = func(name string, done, of uint64) {
		step.Store(name)
		// One more than there is: a full bar would be over.
		bar.SetTotal(int64(of)+1, false)
		bar.SetCurrent(int64(done))
	}
	return progress, func() {
		bar.Abort(true)
		bars.Wait()
	}
}

// mostFindings of a file are printed for people.
const mostFindings = 20

func checkedText(c *index.Checked) string {
	out := fmt.Sprintf("scheme   %s\n", c.Scheme)
	if t := c.Table; t != nil {
		out += tableText(t)
	}
	if f := c.Filter; f != nil {
		out += fmt.Sprintf("filter   %s, %d of %d keys\n", sizeText(f.Bytes), f.Items, f.Capacity)
	}
	if c.Unfinished {
		out += "run      unfinished: run the same command again to finish it\n"
	}
	counts := map[string]int{}
	for _, f := range c.Findings {
		counts[f.File]++
		switch n := counts[f.File]; {
		case n <= mostFindings:
			out += fmt.Sprintf("%s: %s: %s; %s\n", f.File, f.State, f.What, f.Remedy)
		case n == mostFindings+1:
			out += fmt.Sprintf("%s: there is more; --json tells all\n", f.File)
		}
	}
	if c.Rebuilt {
		out += "the filter was made anew from the table\n"
	}
	if c.Sound {
		out += "sound\n"
	}
	return out
}
