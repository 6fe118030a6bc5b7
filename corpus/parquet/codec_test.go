package parquet

import (
	"bytes"
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

// TestPagesReuseMemory compresses pages of one size into the same buffer. With every codec, a page
// after the first takes memory for less than a tenth of its bytes.
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
		if least > pageBytes/10 {
			t.Errorf("codec %d takes %d bytes for a page", codec, least)
		}
	}
}
