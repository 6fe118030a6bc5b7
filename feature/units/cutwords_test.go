package units_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/units"
)

// TestWordsAreNotCut cuts an overlong segment. Its words are those between spaces, each in its
// place, and the scanner hashes equally many.
func TestWordsAreNotCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		var b strings.Builder
		b.WriteString("First. ")
		want = append(want, "first")
		for range rapid.IntRange(0, 120).Draw(t, "words") {
			word := fmt.Sprintf("w%d", rapid.IntRange(0, 1<<30).Draw(t, "word"))
			if rapid.IntRange(0, 30).Draw(t, "long") == 0 {
				word = strings.Repeat(word, rapid.IntRange(2, 200).Draw(t, "times"))
			}
			want = append(want, word)
			b.WriteString(word + rapid.SampledFrom([]string{" ", " ", " ", " ", " ", " ", " ", ", ", "\n\n"}).Draw(t, "space"))
		}
		text := b.String()
		u := units.New()
		u.Read([]byte(text))
		var got, there []string
		for i := range u.Len() {
			got = append(got, string(u.Form(i)))
			start, end := u.Range(i, i+1)
			there = append(there, strings.ToLower(text[start:end]))
		}
		if !slices.Equal(got, want) || !slices.Equal(there, want) {
			t.Fatalf("%q:\nwords %q\nplaces %q\nwant %q", text, got, there, want)
		}
		if hashes := hashesOf(text); len(hashes) != len(want) {
			t.Fatalf("%d hashes of %d words", len(hashes), len(want))
		}
	})
}

func hashesOf(text string) (hashes []uint64) {
	s := canon.NewScanner()
	s.CountUnits()
	for s.Reset([]byte(text)); ; {
		step := s.Next()
		if step != canon.Piece {
			hashes = s.AppendUnits(hashes)
		}
		if step == canon.End {
			return hashes
		}
	}
}
