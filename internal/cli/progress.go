package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/internal/terminal"
)

// progressInterval is the time between updates of the bar, so documents cost nothing.
const progressInterval = 200 * time.Millisecond

// showProgress draws a bar while standard error is a terminal. stop removes it.
func (f *dedupOptions) showProgress(stderr io.Writer) (stop func()) {
	if f.quiet || terminal.Of(stderr) == nil {
		return func() {}
	}
	live := f.Live
	bars := mpb.New(mpb.WithOutput(stderr), mpb.WithRefreshRate(progressInterval))
	bar := f.newBar(bars, live)
	go func() {
		for bar.IsRunning() {
			time.Sleep(progressInterval)
			bar.SetCurrent(live.Stored.Load()) // does nothing if the bar was removed
		}
	}()
	return func() {
		bar.Abort(true)
		bars.Wait()
	}
}

// newBar returns a bar with the share read or, if a pipe has no total, only the amount read.
func (f *dedupOptions) newBar(bars *mpb.Progress, live *pipeline.Live) *mpb.Bar {
	start := time.Now()
	total, known := input.TotalSize(f.inputs)
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
