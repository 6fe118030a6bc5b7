package parquet

import "testing"

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
