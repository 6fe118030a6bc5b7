package units_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// long draws a text of several thousand bytes, with lines of some lengths.
func long(t *rapid.T) string {
	line := rapid.OneOf(canontest.Text(), rapid.SampledFrom([]string{
		"", "a line of words that is full", "a line of words that is full, and one wider than others are", "short",
		"中文的一行，有标点。还有别的字", "x = y + z", strings.Repeat("one long line of many words, ", 40), strings.Repeat("no end ", 150),
	}))
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\n\n", "\r\n", " ", ". "})
	var b strings.Builder
	for range rapid.IntRange(0, 60).Draw(t, "lines") {
		b.WriteString(line.Draw(t, "line") + end.Draw(t, "end"))
	}
	return b.String()
}

// TestOutlinesReadAsTexts compares words read in the outline of a text, or of its first words, with
// those of the whole text.
func TestOutlinesReadAsTexts(t *testing.T) {
	outliner, reader := units.NewOutliner(), units.NewReader()
	rapid.Check(t, func(t *rapid.T) {
		text := long(t)
		whole, outline := read(text), outliner.Read([]byte(text), len(text))
		if rapid.Bool().Draw(t, "kept") {
			outline = outliner.Keep([]byte(text), whole.Len())
			outliner.Read([]byte("another text, 另一个"), 10)
		}
		if len(outline.Hashes) != whole.Len() {
			t.Fatalf("%q: %d words, want %d", text, len(outline.Hashes), whole.Len())
		}
		for i, hash := range outline.Hashes {
			if hash != uint32(canon.HashUnit(whole.Form(i))) {
				t.Fatalf("%q: the word %d, %q, has another hash", text, i, whole.Form(i))
			}
		}
		for range min(20, whole.Len()) {
			first := rapid.IntRange(0, whole.Len()-1).Draw(t, "first")
			behind := min(whole.Len(), first+rapid.IntRange(1, 200).Draw(t, "words"))
			start, end, from, to := reader.Segments(outline, first, behind)
			wantStart, wantEnd := whole.Range(first, behind)
			wantFrom, wantTo := whole.Segments(first, behind)
			if start != wantStart || end != wantEnd || from != wantFrom || to != wantTo {
				t.Fatalf("%q: the words %d to %d at %d to %d, segments of %d to %d, want %d to %d, %d to %d", text, first, behind, start, end, from, to, wantStart, wantEnd, wantFrom, wantTo)
			}
			points, wantPoints := [2]int{}, [2]int{}
			points[0], points[1] = reader.Points(reader.Range(outline, first, behind))
			if wantPoints[0], wantPoints[1] = whole.Points(wantStart, wantEnd); points != wantPoints {
				t.Fatalf("%q: the words %d to %d at the code points %v, want %v", text, first, behind, points, wantPoints)
			}
			part, at := reader.Forms(outline, first, behind)
			for i := first; i < behind; i++ {
				if got := string(part.Form(at + i - first)); got != string(whole.Form(i)) {
					t.Fatalf("%q: the word %d is %q, want %q", text, i, got, whole.Form(i))
				}
			}
		}
	})
}

// TestFirstWordsAreThoseOfTheText outlines the first words of long texts, and checks what is kept.
func TestFirstWordsAreThoseOfTheText(t *testing.T) {
	outliner, reader := units.NewOutliner(), units.NewReader()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(long(t)+"one more line, 再来一行\n", 40)
		whole := read(text)
		most := rapid.IntRange(0, whole.Len()).Draw(t, "words")
		outline := outliner.Keep([]byte(text), most)
		n := len(outline.Hashes)
		if !strings.HasPrefix(text, string(outline.Text)) || n < most || n < whole.Len() && !whole.Begins(n) {
			t.Fatalf("%d words, want %d of %d, in %d bytes", n, most, whole.Len(), len(outline.Text))
		}
		if size := len(outline.Text) + 4*n; outline.Bytes() < size || cap(outline.Text) > len(outline.Text)+len(outline.Text)/4+64 {
			t.Fatalf("an outline of %d bytes takes %d, and %d for its text", size, outline.Bytes(), cap(outline.Text))
		}
		for range min(20, n) {
			i := rapid.IntRange(0, n-1).Draw(t, "word")
			start, end := reader.Range(outline, i, i+1)
			if wantStart, wantEnd := whole.Range(i, i+1); start != wantStart || end != wantEnd || outline.Hashes[i] != uint32(canon.HashUnit(whole.Form(i))) {
				t.Fatalf("word %d of the first %d is at %d to %d, of all at %d to %d", i, n, start, end, wantStart, wantEnd)
			}
		}
	})
}

// TestRangesLikeOthers finds the words of a text that others stand for, with more behind them.
func TestRangesLikeOthers(t *testing.T) {
	outliner, reader := units.NewOutliner(), units.NewReader()
	for _, behind := range []string{"", ", three", " three", "\u200d, three", "\u200d three", "\u00ad", "\ufe0f.", "，三", "中"} {
		text := "before: one  two" + behind
		outline := outliner.Keep([]byte(text), len(text))
		for _, like := range []string{"one  two", "one two", "Zwei"} {
			start, end := reader.RangeLike(outline, 1, 3, []byte(like))
			if wantStart, wantEnd := reader.Range(outline, 1, 3); start != wantStart || end != wantEnd {
				t.Errorf("%q: words like %q at %d to %d, want %d to %d", text, like, start, end, wantStart, wantEnd)
			}
		}
	}
}
