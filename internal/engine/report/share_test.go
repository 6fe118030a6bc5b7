package report

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/method"
)

// TestShareAtTheThreshold checks that doubles compare as exact shares do, for thresholds of up to
// six decimals and documents of up to a billion units.
func TestShareAtTheThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]int64{10, 100, 1000, 1e6}).Draw(t, "scale")
		decimals := rapid.Int64Range(1, scale).Draw(t, "decimals")
		of := rapid.Int64Range(1, 1e9).Draw(t, "of")
		threshold, _ := big.NewRat(decimals, scale).Float64()
		edge := decimals * of / scale
		for weight := max(0, edge-2); weight <= edge+2; weight++ {
			got := method.Share(uint64(weight), uint64(of)) >= threshold
			want := weight*scale >= decimals*of
			if got != want {
				t.Fatalf("%d of %d reaches %d/%d: %v, want %v", weight, of, decimals, scale, got, want)
			}
		}
	})
	if method.Share(0, 0) != 0 {
		t.Error("a share of nothing")
	}
}
