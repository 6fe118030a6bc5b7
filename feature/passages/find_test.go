package passages_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/feature/passages"
)

// library is the earlier texts by number. It counts what is asked of it.
type library struct {
	texts   map[int]string
	gone    map[int]bool
	changed bool
	reads   []int
	sames   int
}

func (l *library) Key(document int, dst []byte) []byte { return fmt.Append(dst, document) }

func (l *library) Read(document int, buf []byte) ([]byte, bool, error) {
	l.reads = append(l.reads, document)
	if l.gone[document] {
		return buf, false, nil
	}
	return append(buf, l.texts[document]...), true, nil
}

func (l *library) Same(document int, text []byte) bool {
	l.sames++
	return !l.changed && string(text) == l.texts[document]
}

// candidates returns those of texts, with lists of most picks at most.
func (l *library) candidates(most int, numbers ...int) (list []passages.Candidate) {
	for _, n := range numbers {
		picks := read(l.texts[n], 50).list
		list = append(list, passages.Candidate{Document: n, List: picks[:min(len(picks), most*passages.EntryBytes)], Single: true})
	}
	return list
}

func find(t *testing.T, f *passages.Finder, page string, l *library, candidates []passages.Candidate) passages.Found {
	t.Helper()
	found, err := f.Find(outline(page), read(page, 50).list, candidates, l)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// quoted returns the passages of a page, and checks their places.
func quoted(t *testing.T, page string, l *library, found passages.Found) (list []string) {
	t.Helper()
	for _, p := range found.Passages {
		text := string([]rune(page)[p.Start:p.End])
		list = append(list, text)
		if !p.Inner && string([]rune(l.texts[p.Document])[p.OfStart:p.OfEnd]) != text {
			t.Errorf("%+v: another text stands there", p)
		}
	}
	return list
}

// drawn draws a text in sentences of ten words.
func drawn(r *rand.Rand, n int) string {
	return strings.Join(slices.Collect(func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprintf("w%d", r.IntN(1<<30)) + []string{"", "."}[i%10/9]) {
				return
			}
		}
	}), " ")
}

func part(text string, from, to int) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(text)[from:to], " "), ".")
}

// TestTinyQuotesOfLargeTexts checks that two texts, each larger than the cache, are read once for
// all pages that quote them by turns.
func TestTinyQuotesOfLargeTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	l := &library{texts: map[int]string{}}
	for n := range 2 {
		l.texts[n+1] = drawn(r, 2000) + strings.Repeat(". And so on, in one large text", 150_000)
	}
	candidates := l.candidates(80, 1, 2)
	f := passages.NewFinder(50)
	for i := range 10 {
		quote := part(l.texts[1+i%2][:20_000], 100*i, 100*i+60)
		page := drawn(r, 20) + " " + quote + " " + drawn(r, 20)
		if diff := cmp.Diff([]string{quote}, quoted(t, page, l, find(t, f, page, l, candidates))); diff != "" {
			t.Fatal(diff)
		}
	}
	if len(l.reads) != 2 {
		t.Errorf("the texts %v were read", l.reads)
	}
}

// TestPassagesBeyondTheList checks that a passage goes on where the list of a long text has ended,
// as far as both texts do.
func TestPassagesBeyondTheList(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	l := &library{texts: map[int]string{1: drawn(r, 80_000)}}
	candidates := l.candidates(100, 1)
	f := passages.NewFinder(50)
	for _, n := range []int{100, 40_000, 100, 79_000} {
		quote := part(l.texts[1], 1000, 1000+n)
		page := drawn(r, 20) + " " + quote + " " + drawn(r, 20)
		if got := quoted(t, page, l, find(t, f, page, l, candidates)); len(got) != 1 || got[0] != quote {
			t.Errorf("a quote of %d words: %d passages, of %d bytes, want %d", n, len(got), len(strings.Join(got, "")), len(quote))
		}
	}
	if len(l.reads) != 3 { // more words are wanted twice
		t.Errorf("the text was read %d times", len(l.reads))
	}
}

// TestFewEarlierTextsAreRead checks that the longest chains decide which 32 texts are read, and one
// more for each 1,000 words. Among equals, the earliest are.
func TestFewEarlierTextsAreRead(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	l := &library{texts: map[int]string{40: drawn(r, 200)}}
	page, numbers, want := l.texts[40], []int{40}, []int{40}
	for n := 39; n > 0; n-- {
		l.texts[n] = drawn(r, 60)
		page += " And: " + l.texts[n]
		numbers = slices.Insert(numbers, 0, n)
	}
	candidates := append(l.candidates(1, numbers[:39]...), l.candidates(100, 40)...)
	found := find(t, passages.NewFinder(50), page, l, candidates)
	for n := range 31 + found.Units/1000 {
		want = append(want, n+1)
	}
	if !slices.Equal(l.reads, want) || found.Units < 2000 {
		t.Errorf("%d words: the texts %v were read, want %v", found.Units, l.reads, want)
	}
}

// TestLargeTextsAreCounted checks that no further text is read once those read have 16 MiB, and four
// times the page.
func TestLargeTextsAreCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	l := &library{texts: map[int]string{1: drawn(r, 100), 2: drawn(r, 80)}}
	candidates := l.candidates(100, 1, 2)
	page := l.texts[1] + " And: " + l.texts[2]
	for n, text := range l.texts {
		l.texts[n] = text + strings.Repeat(". And so on, in one large text", 17<<20/30)
	}
	for range 2 { // the second time, from the cache
		for _, c := range []struct {
			own, passages int
		}{{0, 1}, {300_000, 2}} {
			page := page + strings.Repeat(" 一", c.own/4)
			if found := find(t, passages.NewFinder(50), page, l, candidates); len(found.Passages) != c.passages {
				t.Errorf("a page of %d bytes: %d passages, want %d", len(page), len(found.Passages), c.passages)
			}
		}
	}
}

// TestRecentTextsStay checks that texts used again stay, for other goroutines too, while others go:
// here all of 36 MiB, each of which is read as far as 16,384 words beyond its list.
func TestRecentTextsStay(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	l := &library{texts: map[int]string{}}
	rest, quotes := drawn(r, 20_000), map[int]string{}
	for n := range 160 {
		quotes[n+1] = drawn(r, 80)
		l.texts[n+1] = quotes[n+1] + rest
	}
	f := passages.NewFinder(50)
	ask := func(f *passages.Finder, n int) {
		candidate := l.candidates(3, n)
		if got := quoted(t, quotes[n], l, find(t, f, quotes[n], l, candidate)); len(got) != 1 {
			t.Errorf("text %d: %q", n, got)
		}
	}
	for n := range 160 {
		ask(f, n+1)
		if n%10 == 9 {
			ask(f.Another(), 1)
		}
	}
	if len(l.reads) != 160 {
		t.Errorf("read %v", l.reads)
	}
	if ask(f, 159); len(l.reads) != 160 {
		t.Error("the last but one has gone")
	}
	if ask(f, 2); len(l.reads) != 161 {
		t.Error("all texts stay")
	}
}

// TestOneReadingSuffices checks that a text is read only for a chain outside of what is found, and
// for a single pick only if that is worth it.
func TestOneReadingSuffices(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	page := drawn(r, 300)
	l := &library{texts: map[int]string{1: part(page, 20, 160), 2: part(page, 0, 200), 3: part(page, 150, 260)}}
	got := quoted(t, page, l, find(t, passages.NewFinder(50), page, l, l.candidates(100, 1, 2, 3)))
	if want := []string{part(page, 0, 200), part(page, 200, 260)}; !slices.Equal(l.reads, []int{2, 3}) || !slices.Equal(got, want) {
		t.Errorf("read %v, found %q", l.reads, got)
	}
	for single, want := range map[bool]int{false: 0, true: 1} {
		l := &library{texts: map[int]string{1: part(page, 100, 151)}}
		candidates := l.candidates(1, 1)
		candidates[0].Single = single
		if found := find(t, passages.NewFinder(50), page, l, candidates); len(found.Passages) != want || len(l.reads) != want {
			t.Errorf("one pick, worth it %v: %+v, read %v", single, found.Passages, l.reads)
		}
	}
}

// TestTextsThatAreGone checks that a chain of least words or more stands in for its text.
func TestTextsThatAreGone(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	text := drawn(r, 300)
	l := &library{texts: map[int]string{7: text}, gone: map[int]bool{7: true}}
	for _, c := range []struct {
		list *passages.Candidate
		want int
	}{{&l.candidates(100, 7)[0], 1}, {&l.candidates(2, 7)[0], 0}} {
		found := find(t, passages.NewFinder(50), text, l, []passages.Candidate{*c.list})
		if len(found.Passages) != c.want {
			t.Errorf("%d picks: %+v", c.list.List.Len(), found.Passages)
		}
		for _, p := range found.Passages {
			if !p.Inner || p.Document != 7 || p.OfStart != 0 || p.OfEnd != 0 || p.Units < 220 || p.Units != found.Covered {
				t.Errorf("%+v", p)
			}
		}
	}
}

// TestLargeTextsThatHaveChanged checks that the whole text is compared with the remembered one.
func TestLargeTextsThatHaveChanged(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	first := drawn(r, 300)
	for _, changed := range []bool{false, true} {
		l := &library{texts: map[int]string{1: first}, changed: changed}
		candidates := l.candidates(100, 1)
		l.texts[1] = part(first, 0, 100) + " other " + part(first, 101, 300) + strings.Repeat(". And so on, in one large text", 50_000)
		found := find(t, passages.NewFinder(50), first, l, candidates)
		if l.sames != 1 || len(found.Passages) == 0 || found.Passages[0].Inner != changed {
			t.Errorf("changed %v: %+v, asked %d times", changed, found.Passages, l.sames)
		}
	}
}

// TestConsumed checks both limits of what is left, and that short passages consume nothing.
func TestConsumed(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for _, c := range []struct {
		least, quoted, own int
		want               bool
	}{{50, 60, 49, true}, {50, 60, 50, false}, {50, 1000, 111, true}, {50, 1000, 112, false}, {30, 49, 10, false}, {30, 50, 10, true}} {
		l := &library{texts: map[int]string{1: drawn(r, c.quoted)}}
		page := l.texts[1] + ". " + drawn(r, c.own)
		found := find(t, passages.NewFinder(c.least), page, l, []passages.Candidate{{Document: 1, List: read(l.texts[1], c.least).list, Single: true}})
		if found.Consumed != c.want || found.Left != c.own || found.Covered != c.quoted || found.Units != c.quoted+c.own {
			t.Errorf("%d words of %d are quoted: %+v", c.quoted, c.quoted+c.own, found)
		}
	}
	l := &library{texts: map[int]string{1: drawn(r, 60)}}
	page := "so " + l.texts[1] // its first segment has another word
	if found := find(t, passages.NewFinder(50), page, l, l.candidates(100, 1)); found.Covered != 60 || found.Left != 11 {
		t.Errorf("of a passage with five whole segments: %+v", found)
	}
}

// TestCover checks the rules for stretches that overlap.
func TestCover(t *testing.T) {
	type s = passages.Stretch
	for name, c := range map[string]struct{ stretches, want []s }{
		"the one that ends last":     {[]s{{From: 0, To: 60, Document: 1}, {From: 0, To: 70, Document: 2}}, []s{{From: 0, To: 70, Document: 2}}},
		"the earliest":               {[]s{{From: 0, To: 60, Of: 1, Document: 2}, {From: 0, To: 60, Of: 5, Document: 1}}, []s{{From: 0, To: 60, Of: 5, Document: 1}}},
		"the leftmost":               {[]s{{From: 0, To: 60, Of: 9, Document: 1}, {From: 0, To: 60, Of: 5, Document: 1}}, []s{{From: 0, To: 60, Of: 5, Document: 1}}},
		"without the words covered":  {[]s{{From: 0, To: 60, Of: 3}, {From: 40, To: 90, Of: 100}}, []s{{From: 0, To: 60, Of: 3}, {From: 60, To: 90, Of: 120}}},
		"that begins where one ends": {[]s{{From: 0, To: 60}, {From: 60, To: 90, Of: 100}, {From: 70, To: 90}}, []s{{From: 0, To: 60}, {From: 60, To: 90, Of: 100}}},
		"one within another":         {[]s{{From: 0, To: 90}, {From: 20, To: 80, Document: 1}}, []s{{From: 0, To: 90}}},
		"one further away":           {[]s{{From: 5, To: 9}, {From: 20, To: 80, Of: 7}}, []s{{From: 5, To: 9}, {From: 20, To: 80, Of: 7}}},
	} {
		if diff := cmp.Diff(c.want, passages.Cover(c.stretches)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
