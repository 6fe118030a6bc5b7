package parquet

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestPageOfNothing checks that a page of claimed size 0 is empty or refused.
func TestPageOfNothing(t *testing.T) {
	var d decompressor
	for codec := range int32(8) {
		for _, stored := range []string{"\x00", "\x10a", "a longer text that is no page", "\x00\x00\x00\x00\x00\x00\x00\x01\x00"} {
			if err := d.decompress(codec, nil, []byte(stored)); err == nil && len(stored) > 9 {
				t.Errorf("codec %d makes nothing of %q", codec, stored)
			}
		}
	}
	if err := d.decompress(codecLZ4Raw, nil, []byte{0}); err != nil {
		t.Error(err)
	}
}

// TestPagesReuseMemory compresses pages of one size into the same buffer. With every codec but
// brotli, a page after the first takes memory for less than a tenth of its bytes.
func TestPagesReuseMemory(t *testing.T) {
	page := bytes.Repeat([]byte("some words of a text, "), pageBytes/22)
	for _, codec := range []int32{codecNone, codecSnappy, codecGzip, codecBrotli, codecZstd, codecLZ4Raw} {
		var body []byte
		least := uint64(1 << 60) // the collector may empty the pools
		for range 8 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var err error
			if body, err = compress(codec, body, page); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		var d decompressor
		again := make([]byte, len(page))
		if err := d.decompress(codec, again, body); err != nil || !bytes.Equal(again, page) {
			t.Errorf("codec %d: %v", codec, err)
		}
		if least > pageBytes/10 && codec != codecBrotli {
			t.Errorf("codec %d takes %d bytes for a page", codec, least)
		}
	}
}

// TestPagesOfAnyOrder checks that the bytes of a page do not depend on the pages before it.
func TestPagesOfAnyOrder(t *testing.T) {
	words := bytes.Fields([]byte("the ferry leaves harbour at seven and returns long after nightfall when market has closed 渡轮 七点 离开 港口"))
	rnd := rand.New(rand.NewPCG(1, 2))
	var pages [][]byte
	for range 40 {
		var p []byte
		for n, w := rnd.IntN(1<<uint(rnd.IntN(20))), 1+rnd.IntN(len(words)); len(p) < n; {
			p = append(append(p, words[rnd.IntN(w)]...), byte(rnd.IntN(1+w)))
		}
		pages = append(pages, p)
	}
	for _, codec := range []int32{codecNone, codecSnappy, codecGzip, codecBrotli, codecZstd, codecLZ4Raw} {
		first := map[int][]byte{}
		for range 200 {
			i := rnd.IntN(len(pages))
			body, err := compress(codec, nil, pages[i])
			if err != nil {
				t.Fatal(err)
			}
			if first[i] == nil {
				first[i] = body
			}
			if !bytes.Equal(first[i], body) {
				t.Errorf("codec %d: a page of %d bytes has %d bytes, and later %d", codec, len(pages[i]), len(first[i]), len(body))
				break
			}
		}
	}
}
