package progress

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vbauerster/mpb/v8"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// TestProgressBar checks that only an input with a size has a total, a bar and the time left.
func TestProgressBar(t *testing.T) {
	for size, want := range map[int64][]string{
		4 << 20: {"1.0 MiB / 4.0 MiB", "]", "7.0% removed", "left"},
		-1:      {"1.0 MiB read", "7.0% removed"},
	} {
		live := &pipeline.Live{}
		live.Documents.Store(100)
		live.Removed.Store(7)
		live.Stored.Store(1 << 20)
		refresh := make(chan any)
		var shown bytes.Buffer
		bars := mpb.New(mpb.WithOutput(&shown), mpb.WithManualRefresh(refresh), mpb.WithWidth(200))
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
