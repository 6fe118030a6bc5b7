package cli

import (
	"strconv"
	"testing"

	"github.com/spf13/pflag"
)

// TestNoRatio checks that --limit ratio=0 means no limit, not the default of package corpus.
func TestNoRatio(t *testing.T) {
	for given, want := range map[int]int{0: -1, 1: 1, 1000: 1000} {
		var f inputFlags
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.registerLimits(fs, "")
		err := fs.Set("limit", "ratio="+strconv.Itoa(given))
		if err != nil || f.source.MaxRatio != want {
			t.Errorf("--limit ratio=%d: %d, %v; want %d", given, f.source.MaxRatio, err, want)
		}
	}
}
