package canon_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// A placedPiece is a piece with its range and its words.
type placedPiece struct {
	form       string
	start, end int
	words      int
}

// piecesFrom returns the pieces of a text from one place up to another.
func piecesFrom(s *canon.Scanner, text string, at, end int) (pieces []placedPiece) {
	s.ResetAt([]byte(text), at, end)
	for step := s.Next(); step != canon.End; step = s.Next() {
		if step == canon.Piece {
			from, to := s.Range()
			from, to = s.Trim([]byte(text), from, to)
			_, ends := s.AppendForms(nil, nil)
			pieces = append(pieces, placedPiece{string(s.Form()), from, to, len(ends)})
		}
	}
	return pieces
}

// placed returns the hashes of the words of a text, and its places.
func placed(s *canon.Scanner, text string) (hashes []uint64, places []canon.Place) {
	s.Reset([]byte(text))
	for step := s.Next(); ; step = s.Next() {
		if step != canon.Piece {
			hashes = s.AppendUnits(hashes)
		}
		if step == canon.End {
			return hashes, slices.Clone(s.Places())
		}
	}
}

// TestPlacesBeginPieces checks that a text read from one place to another has the same pieces as if it
// were read from its beginning, and as many words before each place.
func TestPlacesBeginPieces(t *testing.T) {
	pieces, plain := canon.NewScanner(), canon.NewScanner()
	pieces.KeepLong()
	plain.CountUnits()
	plain.KeepLong()
	line := rapid.OneOf(canontest.Text(), rapid.SampledFrom([]string{
		"", "a line of words that is full, as wide", "a line of words that is full, and one wider than others are", "short",
		strings.Repeat("长", 12) + "，" + strings.Repeat("短", 12), "+ = x y", strings.Repeat("many words, ", 100), strings.Repeat("no end ", 130),
	}))
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 40).Draw(t, "lines") {
			b.WriteString(line.Draw(t, "line") + rapid.SampledFrom([]string{"\n", "\n", "\n", "\n\n", "\r\n", "\r\n\r\n", " ", ". "}).Draw(t, "end"))
		}
		if rapid.IntRange(0, 20).Draw(t, "long") == 0 { // its parts of 64 KiB do not follow a separator
			b.WriteString(strings.Repeat(rapid.SampledFrom([]string{"没完没了", "e\u0301\u0302\u0303", "a\u0308 ", "- - =", "x\u00ad\u00ad "}).Draw(t, "part"), 12_000) + "。x")
		}
		text, every := b.String(), rapid.SampledFrom([]int{1, 20, 200}).Draw(t, "every")
		s := canon.NewScanner()
		s.KeepPlaces(every)
		if rapid.Bool().Draw(t, "only words") {
			s.OnlyWords()
		}
		hashes, places := placed(s, text)
		if want, none := placed(plain, text); !slices.Equal(hashes, want) || len(none) > 0 {
			t.Fatalf("%q: %d words with places, %d without", text, len(hashes), len(want))
		}
		all := piecesFrom(pieces, text, 0, len(text))
		if len(all) > 0 && (len(places) == 0 || places[0].Word != 0 || places[0].At != all[0].start) {
			t.Fatalf("%q: the places %v do not begin with the first piece", text, places)
		}
		var got []placedPiece
		words := 0
		for i, p := range places {
			end := len(text)
			if i+1 < len(places) {
				if end = places[i+1].At; end-p.At < every {
					t.Fatalf("%q: the places %v are less than %d apart", text, places, every)
				}
			}
			if p.Word != words {
				t.Fatalf("%q: %d words before the place %+v", text, words, p)
			}
			part := piecesFrom(pieces, text, p.At, end)
			for _, piece := range part {
				words += piece.words
			}
			got = append(got, part...)
		}
		for i := range max(len(got), len(all)) {
			if i >= len(got) || i >= len(all) || got[i] != all[i] {
				t.Fatalf("the pieces in parts from %v differ at the number %d: %q, want %q", places, i, fmt.Sprint(got[min(i, len(got)):min(i+2, len(got))]), fmt.Sprint(all[min(i, len(all)):min(i+2, len(all))]))
			}
		}
	})
}
