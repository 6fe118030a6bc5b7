package canon_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// wordsOf returns the words of the pieces of text, with their ranges.
func wordsOf(t interface{ Fatalf(string, ...any) }, l *canon.Locator, text string) (words, ranges []string) {
	s := canon.NewScanner()
	s.Reset([]byte(text))
	for step := s.Next(); step != canon.End; step = s.Next() {
		if step != canon.Piece {
			continue
		}

		start, end := s.Range()
		whole := bytes.Equal(canon.Append(nil, []byte(text[start:end])), s.Form()) // not cut from a longer one
		var own []string
		for unit, rest := s.NextUnit(s.Form()); unit != nil; unit, rest = s.NextUnit(rest) {
			own = append(own, string(unit))
		}
		if forms, ends := s.AppendForms([]byte("x"), []int{1}); string(forms) != "x"+strings.Join(own, "") || len(ends) != len(own)+1 {
			t.Fatalf("%.80q: the forms of %q are %q, %d words", text, own, forms, len(ends)-1)
		} else {
			for i, word := range own {
				if got := string(forms[ends[i]:ends[i+1]]); got != word {
					t.Fatalf("%.80q: word %d is %q, want %q", text, i, got, word)
				}
			}
		}
		if whole && s.Units() != len(own) {
			t.Fatalf("%.80q: %q has %d words, want %d", text, s.Form(), s.Units(), len(own))
		}
		found := l.AppendUnits(nil, []byte(text), start, end)
		if whole && len(found) != len(own) {
			t.Fatalf("%.80q: %q is %q, located %v", text, text[start:end], own, found)
		}
		if !whole {
			continue // its first and last word may be parts of one character
		}
		for i, r := range found {
			words, ranges = append(words, own[i]), append(ranges, text[r.Start:r.End])
		}
	}
	return words, ranges
}

// TestUnitsAreFound checks that each word fills its range.
func TestUnitsAreFound(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"one  two\u00a0three", []string{"one", "two", "three"}},
		{"Don’t stop", []string{"Don’t", "stop"}},
		{"\u200b用 Linux\u200d 的 内核", []string{"用", "Linux", "的", "内", "核"}},
		{"ｆｕｌｌ width", []string{"ｆｕｌｌ", "width"}},
		{"ﷺ plc", []string{"ﷺ", "ﷺ", "ﷺ", "ﷺ", "plc"}},
		{"e\u0301t\u0301e\u0301 가 été", []string{"e\u0301t\u0301e\u0301", "가", "été"}},
		{"a = b + c", []string{"a", "b", "c"}},
	} {
		if _, got := wordsOf(t, canon.NewLocator(), c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	l := canon.NewLocator()
	rapid.Check(t, func(t *rapid.T) {
		text := canontest.Text().Draw(t, "text")
		words, ranges := wordsOf(t, l, text)
		for i, word := range words {
			if form := string(canon.Append(nil, []byte(ranges[i]))); !strings.Contains(form, word) && !strings.Contains(word, form) {
				t.Fatalf("%q: the word %q is located at %q", text, word, ranges[i])
			}
		}
	})
}
