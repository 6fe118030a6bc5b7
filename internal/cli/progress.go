package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// progressInterval is the time between updates of the bar, so documents cost nothing.
const progressInterval = 200 * time.Millisecond

// showProgress draws a bar while standard error is a terminal. stop removes it.
func (f *dedupOptions) showProgress(stderr io.Writer) (stop func()) {
	if f.quiet || terminalOf(stderr) == nil {
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

// terminalOf returns the terminal of a stream, or nil if it is none.
func terminalOf(stream any) *os.File {
	if w, ok := stream.(*firstError); ok {
		stream = w.Writer
	}
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// terminalStyle returns the columns of out's terminal, 0 if unknown, and whether to use colours.
func terminalStyle(out io.Writer) (columns int, colours bool) {
	f := terminalOf(out)
	if f == nil {
		return 0, false
	}
	columns, _, _ = term.GetSize(int(f.Fd())) // 0 if it is unknown
	return columns, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// terminal is standard input typed at a terminal.
type terminal struct {
	*os.File
	stderr io.Writer
	told   bool
}

// waiting returns standard input, which reports on a terminal that it waits.
func waiting(stdin io.Reader, stderr io.Writer) io.Reader {
	if f := terminalOf(stdin); f != nil {
		return &terminal{File: f, stderr: stderr}
	}
	return stdin
}

func (t *terminal) Read(p []byte) (int, error) {
	if !t.told {
		t.told = true
		fmt.Fprintln(t.stderr, "firstseen: waiting for standard input from this terminal: end it with Ctrl-D, or give files")
	}
	return t.File.Read(p)
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
