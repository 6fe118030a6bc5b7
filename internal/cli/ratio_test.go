package cli

import (
	"strconv"
	"testing"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
)

// TestNoRatio checks that --max-ratio 0 means no limit, not the default of package corpus.
func TestNoRatio(t *testing.T) {
	for given, want := range map[int]int{0: -1, 1: 1, 1000: 1000} {
		var c corpus.SourceConfig
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		registerLimits(fs, &c, new(int64))
		err := fs.Set("max-ratio", strconv.Itoa(given))
		if err != nil || c.MaxRatio != want {
			t.Errorf("--max-ratio %d: %d, %v; want %d", given, c.MaxRatio, err, want)
		}
	}
}
