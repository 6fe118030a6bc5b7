package bloomstore

import (
	"math"
	"testing"
)

func TestSizing(t *testing.T) {
	for _, c := range []struct {
		got, want Shape
	}{
		{ForItems(536_870_912), Shape{1 << 33, 8}},
		{ForItems(1_000_000), Shape{16_000_000, 8}},
		{ForItems(5), Shape{128, 8}}, // rounded up to whole words
		{ForItems(0), Shape{64, 8}},
		{ForItems(math.MaxUint64), Shape{maxBits, 8}},
		{ForMemory(1 << 30), Shape{1 << 33, 8}},
		{ForMemory(1_000_000_007), Shape{8_000_000_000, 8}},
		{ForMemory(0), Shape{64, 8}},
		{ForMemory(math.MaxUint64), Shape{maxBits, 8}},
	} {
		if c.got != c.want {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
		if err := c.got.Validate(); err != nil {
			t.Error(err)
		}
	}
	gib := ForMemory(1 << 30)
	if gib.Capacity() != 536_870_912 || gib.Bytes() != 1<<30 {
		t.Errorf("1 GiB holds %d keys in %d bytes", gib.Capacity(), gib.Bytes())
	}
}

func TestPredictedRate(t *testing.T) {
	s := ForItems(1_000_000)
	for _, c := range []struct {
		items uint64
		want  float64
	}{
		{0, 0},
		{1, math.Pow(5e-7, 8)}, // to 7 digits: 1 − e^(−x) as written would have none
		{1_000_000, 5.745e-4},
		{2_000_000, 2.549e-2},
		{math.MaxUint64, 1},
	} {
		got := s.FalsePositiveRate(c.items)
		if math.Abs(got-c.want) > 1e-3*c.want {
			t.Errorf("rate at %d keys is %g, want %g", c.items, got, c.want)
		}
	}
}

// TestMeasuredRate fills filters to a share of their design load and compares the share of false
// positives with both figures of the package. Keys are fixed. With 8 probes the rate at a quarter
// of the load is 3.6e-8, too small for a test, so fewer probes test the formula.
func TestMeasuredRate(t *testing.T) {
	for _, c := range []struct {
		hashes int
		load   float64
	}{
		{2, 0.25},
		{2, 0.50},
		{2, 0.75},
		{2, 1.00},
		{3, 0.25},
		{4, 0.50},
		{5, 0.75},
		{8, 1.00},
	} {
		shape := Shape{Bits: 1<<22 - 17, Hashes: c.hashes}
		f := mustNew(t, shape, "s")
		f.Add(randomKeys(1, int(c.load*float64(shape.Capacity()))))
		want := shape.FalsePositiveRate(f.Items())
		if live := f.Rate(); math.Abs(live-want) > 0.01*want {
			t.Errorf("k %d, load %v: live rate %g, predicted %g", c.hashes, c.load, live, want)
		}
		if testing.Short() && want < 0.01 {
			continue // millions of keys
		}
		// 12,000 expected hits have a standard deviation of 0.9%.
		got := measureRate(f, int(12_000/want))
		t.Logf("k %d, load %.2f: measured %.4g, predicted %.4g (%+.2f%%)", c.hashes, c.load, got, want, 100*(got/want-1))
		if math.Abs(got-want) > 0.03*want {
			t.Errorf("k %d, load %v: measured rate %g, predicted %g", c.hashes, c.load, got, want)
		}
	}
}

// measureRate returns the share of n fresh keys that f reports as seen.
func measureRate(f *Filter, n int) float64 {
	const batch = 10_000
	seen := make([]bool, batch)
	hits := 0
	n = n / batch * batch
	for i := range n / batch {
		f.Test(randomKeys(uint64(100+i), batch), seen)
		for _, s := range seen {
			if s {
				hits++
			}
		}
	}
	return float64(hits) / float64(n)
}
