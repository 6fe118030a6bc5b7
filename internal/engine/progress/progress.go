// Package progress draws the progress of runs and checks while standard error is a terminal.
package progress

import (
	"fmt"
	"io"
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
	line := func(w io.Writer, stat decor.Statistics) (err error) {
		before, after, room := words(live, total, time.Since(start), stat.AvailableWidth)
		fmt.Fprint(w, before) // to a buffer
		if stat.AvailableWidth, stat.RequestedWidth = room, 0; room >= leastBar && total > 0 {
			err = bar.Fill(w, stat)
		}
		fmt.Fprint(w, after)
		return err
	}
	return bars.MustAdd(total, mpb.BarFillerFunc(line), mpb.BarFillerTrim(), mpb.BarRemoveOnComplete())
}

// leastBar is the width of the shortest bar, in columns, with its ends.
const leastBar = 6

// words returns what a line says before and after its bar, and the columns for that. If not all
// fits, the bar goes, then documents a second, the share of copies, and the amount read.
func words(live *pipeline.Live, total int64, elapsed time.Duration, columns int) (before, after string, room int) {
	docs, removed, stored := live.Documents.Load(), live.Removed.Load(), live.Stored.Load()
	read, left := fmt.Sprintf("% .1f read", decor.SizeB1024(stored)), ""
	if total > 0 {
		read = fmt.Sprintf("% .1f / % .1f", decor.SizeB1024(stored), decor.SizeB1024(total))
	}
	if total > 0 && stored > 0 && stored < total {
		left = fmt.Sprintf("  %v left", time.Duration(float64(elapsed)*float64(total-stored)/float64(stored)).Round(time.Second))
	}
	copies := fmt.Sprintf("  %.1f%% copies", 100*float64(removed)/float64(max(docs, 1)))
	all := fmt.Sprintf("  %.0f docs/s", float64(docs)/max(elapsed.Seconds(), 1e-3)) + copies + left
	if room = columns - len(read) - 1 - len(all); room >= 0 {
		return read + " ", all, room
	}
	for _, after := range []string{copies + left, left} {
		if len(read)+len(after) <= columns {
			return read, after, 0
		}
	}
	return "", left, 0
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
