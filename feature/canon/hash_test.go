package canon

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon/canontest"
)

// hashUnits is HashUnits told plainly.
func hashUnits(s *Scanner, text []byte) (hashes []uint64) {
	for unit, rest := s.NextUnit(text); unit != nil; unit, rest = s.NextUnit(rest) {
		hashes = append(hashes, HashUnit(unit))
	}
	return hashes
}

// gather calls HashUnits with room for so many at a time.
func gather(s *Scanner, text []byte, room int) (hashes []uint64) {
	dst := make([]uint64, room)
	for {
		n, rest := s.HashUnits(dst, text)
		hashes = append(hashes, dst[:n]...)
		if rest == nil {
			return hashes
		}
		text = rest
	}
}

// TestHashUnitsEqualsOracle compares both on canonical texts, in a buffer of their
// own length and with more text behind it, which must not matter.
func TestHashUnitsEqualsOracle(t *testing.T) {
	s := NewScanner()
	word := rapid.StringMatching(`[a-z0-9']{1,40}`)
	rapid.Check(t, func(t *rapid.T) {
		text := canontest.Text().Draw(t, "text")
		for _, w := range rapid.SliceOfN(word, 0, 60).Draw(t, "words") {
			text += rapid.SampledFrom([]string{" ", " ", " ", "的", "过滤器", "⩵", "=", "; ", "é", "e\u0301", "\u0301 "}).Draw(t, "joint") + w
		}
		_, whole := readAll(s, text, func(int) bool { return false })
		want := hashUnits(s, []byte(whole))
		room := rapid.IntRange(64, 200).Draw(t, "room")
		behind := bytes.Repeat([]byte("z的"), 8)
		for _, given := range [][]byte{[]byte(whole), append([]byte(whole), behind...)[:len(whole)]} {
			if got := gather(s, given, room); !slices.Equal(got, want) {
				t.Fatalf("%q, %d at a time: %x, want %x", whole, room, got, want)
			}
		}
	})
}

// TestHashUnit holds the function to values computed from its description by another
// program. They may never change: sketches that are stored rest on them.
func TestHashUnit(t *testing.T) {
	for unit, want := range map[string]uint64{
		"a": 0x84dd359ca30a346d, "的": 0xb354c6a244afa350, "exactly8": 0xfce0eee4d79e447a, "internationalization": 0x255ca63044d01b,
	} {
		if got := HashUnit([]byte(unit)); got != want {
			t.Errorf("%q: %#x, want %#x", unit, got, want)
		}
	}
	seen := map[uint64]bool{}
	for n := range 40 {
		seen[HashUnit([]byte(strings.Repeat("b", n+1)))] = true
	}
	if len(seen) != 40 {
		t.Errorf("%d different hashes of 40 words", len(seen))
	}
}

func BenchmarkHashUnits(b *testing.B) {
	s := NewScanner()
	for name, text := range map[string]string{
		"english": "the filter is what makes most documents cost no look up on disk and it lives in anonymous memory backed by huge pages ",
		"chinese": "过滤器是派生状态随时可以由副表重建每个探测都是一次缓存未命中 ",
		"code":    "if err = = nil & & len b . data > 0 return nil ",
	} {
		b.Run(name, func(b *testing.B) {
			text := []byte(strings.Repeat(text, 40_000/len(text)))
			dst := make([]uint64, 1024)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for rest := text; rest != nil; {
					_, rest = s.HashUnits(dst, rest)
				}
			}
		})
	}
}
