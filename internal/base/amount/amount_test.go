package amount

import "testing"

// TestSizes parses and formats human-readable counts and sizes.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		text        string
		count, size uint64 // 0: refused
	}{
		{"10M", 10e6, 10 << 20},
		{"1.5k", 1500, 1536},
		{"1GiB", 0, 1 << 30},
		{"1 GB", 0, 1e9},
		{"2b", 2e9, 2},
		{"7", 7, 7},
		{"0", 0, 0},
		{"-1", 0, 0},
		{"", 0, 0},
		{"M", 0, 0},
		{"nan", 0, 0},
		{"1e30", 0, 0},
		{"0.9", 0, 0},
		{"0.001k", 1, 1},
		{"10 parsecs", 0, 0},
	} {
		if n, err := ParseCount(c.text); n != c.count || (err == nil) != (c.count > 0) {
			t.Errorf("ParseCount(%q) = %d, %v; want %d", c.text, n, err, c.count)
		}
		if n, err := ParseSize(c.text); n != c.size || (err == nil) != (c.size > 0) {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", c.text, n, err, c.size)
		}
	}
	for bytes, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 1 << 30: "1 GiB", 1 << 50: "1024 TiB"} {
		if got := Size(bytes); got != want {
			t.Errorf("Size(%d) = %q, want %q", bytes, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1k", 10_527_205: "10.5M", 3e9: "3G"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%v) = %q, want %q", n, got, want)
		}
	}
}
