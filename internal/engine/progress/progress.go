// Package progress draws the progress of runs and checks while standard error is a terminal.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/terminal"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// interval is the time between updates of the bar, so documents cost nothing.
const interval = 200 * time.Millisecond

// barsOn returns the bars of a terminal, or nil if stderr is none. mpb draws only on a file.
func barsOn(stderr io.Writer) *mpb.Progress {
	f := terminal.Of(stderr)
	if f == nil {
		return nil
	}
	return mpb.New(mpb.WithOutput(f), mpb.WithRefreshRate(interval))
}

// OfRun draws a bar for a run over inputs. stop removes it.
func OfRun(stderr io.Writer, live *pipeline.Live, inputs []input.Input) (stop func()) {
	bars := barsOn(stderr)
	if bars == nil {
		return func() {}
	}
	bar := newBar(bars, live, inputs)
	go func() {
		for bar.IsRunning() {
			time.Sleep(interval)
			bar.SetCurrent(live.Stored.Load()) // does nothing if the bar was removed
		}
	}()
	return func() {
		bar.Abort(true)
		bars.Wait()
	}
}

// newBar returns a bar with the share read or, if a pipe has no total, only the amount read.
func newBar(bars *mpb.Progress, live *pipeline.Live, inputs []input.Input) *mpb.Bar {
	start, bar := time.Now(), mpb.BarStyle().Build()
	total, known := input.TotalSize(inputs)
	if !known {
		total = 0
	}
	line := func(w io.Writer, stat decor.Statistics) error {
		before, after, room := fit(words(live, total, time.Since(start)), stat.AvailableWidth)
		fmt.Fprint(w, before) // to a buffer
		if stat.AvailableWidth, stat.RequestedWidth = room, 0; room >= leastBar && total > 0 {
			if err := bar.Fill(w, stat); err != nil {
				return err
			}
		}
		_, err := fmt.Fprint(w, after)
		return err
	}
	return bars.MustAdd(total, mpb.BarFillerFunc(line), mpb.BarFillerTrim(), mpb.BarRemoveOnComplete())
}

// words returns what a line says: the amount read, documents a second, the share of copies and the
// time left, "" for what is unknown.
func words(live *pipeline.Live, total int64, elapsed time.Duration) (all [4]string) {
	docs, removed, stored := live.Documents.Load(), live.Removed.Load(), live.Stored.Load()
	all[0] = fmt.Sprintf("% .1f read", decor.SizeB1024(stored))
	if total > 0 {
		all[0] = fmt.Sprintf("% .1f / % .1f", decor.SizeB1024(stored), decor.SizeB1024(total))
	}
	all[1] = fmt.Sprintf("  %.0f docs/s", float64(docs)/max(elapsed.Seconds(), 1e-3))
	if docs > 0 {
		all[2] = fmt.Sprintf("  %.1f%% copies", 100*float64(removed)/float64(docs))
	}
	if total > 0 && stored > 0 && stored < total {
		left := time.Duration(float64(elapsed) * float64(total-stored) / float64(stored))
		all[3] = fmt.Sprintf("  %s left", left.Round(time.Second))
	}
	return all
}

// leastBar is the width of the shortest bar, in columns, with its ends.
const leastBar = 6

// fit returns the words before and after the bar, and the columns for it. If not all words fit, the
// bar goes, then documents a second, the share of copies and the amount read; the time left stays.
func fit(all [4]string, columns int) (before, after string, room int) {
	short := false
	for _, i := range []int{1, 2, 0} {
		if len(strings.Join(all[:], "")) > columns {
			all[i], short = "", true
		}
	}
	before, after = all[0], strings.Join(all[1:], "")
	if short {
		return before, after, 0
	}
	return before + " ", after, columns - len(before) - len(after) - 1
}

// OfCheck draws a bar for a check, which calls progress. stop removes it.
func OfCheck(stderr io.Writer) (progress func(string, uint64, uint64), stop func()) {
	bars := barsOn(stderr)
	if bars == nil {
		return nil, func() {}
	}
	var step atomic.Value
	step.Store("")
	bar := bars.New(0, mpb.BarStyle(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return "reading the " + step.Load().(string) + " " })),
		mpb.BarRemoveOnComplete(),
	)
	progress = func(name string, done, of uint64) {
		step.Store(name)
		// The total is one too high, because a full bar ends.
		bar.SetTotal(int64(of)+1, false)
		bar.SetCurrent(int64(done))
	}
	return progress, func() {
		bar.Abort(true)
		bars.Wait()
	}
}
