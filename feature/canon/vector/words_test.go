package vector

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// begins lets all bytes but the equals sign begin words.
var begins = func() (t [256]uint8) {
	for b := range t {
		if b != '=' {
			t[b] = 1
		}
	}
	return t
}()

// hashesOf returns the hashes of the words of text, computed word by word.
func hashesOf(text string) (hashes []uint64) {
	for _, r := range text {
		if r >= 0x800 {
			text = strings.ReplaceAll(text, string(r), " "+string(r)+" ")
		}
	}
	for word := range strings.FieldsSeq(text) {
		if begins[word[0]] == 0 {
			continue
		}
		var first, last [8]byte
		copy(first[:], word)
		copy(last[:], word[max(len(word)-8, 0):])
		hashes = append(hashes, HashWord(binary.LittleEndian.Uint64(first[:]), binary.LittleEndian.Uint64(last[:]), len(word)))
	}
	return hashes
}

// behind returns text followed by as much of other as HashWords may read.
func behind(text, other string) []byte {
	return append([]byte(text), strings.Repeat(other, Block+8)...)
}

func TestHashWords(t *testing.T) {
	checkWords(t, rapid.StringMatching(`[a-z0-9=']{1,70}|[a-z]{1,9}|=`), HashWords, hashWordsPlain)
}

// TestHashHan checks that each Han, kana or other character of three bytes is a word.
func TestHashHan(t *testing.T) {
	needCopy(t)
	checkWords(t, rapid.StringMatching(`[a-z0-9=']{1,70}|[a-z]{1,9}|=|[一-龥]{1,30}|[a-z的か각]{1,9}`), HashWords)
}

func checkWords(t *testing.T, word *rapid.Generator[string], hash ...func([]uint64, []byte, int, *[256]uint8) int) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 1, 60).Draw(t, "words"), " ")
		want := hashesOf(text)
		data := behind(text, rapid.SampledFrom([]string{" ", "x", "=", "\xff", "\x80", "中"}).Draw(t, "behind"))
		for i, f := range hash {
			got := make([]uint64, len(text)/2+2)
			if n := f(got, data, len(text), &begins); !slices.Equal(got[:n], want) {
				t.Fatalf("%d of %q: %x, want %x", i, text, got[:n], want)
			}
		}
	})
}

func BenchmarkHashWords(b *testing.B) {
	text := strings.Repeat("some words of a text that is not there to be read but to be hashed word for word ", 100)
	data := behind(text, " ")
	dst := make([]uint64, len(text))
	for name, f := range map[string]func([]uint64, []byte, int, *[256]uint8) int{"vector": HashWords, "plain": hashWordsPlain} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				f(dst, data, len(text), &begins)
			}
		})
	}
}
