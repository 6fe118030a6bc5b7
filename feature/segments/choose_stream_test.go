package segments

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/feature/method"
)

// choice is what of a stream of features is to be chosen: all distinct ones in order,
// the n first, and whether there were more.
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

// choose gives a stream to a chooser as an Extractor does.
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

// TestChooserIsTheRule draws streams long enough that the chooser throws away on its
// way, of few segments that come again and again: their widths and orders are equal,
// or differ in the last bits only, and their number is about the one to be chosen.
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
		late := rng.IntN(len(segments)) // comes after all others were thrown together
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

// TestPassedOverIsTold: a text of as many segments as are chosen, each twice or more,
// has no others; with a narrower one it has, though that may never be looked at.
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
