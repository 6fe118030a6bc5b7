package vector

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFeeds compares with a loop over the bytes, with vector instructions and without.
func TestFeeds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 5 * Block {
		for _, alphabet := range []string{"\n", "a\n", "ab\x0b\x09\x8a\x80\n", "abcdefgh\xff"} {
			text := make([]byte, n)
			for i := range text {
				text[i] = alphabet[r.IntN(len(alphabet))]
			}
			want, wantHigh := make([]uint64, 5), 0
			for i, b := range text {
				if b == '\n' {
					want[i/Block] |= 1 << (i % Block)
				}
				if b >= 0x80 {
					wantHigh = min((i/Block+1)*Block, n)
				}
			}
			for name, feeds := range map[string]func([]uint64, []byte) int{"Feeds": Feeds, "feedsIn": feedsIn} {
				got := make([]uint64, 5)
				if high := feeds(got, text); high != wantHigh || !slices.Equal(got, want) {
					t.Fatalf("%s of %q: %x to %d, not %x to %d", name, text, got, high, want, wantHigh)
				}
			}
		}
	}
}

func BenchmarkFeeds(b *testing.B) {
	text := bytes.Repeat([]byte("a line of about sixty bytes, as they are met with in prose..\n"), 68)[:4096]
	masks := make([]uint64, 64)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Feeds(masks, text)
	}
}
