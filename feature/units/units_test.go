package units_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

func read(text string) *units.Text {
	t := units.New()
	t.Read([]byte(text))
	return t
}

func TestSegmentsAreWhole(t *testing.T) {
	long := strings.Repeat("word ", 200) + "end"
	for _, c := range []struct {
		text          string
		first, behind int
		want          string
	}{
		{"One two. Three four, five six! Seven", 0, 7, "One two. Three four, five six! Seven"},
		{"One two. Three four, five six! Seven", 1, 7, "Three four, five six! Seven"},
		{"One two. Three four, five six! Seven", 1, 5, "Three four"},
		{"One two. Three four, five six! Seven", 2, 6, "Three four, five six"},
		{"One two. Three four, five six! Seven", 3, 4, ""},
		{"One two. Three four", 1, 3, ""},
		{"Heading\n\nA text of five words. More", 0, 6, "Heading\n\nA text of five words"},
		{"你好。世界很大，真的！", 1, 9, "世界很大，真的"},
		{"First. " + long + ". Last", 0, 100, "First"},
		{"First. " + long + ". Last", 0, -1, "First. " + long},
		{"First. " + long + ". Last", 50, 0, "Last"}, // to the end
	} {
		text := read(c.text)
		if c.behind <= 0 { // from the end, since cutting a long segment may split a word
			c.behind += text.Len()
		}
		from, to := text.Segments(c.first, c.behind)
		got := ""
		if from < to {
			start, end := text.Range(from, to)
			got = c.text[start:end]
		}
		if got != c.want {
			t.Errorf("%.40q from %d to %d: %.60q, want %.60q", c.text, c.first, c.behind, got, c.want)
		}
	}
}

// TestWordsStandInOrder checks that the ranges of a text's words are in order and do not overlap.
func TestWordsStandInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := canontest.Text().Draw(t, "text")
		words, at := read(text), 0
		for i := range words.Len() {
			start, end := words.Range(i, i+1)
			if start < 0 || end > len(text) || start >= end || end < at {
				t.Fatalf("%q: word %d at %d to %d, after %d", text, i, start, end, at)
			}
			at = end
			if from, to := words.Points(start, end); string([]rune(text)[from:to]) != string([]rune(text[start:end])) {
				t.Fatalf("%q: word %d at the code points %d to %d", text, i, from, to)
			}
		}
		if !words.Begins(0) || !words.Begins(words.Len()) {
			t.Fatalf("%q does not begin or end with a separator", text)
		}
	})
}

// TestPointsAreCodePoints counts as Go does, in valid text and in any other.
func TestPointsAreCodePoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "plain text ", "é", "中", "文字", "\u1000", "\u0800", "\U0001F600", "\xed\xa0\x80", "\xe0\x80\x80", "\xe4\xb8", "\xff", "八个汉字一次数完", "七个汉字一次数，", "七个汉字一次数\u0800", "七个汉字一次数\xed\xa0\x80", "七个汉字一次数\xe0\x80\x80", "，", "\ue000", "\xc0\x80", "\xc1\xbf", "\x80", "\u07ff", strings.Repeat("long ASCII ", 4)})
		text := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		if _, got := read(text).Points(0, len(text)); got != len([]rune(text)) {
			t.Fatalf("%q: %d code points, want %d", text, got, len([]rune(text)))
		}
	})
}
