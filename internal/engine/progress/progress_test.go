package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// TestProgressBar checks that only an input with a size has a total, a bar and the time left.
func TestProgressBar(t *testing.T) {
	for size, want := range map[int64][]string{
		4 << 20: {"1.0 MiB / 4.0 MiB", "]", "7.0% copies", "left"},
		-1:      {"1.0 MiB read", "7.0% copies"},
	} {
		live := &pipeline.Live{}
		live.Documents.Store(100)
		live.Removed.Store(7)
		live.Stored.Store(1 << 20)
		refresh := make(chan any)
		var shown bytes.Buffer
		bars := mpb.New(mpb.WithOutput(&shown), mpb.WithManualRefresh(refresh))
		bar := newBar(bars, live, []input.Input{{Size: size}})
		bar.SetCurrent(1 << 20)
		refresh <- nil
		refresh <- nil // taken when the first is drawn
		bar.Abort(false)
		bars.Wait()
		for _, s := range want {
			if !strings.Contains(shown.String(), s) {
				t.Errorf("size %d: %q lacks %q", size, shown.String(), s)
			}
		}
		if size < 0 {
			for _, s := range []string{" / ", "]", "left", " 0 b"} {
				if strings.Contains(shown.String(), s) {
					t.Errorf("of a pipe: %q has %q", shown.String(), s)
				}
			}
		}
	}
}

// TestNarrowProgress checks that the time left stays at any width, that the bar goes first, and that
// 80 columns have room for one, even with the longest words.
func TestNarrowProgress(t *testing.T) {
	live := &pipeline.Live{}
	live.Documents.Store(100_000_000)
	live.Removed.Store(100_000_000)
	live.Stored.Store(1020 << 30)
	for columns, want := range map[int]string{
		100: "1020.0 GiB / 1023.0 GiB [====]  1000 docs/s  100.0% copies  4m54s left",
		80:  "1020.0 GiB / 1023.0 GiB [====]  1000 docs/s  100.0% copies  4m54s left",
		60:  "1020.0 GiB / 1023.0 GiB  100.0% copies  4m54s left",
		45:  "1020.0 GiB / 1023.0 GiB  4m54s left",
		20:  "  4m54s left",
		5:   "  4m54s left",
	} {
		before, after, room := words(live, 1023<<30, 99_999*time.Second, columns)
		if room >= leastBar {
			before += "[====]"
		}
		if got := before + after; got != want || room > 0 && len(before)-6+room+len(after) != columns {
			t.Errorf("%d columns: %q, room for %d", columns, got, room)
		}
	}
}
