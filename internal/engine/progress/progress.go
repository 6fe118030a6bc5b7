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

// OfRun draws a bar for a run over inputs. stop removes it.
func OfRun(stderr io.Writer, live *pipeline.Live, inputs []input.Input) (stop func()) {
	if terminal.Of(stderr) == nil {
		return func() {}
	}
	bars := mpb.New(mpb.WithOutput(stderr), mpb.WithRefreshRate(interval))
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
	start := time.Now()
	total, known := input.TotalSize(inputs)
	style, read := mpb.BarFillerBuilder(mpb.BarStyle()), decor.CountersKibiByte("% .1f / % .1f")
	if !known {
		total, style, read = 0, mpb.NopStyle(), decor.CurrentKibiByte("% .1f read")
	}
	return bars.New(total, style,
		mpb.PrependDecorators(read),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return liveText(live, total, time.Since(start)) })),
		mpb.BarRemoveOnComplete(),
	)
}

func liveText(live *pipeline.Live, total int64, elapsed time.Duration) string {
	docs, removed, stored := live.Documents.Load(), live.Removed.Load(), live.Stored.Load()
	s := fmt.Sprintf(" %.0f docs/s", float64(docs)/max(elapsed.Seconds(), 1e-3))
	if docs > 0 {
		s += fmt.Sprintf("  %.1f%% removed", 100*float64(removed)/float64(docs))
	}
	s += fmt.Sprintf("  filter %.1f%% full", 100*float64(live.LoadPerMillion.Load())/1e6)
	if total > 0 && stored > 0 && stored < total {
		left := time.Duration(float64(elapsed) * float64(total-stored) / float64(stored))
		s += fmt.Sprintf("  %s left", left.Round(time.Second))
	}
	return s
}

// OfCheck draws a bar for a check, which calls progress. stop removes it.
func OfCheck(stderr io.Writer) (progress func(string, uint64, uint64), stop func()) {
	if terminal.Of(stderr) == nil {
		return nil, func() {}
	}
	var step atomic.Value
	step.Store("")
	bars := mpb.New(mpb.WithOutput(stderr), mpb.WithRefreshRate(interval))
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
