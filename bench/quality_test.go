package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bench/eval"
)

func TestOtherPage(t *testing.T) {
	for _, c := range []struct {
		id, witness string
		want        bool
	}{
		{"git-doc/doc/git-rev-list.html", "git-doc/doc/git-log.html", true},
		{"git-doc/doc/git-rev-list.html", "git-doc/doc/git-log.txt", true},
		{"git-doc/doc/git-log.html", "git-doc/doc/git-log.txt", false},
		{"git-doc/doc/git-log.html", "other-doc/doc/git-rev-list.html", false},
		{"d/html/_sources/a.rst.txt", "d/Documentation/a.rst.gz", false},
		{"d/html/_sources/a.rst.txt", "d/Documentation/b.rst.gz", true},
		{"d/html/a/index.html", "d/html/b/index.html", true},
		{"d/html/a/index.html", "d/Documentation/b/index.rst.gz", false},
		{"d/zh_CN/a/index.html", "d/zh_TW/a/index.html", false},
		{"d/zh_CN/index.html", "d/html/index.html", false},
		{"perl/pod/perlfaq.pod", "perl/man/man1/perlfaq.1.gz", false},
		{"d/man3/list.3.gz", "d/man7/slist.7.gz", true},
	} {
		if got := otherPage(c.id, c.witness); got != c.want {
			t.Errorf("%s, witness %s: %v", c.id, c.witness, got)
		}
	}
}

// wordsFrom returns n different words, ten per sentence.
func wordsFrom(from, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("w" + strings.Repeat("x", (from+i)%7) + string(rune('a'+(from+i)%26)) + string(rune('a'+(from+i)/26%26)))
		if i%10 == 9 {
			b.WriteString(".")
		}
		b.WriteString(" ")
	}
	return b.String()
}

// scripted removes listed documents.
type scripted struct {
	at      int
	witness map[int]int
}

func (*scripted) Name() string { return "scripted" }

func (s *scripted) Decide(eval.Doc) (int, bool, error) {
	w, removed := s.witness[s.at]
	s.at++
	return w, removed, nil
}

func (*scripted) Size() int64 { return 30 }

// TestFigures decides five documents: 0 and 1 are copies, 2 shares half with 0, 3 and 4 nothing.
func TestFigures(t *testing.T) {
	s := &labelled{Set: eval.Set{
		Name: "made",
		Docs: []eval.Doc{
			{ID: "p/a.html", Text: wordsFrom(0, 100)},
			{ID: "p/b.html", Text: wordsFrom(0, 100)},
			{ID: "p/c.html", Text: wordsFrom(0, 60) + wordsFrom(300, 40)},
			{ID: "p/d.html", Text: wordsFrom(400, 100)},
			{ID: "p/e.html", Text: wordsFrom(500, 100)},
		},
		Pairs: []eval.Pair{
			{A: "p/a.html", B: "p/b.html", Label: "dup", Alike: true},
			{A: "p/e.html", B: "p/b.html", Label: "dup", Alike: true},
			{A: "p/a.html", B: "p/c.html", Label: "hardneg"},
			{A: "p/e.html", B: "p/d.html", Label: "0"},
		},
		Frame: otherPage,
	}}
	if err := s.load(context.Background()); err != nil {
		t.Fatal(err)
	}
	o, err := s.Decide(context.Background(), &scripted{witness: map[int]int{1: 0, 2: 0, 4: 3}})
	if err != nil {
		t.Fatal(err)
	}
	got := s.Figures(o, "scripted")
	got.Jaccard, got.Containment, got.LCS = 0, 0, 0
	frame := 2
	want := &eval.Figures{
		Corpus: "made", Rule: "scripted", Documents: 5, Removed: 3, False: 1, Grey: 2, Long: 2, Frame: &frame,
		Alike: 2, Left: 0, LeftOf: map[string][2]int{"dup": {0, 2}}, Found: 1, Negatives: 2, NegativesRemoved: 2, Bytes: 15,
	}
	if g, w := asJSON(t, got), asJSON(t, want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

func asJSON(t *testing.T, f *eval.Figures) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestChooseRules(t *testing.T) {
	for keys, want := range map[string]int{"default": 1, "exact,default": 2, "all": len(rules())} {
		if chosen, err := chooseRules(keys); err != nil || len(chosen) != want {
			t.Errorf("%s: %d rules, error %v", keys, len(chosen), err)
		}
	}
	if _, err := chooseRules("default,none"); err == nil {
		t.Error("an unknown rule is no error")
	}
}

// TestProgramIsRule checks that each rule removes a copy with the first document as witness.
func TestProgramIsRule(t *testing.T) {
	for _, maker := range append(rules(), thresholds()...) {
		rule, err := maker.new()
		if err != nil {
			t.Fatal(err)
		}
		text := wordsFrom(0, 200)
		for i, want := range []int{-1, -1, 0} {
			doc := eval.Doc{ID: string(rune('a' + i)), Text: []string{text, wordsFrom(200, 200), text}[i]}
			witness, removed, err := rule.Decide(doc)
			if err != nil || removed != (want >= 0) || removed && witness != want {
				t.Errorf("%s: document %d: removed %v, witness %d, error %v", rule.Name(), i, removed, witness, err)
			}
		}
		if rule.Size() <= 0 {
			t.Errorf("%s: size %d", rule.Name(), rule.Size())
		}
	}
}

func TestTables(t *testing.T) {
	all := []*eval.Figures{
		{Corpus: "a", Rule: "x", Removed: 1, Alike: 2, Left: 1},
		{Corpus: "a", Rule: "y", Removed: 2},
		{Corpus: "b", Rule: "x", Removed: 3},
		{Corpus: "b", Rule: "y", Removed: 4},
	}
	chosen, err := chooseColumns("removed,left")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chooseColumns("removed,none"); err == nil {
		t.Error("an unknown column is no error")
	}
	for want, write := range map[string]func(io.Writer) func(*eval.Figures) error{
		"| removed | left |\n|---|---|\n| 1 | 50.0% |\n| 2 | - |\n| 3 | - |\n| 4 | - |\n": func(w io.Writer) func(*eval.Figures) error {
			return writeTable(w, chosen)
		},
		"| corpus | x | y |\n|---|---|---|\n| a | 1 / 50.0% | 2 / - |\n| b | 3 / - | 4 / - |\n": func(w io.Writer) func(*eval.Figures) error {
			return writeBeside(w, chosen, 2)
		},
	} {
		var b strings.Builder
		row := write(&b)
		for _, f := range all {
			if err := row(f); err != nil {
				t.Fatal(err)
			}
		}
		if b.String() != want {
			t.Errorf("got\n%swant\n%s", b.String(), want)
		}
	}
}
