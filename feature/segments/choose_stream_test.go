package segments

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/feature/method"
)

// choice returns the first n distinct features of the stream, sorted, and whether there are more.
func choice(stream []method.Feature, n int) (chosen []method.Feature, truncated bool) {
	for _, f := range stream {
		if !slices.ContainsFunc(chosen, func(o method.Feature) bool { return o.Width == f.Width && o.Key == f.Key }) {
			chosen = append(chosen, f)
		}
	}
	slices.SortFunc(chosen, func(a, b method.Feature) int {
		switch {
		case a.Width != b.Width:
			return int(b.Width) - int(a.Width)
		case a.Order != b.Order && a.Order < b.Order, a.Order == b.Order && a.Key < b.Key:
			return -1
		}
		return 1
	})
	return chosen[:min(n, len(chosen))], len(chosen) > n
}

// choose feeds a stream to a chooser as an Extractor does.
func choose(c *chooser, stream []method.Feature) (set method.Sketch) {
	c.reset()
	for _, f := range stream {
		if c.wants(int(f.Width)) && c.wantsOrder(int(f.Width), f.Order) {
			c.add(f)
		}
	}
	c.result(&set)
	return set
}

// TestChooserIsTheRule draws streams of a few recurring segments, long enough for the chooser to
// prune underway. Widths and orders tie or differ in a few bits, and the segments number about n.
func TestChooserIsTheRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for round := range 3000 {
		n := 1 + rng.IntN(6)
		c := newChooser(n)
		segments := make([]method.Feature, 1+rng.IntN(2*n))
		for i := range segments {
			order := uint64(rng.IntN(3))
			if round%2 == 0 {
				order <<= 62
			}
			segments[i] = method.Feature{Width: uint32(10 + rng.IntN(3)), Order: order, Key: uint64(i*7919%13) + 1}
		}
		var stream []method.Feature
		late := rng.IntN(len(segments)) // first occurs after the others were pruned
		for i := range 400 {
			pick := rng.IntN(len(segments))
			if pick == late && i < 300 {
				continue
			}
			f := segments[pick]
			f.Start = uint32(i)
			stream = append(stream, f)
		}
		want, truncated := choice(stream, n)
		got := choose(&c, stream)
		if !slices.Equal(got.Features, want) || got.Truncated != truncated {
			t.Fatalf("round %d: %d of %d segments\ngot  %v, truncated %v\nwant %v, truncated %v", round, n, len(segments), got.Features, got.Truncated, want, truncated)
		}
	}
}

// TestPassedOverIsTold repeats exactly as many segments as are chosen, so none is passed over. A
// narrower segment counts as passed over, even if the chooser never sees it.
func TestPassedOverIsTold(t *testing.T) {
	var text strings.Builder
	for range 4 {
		for i := range DefaultSegments {
			fmt.Fprintf(&text, "this is the segment of a text that has number %d, ", i+100)
		}
	}
	for _, more := range []string{"", "narrow one", "too short", "一个窄的"} {
		got := extract(t, Scheme{}, text.String()+strings.Repeat(". ", 40)+more+". "+strings.Repeat("x. ", 40))
		if want := strings.HasPrefix(more, "narrow"); got.Truncated != want || len(got.Features) != DefaultSegments {
			t.Errorf("with %q: %d features, truncated %t, want %t", more, len(got.Features), got.Truncated, want)
		}
	}
}
