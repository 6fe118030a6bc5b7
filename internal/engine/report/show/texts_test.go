package show

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// TestTexts checks that totals count every document and byte of the inputs. The page marks the
// words that only one text has.
func TestTexts(t *testing.T) {
	of := "first"
	all := []lines.Line{
		{ID: "second", Of: &of, Verdict: "duplicate", Score: 0.8, File: "in", Line: corpus.Place{Record: 2}},
		{ID: "third", Of: &of, Verdict: "duplicate", Exact: true, Score: 1, File: "in", Line: corpus.Place{Record: 3}},
		{ID: "fourth", Of: &of, Verdict: "related", Kept: true, Score: 0.3, File: "in", Line: corpus.Place{Record: 4}},
	}
	d := digestOf(t, all)
	want := []Total{
		{Verdict: "exact duplicate", Documents: 1, Removed: 1},
		{Verdict: "duplicate", Documents: 1, Removed: 1},
		{Verdict: "related", Documents: 1, Kept: 1},
	}
	if !slices.Equal(d.Totals, want) {
		t.Errorf("without texts: %+v", d.Totals)
	}
	if len(d.Examples) != 3 {
		t.Errorf("%d examples of 3 documents", len(d.Examples))
	}
	texts := d.ReadTexts()
	texts.Add([]byte("first"), []byte("The ferry leaves at <seven>."), nil, "in")
	texts.Add([]byte("second"), []byte("The ferry leaves at eight."), &all[0], "in")
	texts.Add([]byte("third"), []byte("The ferry leaves at <seven>."), &all[1], "in")
	texts.Add([]byte("first"), []byte("Another of this id."), nil, "in")
	texts.Close()
	if sum := d.Sum(); sum != (Total{"all", 4, 2, 2, 28 + 26 + 28 + 19, 26 + 28}) {
		t.Errorf("%+v", sum)
	}
	var page bytes.Buffer
	if err := d.WriteHTML(&page, []string{"title"}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`<bdi>The ferry leaves at <b class="only">eight</b>.</bdi>`,
		`<bdi>The ferry leaves at &lt;<b class="only">seven</b>&gt;.</bdi>`,
		`<td>unique</td><td class="n">2</td><td class="n">50.0%</td><td class="n">2</td><td class="n">0</td><td class="n">47</td><td class="n">0</td>`,
	} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("%s is not in the page", part)
		}
	}
	if strings.Contains(page.String(), "Another of this id") {
		t.Error("a later document of the id is shown as the source")
	}
}

// TestFolded checks that stretches lose their middle and texts their end, in whole characters.
func TestFolded(t *testing.T) {
	long := strings.Repeat("渡", 3*maxText)
	e := Example{text: beginning([]byte(long)), other: "x", read: true}
	document := e.Sides()[0].Left
	runes := 0
	for _, p := range document {
		if !strings.HasPrefix(strings.Trim(p.Text, " …"), "渡") && strings.Trim(p.Text, " …") != "" {
			t.Errorf("%q", p.Text)
		}
		runes += len([]rune(p.Text))
	}
	if runes == 0 || runes > sideRunes {
		t.Errorf("%d characters are shown", runes)
	}
}

// TestSpread checks that examples cover every verdict, file and folder of a report, without
// repeats. The order of folders does not matter.
func TestSpread(t *testing.T) {
	var all []lines.Line
	of := "of"
	for i := range 4000 {
		l := lines.Line{
			ID: fmt.Sprintf("folder%d/%d", i/1000, i), Of: &of, Verdict: "duplicate", Score: report.Share(50+i%50) / 100,
			File: fmt.Sprint("file", i/2000), Line: corpus.Place{Record: int64(i + 1)},
		}
		switch i % 10 {
		case 0:
			l.Verdict, l.Kept = "related", true
		case 1:
			l.Exact, l.Score = true, 1
		}
		all = append(all, l)
	}
	d := digestOf(t, all)
	seen, places := map[string]int{}, map[string]bool{}
	for _, e := range d.Examples {
		if places[e.Where] {
			t.Errorf("%s is shown twice", e.Where)
		}
		places[e.Where] = true
		if e.Kind == spreadKind {
			folder, _, _ := strings.Cut(e.ID, "/")
			file, _, _ := strings.Cut(e.Where, ":")
			seen[folder]++
			seen[file]++
			seen["all"]++
		}
	}
	for _, trait := range []string{"folder0", "folder1", "folder2", "folder3", "file0", "file1"} {
		if seen[trait] < 2 {
			t.Errorf("%d examples of %s", seen[trait], trait)
		}
	}
	if seen["all"] != maxSpread {
		t.Errorf("%d examples", seen["all"])
	}
	if again := digestOf(t, all); !reflect.DeepEqual(again.Examples, d.Examples) {
		t.Error("the same report has other examples")
	}
}
