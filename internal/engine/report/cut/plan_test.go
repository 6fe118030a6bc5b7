package cut_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/cut"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// set is documents in the order of a run, with their lines of the report.
type set struct {
	ids   []string
	texts map[string]string
	lines map[string]*lines.Line
	order []*lines.Line
}

// add adds a kept document.
func (s *set) add(id, text string) *set {
	if s.texts == nil {
		s.texts, s.lines = map[string]string{}, map[string]*lines.Line{}
	}
	s.ids, s.texts[id] = append(s.ids, id), text
	return s
}

// shares adds to the report that a part of the document added last stands in an earlier one.
func (s *set) shares(part, of string) *set {
	id := s.ids[len(s.ids)-1]
	l := s.lines[id]
	if l == nil {
		l = &lines.Line{ID: id, Kept: true}
		s.lines[id], s.order = l, append(s.order, l)
	}
	q := report.Passage{Of: of, Units: wordsIn(part)}
	q.Start, q.End = place(s.texts[id], part)
	start, end := place(s.texts[of], part)
	q.OfStart, q.OfEnd = report.Offset(start), report.Offset(end)
	l.Passages = append(l.Passages, q)
	return s
}

// place returns the place of a part in a text, in characters.
func place(text, part string) (start, end int) {
	at := strings.Index(text, part)
	if at < 0 {
		panic(fmt.Sprintf("%q lacks %q", text, part))
	}
	start = utf8.RuneCountInString(text[:at])
	return start, start + utf8.RuneCountInString(part)
}

func wordsIn(text string) int {
	t := units.New()
	t.Read([]byte(text))
	return t.Len()
}

func (s *set) plan(o cut.Options) (*cut.Plan, error) {
	return cut.NewPlan(o, func(yield func(*lines.Line, error) bool) {
		for _, l := range s.order {
			if !yield(l, nil) {
				return
			}
		}
	})
}

// cut returns the parts cut out of all documents, after checking their places in characters.
func (s *set) cut(t *testing.T, o cut.Options) (parts map[string][]string, p *cut.Plan) {
	t.Helper()
	p, err := s.plan(o)
	if err != nil {
		t.Fatal(err)
	}
	parts = map[string][]string{}
	for _, id := range s.ids {
		l := s.lines[id]
		if l != nil && !l.Kept {
			continue
		}
		text := s.texts[id]
		cuts, drop, err := p.Document(id, []byte(text), l)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cuts {
			part := text[c.Start:c.End]
			if string([]rune(text)[c.FirstChar:c.EndChar]) != part || wordsIn(part) != c.Units || c.Passage.End < c.EndChar || c.Passage.Start > c.FirstChar {
				t.Errorf("%s: %+v is %q", id, c, part)
			}
			if drop {
				part = "dropped: " + part
			}
			parts[id] = append(parts[id], part)
		}
	}
	return parts, p
}

// check compares the parts cut, and the counts.
func (s *set) check(t *testing.T, what string, o cut.Options, want map[string][]string, counts cut.Counts) {
	t.Helper()
	got, p := s.cut(t, o)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	for _, id := range s.ids {
		if l := s.lines[id]; l == nil || l.Kept {
			counts.Documents, counts.Words = counts.Documents+1, counts.Words+int64(wordsIn(s.texts[id]))
		}
	}
	if diff := cmp.Diff(counts, p.Counts); diff != "" {
		t.Errorf("%s: counts (-want +got):\n%s", what, diff)
	}
}

// TestWordsAreCompared checks that nothing is cut whose earlier document has other words there.
func TestWordsAreCompared(t *testing.T) {
	menu := sentence("menu", 20)
	for name, c := range map[string]struct {
		change func(text string) string
		cuts   bool
	}{
		"as it was":      {func(text string) string { return text }, true},
		"in other case":  {strings.ToUpper, true},
		"another word":   {func(text string) string { return strings.Replace(text, "menu10", "menuXX", 1) }, false},
		"the first word": {func(text string) string { return strings.Replace(text, "menu0 ", "menuX ", 1) }, false},
		"the last word":  {func(text string) string { return strings.Replace(text, "menu19", "menu1X", 1) }, false},
		"a letter moved": {func(text string) string { return strings.Replace(text, "menu10 m", "menu1 0m", 1) }, false},
		"moved":          {func(text string) string { return "x" + text }, false},
		"cut off":        {func(text string) string { return text[:len(text)-30] }, false},
		"gone":           {func(string) string { return "" }, false},
	} {
		s := new(set).add("a", sentence("a", 5)+". "+menu+". "+sentence("b", 5))
		s.add("b", menu+". "+sentence("c", 30)).shares(menu, "a")
		s.texts["a"] = c.change(s.texts["a"])
		want, counts := map[string][]string{}, cut.Counts{Absent: 1}
		if c.cuts {
			want, counts = map[string][]string{"b": {menu}}, cut.Counts{Cut: 1, CutWords: 20}
		}
		s.check(t, name, cut.Options{Remove: cut.All}, want, counts)
	}
}

// TestTheEarlierDocumentComesFirst checks that a passage is not cut before the document that keeps it is written.
func TestTheEarlierDocumentComesFirst(t *testing.T) {
	menu := sentence("menu", 20)
	s := new(set).add("a", menu+". "+sentence("a", 5)).add("b", menu+". "+sentence("b", 5)).shares(menu, "a")
	s.ids = []string{"b", "a"}
	s.check(t, "in the other order", cut.Options{Remove: cut.All}, map[string][]string{}, cut.Counts{Absent: 1})
	s.ids = []string{"b"}
	s.check(t, "without the first", cut.Options{Remove: cut.All}, map[string][]string{}, cut.Counts{Absent: 1})
}

// TestCommonPassagesAreCounted checks that a passage is common from eight documents on. Those that
// were removed, and inner passages, do not count.
func TestCommonPassagesAreCounted(t *testing.T) {
	menu, frame := sentence("menu", 20), sentence("frame", 12)
	for holders := 6; holders <= 9; holders++ {
		s := new(set).add("0", menu+". "+sentence("a", 5)+". "+frame)
		for i := 1; i < holders; i++ {
			s.add(fmt.Sprint(i), menu+". "+sentence(fmt.Sprint("b", i, "x"), 15)+".").shares(menu, "0")
		}
		s.add("removed", menu+". "+sentence("a", 5)).shares(menu, "0")
		s.lines["removed"].Kept = false
		s.add("last", frame+". "+sentence("last", 10)).shares(frame, "0")
		s.add("inner", menu).shares(menu, "0")
		s.lines["inner"].Passages[0].Inner = true
		menus := map[string][]string{}
		for i := 1; i < holders; i++ {
			menus[fmt.Sprint(i)] = []string{menu}
		}
		n := int64(holders - 1)
		copied, common := map[string][]string{"last": {frame}}, map[string][]string{}
		counts, other := cut.Counts{Cut: 1, CutWords: 12}, cut.Counts{Cut: n, CutWords: 20 * n}
		if holders >= 8 {
			common = menus
		} else {
			for id := range menus {
				copied[id] = menus[id]
			}
			counts, other = cut.Counts{Cut: 1 + n, CutWords: 12 + 20*n}, cut.Counts{}
		}
		s.check(t, fmt.Sprint("copied of ", holders), cut.Options{Remove: cut.Copied}, copied, counts)
		s.check(t, fmt.Sprint("common of ", holders), cut.Options{Remove: cut.Common}, common, other)
		p, _ := s.plan(cut.Options{})
		for id, want := range map[string]int{"1": holders, "3": holders, "last": 2} {
			if got := p.Documents(id, &s.lines[id].Passages[0]); got != want {
				t.Errorf("%d holders: %s has a passage of %d documents, want %d", holders, id, got, want)
			}
		}
		if got := p.Documents("inner", &s.lines["inner"].Passages[0]); got != 2 {
			t.Errorf("an inner passage is in %d documents", got)
		}
	}
}

// TestPassagesAreTraced checks that a passage is counted at the first document with it: by those
// passages there that include its middle.
func TestPassagesAreTraced(t *testing.T) {
	head, middle, tail, own := sentence("head", 10), sentence("middle", 20), sentence("tail", 10), sentence("own", 10)
	whole := head + ". " + middle + ". " + tail
	s := new(set).add("0", sentence("first", 60)+". "+whole)
	s.add("1", "One and more. "+whole+". "+own).shares(whole, "0")
	s.add("2", middle+". "+tail+". Another").shares(middle+". "+tail, "1")
	s.add("3", "Before. "+middle).shares(middle, "2")
	s.add("4", head).shares(head, "1")
	s.add("5", "Another. "+tail).shares(tail, "2")
	s.add("6", own).shares(own, "1")
	p, err := s.plan(cut.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{"1": 4, "2": 4, "3": 4, "4": 3, "5": 4, "6": 2} {
		if got := p.Documents(id, &s.lines[id].Passages[0]); got != want {
			t.Errorf("the passage of %s stands in %d documents, want %d", id, got, want)
		}
	}
}

// TestWholeSegmentsAreCut checks that a passage is cut from its first whole segment to its last, in
// any script, and that one without a whole segment stays.
func TestWholeSegmentsAreCut(t *testing.T) {
	s := new(set).add("a", "Über die Brücke gehen wir. Straße und Café öffnen um acht, sagt er. 委员会于五月召开会议。 Danach nicht")
	s.add("b", "Hinüber die Brücke gehen wir. Straße und Café öffnen um acht, sagt er. 委员会于五月召开会议。 Danach auch")
	s.shares("die Brücke gehen wir. Straße und Café öffnen um acht, sagt er. 委员会于五月召开会议。 Danach", "a")
	s.add("c", "Heute gehen wir nicht").shares("gehen wir", "a")
	s.check(t, "segments", cut.Options{Remove: cut.All}, map[string][]string{
		"b": {"Straße und Café öffnen um acht, sagt er. 委员会于五月召开会议"},
	}, cut.Counts{Cut: 1, CutWords: 18, Unsegmented: 1})
}

// TestShortPassagesStay checks the least number of words, and that inner passages stay.
func TestShortPassagesStay(t *testing.T) {
	for least, want := range map[int]int{19: 1, 20: 1, 21: 0} {
		menu := sentence("menu", 20)
		s := new(set).add("a", menu).add("b", menu+". "+sentence("b", 9)).shares(menu, "a")
		s.add("c", menu).shares(menu, "a")
		s.lines["c"].Passages[0].Inner = true
		got, p := s.cut(t, cut.Options{Remove: cut.All, MinUnits: least})
		if len(got["b"]) != want || len(got) != want || p.Counts.Cut != int64(want) || p.Counts.Absent != 0 {
			t.Errorf("at least %d words: %q, %+v", least, got, p.Counts)
		}
	}
}

// TestDocumentsAreDropped checks that a cut document with fewer words than the least is dropped, and
// counts as dropped alone. One that is short without a cut stays.
func TestDocumentsAreDropped(t *testing.T) {
	menu := sentence("menu", 20)
	for least, dropped := range map[int]bool{0: false, 9: false, 10: true, 25: true} {
		s := new(set).add("a", menu).add("b", menu+". "+sentence("b", 9)).shares(menu, "a").add("short", "Three short words")
		want, counts := map[string][]string{"b": {menu}}, cut.Counts{Cut: 1, CutWords: 20}
		if dropped {
			want, counts = map[string][]string{"b": {"dropped: " + menu}}, cut.Counts{Dropped: 1}
		}
		s.check(t, fmt.Sprint("fewer than ", least), cut.Options{Remove: cut.All, DropBelow: least}, want, counts)
	}
}

// TestCodeStays checks that documents with more than one symbol in eight characters stay, if wanted.
// Spaces, full stops, commas and hyphens are no symbols.
func TestCodeStays(t *testing.T) {
	words := "aaaaa bbbbb ccccc ddddd eeeee fffff ggggg" // 35 characters
	for symbols, code := range map[string]bool{"(++)": false, "(+++++)": true, ".,-.,-.,-.,-": false, "    \n\n": false, "«»…—": false, "(====": false, "(=====": true} {
		text := words + " " + symbols
		s := new(set).add("a", text).add("b", text).shares(words, "a")
		for _, keep := range []bool{false, true} {
			want := 1
			if keep && code {
				want = 0
			}
			if got, _ := s.cut(t, cut.Options{Remove: cut.All, KeepCode: keep}); len(got["b"]) != want {
				t.Errorf("%q, code stays %v: %q", symbols, keep, got)
			}
		}
	}
}

// TestWhatIsCutStandsBefore checks that a passage of a document that was cut itself is compared with the words it had.
func TestWhatIsCutStandsBefore(t *testing.T) {
	menu := sentence("menu", 20)
	s := new(set).add("a", menu).add("b", "Here. "+menu).shares(menu, "a").add("c", "There: "+menu).shares(menu, "b")
	s.check(t, "a chain", cut.Options{Remove: cut.All}, map[string][]string{"b": {menu}, "c": {menu}}, cut.Counts{Cut: 2, CutWords: 40})
}

// TestOtherTextsAreRefused checks that a text without the words of its line is an error.
func TestOtherTextsAreRefused(t *testing.T) {
	menu := sentence("menu", 20)
	for name, text := range map[string]string{
		"shorter":      menu[:50],
		"moved":        "x " + menu,
		"two as one":   strings.Replace(menu, "menu7 ", "menu7x", 1),
		"further ones": menu[:20] + " " + menu[20:],
	} {
		s := new(set).add("a", menu).add("b", menu).shares(menu, "a")
		p, err := s.plan(cut.Options{Remove: cut.All})
		if err == nil {
			_, _, err = p.Document("a", []byte(menu), nil)
		}
		if err == nil {
			_, _, err = p.Document("b", []byte(text), s.lines["b"])
		}
		if err == nil || !strings.Contains(err.Error(), "give the inputs of that run") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMalformedPassages checks that numbers that no run writes are refused with the id, but not
// those of a removed document.
func TestMalformedPassages(t *testing.T) {
	good := report.Passage{Start: 0, End: 5, Of: "a", OfStart: 0, OfEnd: 5, Units: 1}
	for name, change := range map[string]func(*report.Passage){
		"good":                func(*report.Passage) {},
		"inner":               func(q *report.Passage) { q.Inner, q.OfStart, q.OfEnd = true, -1, -1 },
		"inner, empty":        func(q *report.Passage) { q.Inner, q.End = true, 0 },
		"before the text":     func(q *report.Passage) { q.Start = -1 },
		"empty":               func(q *report.Passage) { q.End = 0 },
		"without words":       func(q *report.Passage) { q.Units = 0 },
		"no place there":      func(q *report.Passage) { q.OfStart, q.OfEnd = -1, -1 },
		"an empty one there":  func(q *report.Passage) { q.OfEnd = 0 },
		"one before the text": func(q *report.Passage) { q.OfStart = -3 },
	} {
		for _, kept := range []bool{true, false} {
			q := good
			change(&q)
			s := &set{order: []*lines.Line{{ID: "the id", Kept: kept, Passages: []report.Passage{q}}}}
			_, err := s.plan(cut.Options{})
			if bad := kept && name != "good" && name != "inner"; bad != (err != nil) || bad && !strings.Contains(err.Error(), "the id") {
				t.Errorf("%s, kept %v: %v", name, kept, err)
			}
		}
	}
	broken := errors.New("broken")
	_, err := cut.NewPlan(cut.Options{}, func(yield func(*lines.Line, error) bool) { yield(nil, broken) })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}
