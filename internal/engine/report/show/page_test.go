package show

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
	"github.com/firstseen/firstseen/internal/testing/browser"
)

// news makes a report of n lines about pages of four hosts. Line i has a score of (650 + i%350)/1000.
func news(n int) []lines.Line {
	all := make([]lines.Line, n)
	for i := range all {
		of := fmt.Sprintf("https://host%d.example/first/%d", i%2, i%50)
		at := time.Unix(1.7e9+int64(i)*3600, 0)
		all[i] = lines.Line{
			ID: fmt.Sprintf("https://host%d.example/copy/%d", i%4, i), Of: &of, Verdict: "duplicate", Score: report.Share(650+i%350) / 1000,
			Sample: []string{fmt.Sprintf("the quoted sentence number %d", i)}, File: "news.jsonl", Line: corpus.Place{Record: int64(3*i + 1)}, Time: &at,
		}
		all[i].Contained = all[i].Score
		switch i % 10 {
		case 8:
			all[i].Verdict, all[i].Kept = "related", true
		case 9:
			all[i].Exact, all[i].Score = true, 1
		}
	}
	return all
}

// write writes a digest as a page, and returns its URL.
func write(t *testing.T, d *Digest) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	file, err := os.Create(path)
	if err == nil {
		err = d.WriteHTML(file, []string{"news.jsonl"})
		file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return browser.FileURL(path)
}

// shown waits for a text in the state of the list, and returns the rows of the list.
func shown(p *browser.Page, status string) (rows []string) {
	p.Wait(fmt.Sprintf("document.querySelector('#status').textContent.startsWith(%q)", status))
	p.Eval("[...document.querySelectorAll('#list tbody tr')].map(row => row.innerText)", &rows)
	return rows
}

// TestPageInBrowser checks that a cell of the map, a bar and a source lead to their lines, that
// search and pages work, and that the page asks for nothing else.
func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, write(t, digestOf(t, news(3000))))
	p.Size(1280, 900)
	if rows := shown(p, "3,000 of 3,000 lines"); len(rows) != 50 || !strings.Contains(rows[0], "host0.example/copy/0") {
		t.Fatalf("%q", rows)
	}
	p.Click(".map tbody tr:nth-child(2) td a")
	rows := shown(p, "750 of 3,000 lines; removed from host1.example, first seen in host1.example")
	if first := rows[0]; !strings.Contains(first, "0.6510") || !strings.Contains(first, "host1.example/copy/1\n") || !strings.Contains(first, "sentence number 1\n") {
		t.Errorf("%q is the weakest", first)
	}
	var top float64
	p.Eval("Math.abs(document.querySelector('#list').getBoundingClientRect().top)", &top)
	if top > 100 {
		t.Errorf("the list is %v pixels away", top)
	}
	p.Key("ArrowRight")
	p.Wait("document.querySelector('.pager span').textContent == 'page 2 of 15'")
	p.Click("button[name=back]")
	p.Wait("document.querySelector('.pager span').textContent == 'page 1 of 15'")
	p.Click("button[name=clear]")
	shown(p, "3,000 of")
	p.Key("/")
	p.Type("COPY/2999")
	if rows := shown(p, "1 of 3,000 lines"); len(rows) != 1 || !strings.Contains(rows[0], "news.jsonl:8998") || !strings.Contains(rows[0], "1.0000") {
		t.Errorf("%q", rows)
	}
	p.Eval("location.hash = document.querySelector('#most a').hash", nil)
	if rows := shown(p, "60 of 3,000 lines; copies of https://host0.example/first/0"); len(rows) != 50 {
		t.Errorf("%d rows", len(rows))
	}
	p.Click("figure.rel a")
	for _, row := range shown(p, "45 of 3,000 lines; scores from 0.65 to 0.70") {
		if !strings.Contains(row, "related, kept") {
			t.Errorf("%q", row)
		}
	}
	if told, asked := p.Errors(), p.Requests(); len(told) > 0 || len(asked) != 1 {
		t.Errorf("%q, %q", told, asked)
	}
}

// TestPageForEveryone checks contrast, labels and the way of Tab, wide and narrow, light and dark.
func TestPageForEveryone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	all := news(200)
	d := digestOf(t, all)
	texts := d.ReadTexts()
	for i := range all {
		texts.Add([]byte(*all[i].Of), []byte("The ferry leaves at seven. "+all[i].ID), nil, "")
		texts.Add([]byte(all[i].ID), []byte("The ferry leaves at eight. "+all[i].ID), &all[i], "")
	}
	texts.Close()
	p := browser.Open(t, write(t, d))
	for _, width := range []int{1280, 360} {
		p.Size(width, 800)
		p.Dark(width == 360)
		shown(p, "200 of")
		if faults := p.Axe(); len(faults) > 0 {
			t.Errorf("%d pixels: %s", width, strings.Join(faults, "\n"))
		}
	}
	p.Dark(true)
	p.Size(1280, 800)
	if faults := p.Axe(); len(faults) > 0 {
		t.Errorf("dark: %s", strings.Join(faults, "\n"))
	}
}

// TestPageWithoutScript checks that all but the list can be read without scripts.
func TestPageWithoutScript(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, "about:blank")
	p.NoScript()
	p.Go(write(t, digestOf(t, news(100))))
	var text string
	p.Eval("document.body.innerText", &text)
	for _, want := range []string{"90 documents are removed", "host1.example", "Which threshold?", "weakest: 0.65", "The list needs a script"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the page: %s", want, text)
		}
	}
}

// TestHostilePageInBrowser checks that hostile ids neither run nor load anything.
func TestHostilePageInBrowser(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.html")
	var b strings.Builder
	hostilePage(t, &b)
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	p := browser.Open(t, browser.FileURL(path))
	rows := shown(p, "30 of 30")
	if told, asked := p.Errors(), p.Requests(); len(told) > 0 || len(asked) != 1 || !strings.Contains(rows[0], "<script>alert(1)</script>") {
		t.Errorf("%q, %q, %q", told, asked, rows)
	}
}

// TestSeries checks that no count is lost, and each is in the bar of its number.
func TestSeries(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int64Range(-1<<40, 1<<40), 1, 50).Draw(rt, "numbers")
		var s series
		for _, n := range numbers {
			s.add(n, 1, 2)
		}
		want := make([][2]int64, (slices.Max(numbers)-s.start)/s.width+1)
		for _, n := range numbers {
			want[(n-s.start)/s.width][0]++
			want[(n-s.start)/s.width][1] += 2
		}
		if !slices.Equal(s.met(), want) || len(want) > maxBars {
			rt.Fatalf("%v from %d by %d, want %v", s.met(), s.start, s.width, want)
		}
		if s.width > 1 && (slices.Max(numbers)-slices.Min(numbers))/s.width < maxBars/4 {
			rt.Fatalf("bars of %d are too wide", s.width)
		}
	})
}

// TestThresholds checks that each step counts the scores that reach it, and has its weakest pairs.
func TestThresholds(t *testing.T) {
	d := digestOf(t, news(1000))
	var got []string
	for _, s := range d.Thresholds {
		weakest := ""
		for _, e := range s.Weakest {
			weakest += fmt.Sprint(" ", e.Score)
		}
		got = append(got, fmt.Sprintf("%v %d %v%s", s.Threshold, s.Removed, s.AtLeast, weakest))
	}
	want := []string{"0.5 900 true", "0.6 900 true 0.65 0.65 0.65", "0.7 780 false 0.7 0.7 0.7", "0.8 540 false 0.8 0.8 0.8", "0.9 300 false 0.9 0.9 0.9"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	of := "of"
	if d := digestOf(t, []lines.Line{{ID: "a", Of: &of, Verdict: "duplicate", Exact: true, Score: 1}}); d.Thresholds != nil {
		t.Errorf("exact copies alone: %+v", d.Thresholds)
	}
}

// TestMap checks the groups of ids: hosts, or as many levels of folders as there is room for.
func TestMap(t *testing.T) {
	digest := func(by string, ids ...string) *Map {
		c := NewCollector(by, false)
		for _, pair := range ids {
			id, of, _ := strings.Cut(pair, " ")
			c.Add(&lines.Line{ID: id, Of: &of, Verdict: "duplicate"})
		}
		m := c.Digest().Map
		if m != nil {
			m.rowOf, m.columnOf = nil, nil
		}
		return m
	}
	urls := []string{"https://b.example/x/1 https://a.example/x/1", "https://b.example/y/2 https://a.example/x/2"}
	for _, c := range []struct {
		got  *Map
		want *Map
	}{
		{digest(ByIDs, append(urls, "https://a.example/3 https://a.example/4")...), &Map{By: "host or folder", Rows: []string{"a.example", "b.example"}, Columns: []string{"a.example"}, Counts: [][]int64{{1}, {2}}}},
		{digest(ByFolder, urls...), &Map{By: ByFolder, Rows: []string{"b.example/x", "b.example/y"}, Columns: []string{"a.example/x"}, Counts: [][]int64{{1}, {1}}}},
		{digest(ByIDs, "/data/x/a/1 /data/y/b/1", "/data/x/c/2 /data/x/a/3"), &Map{By: "host or folder", Rows: []string{"/data/x/a", "/data/x/c"}, Columns: []string{"/data/x/a", "/data/y/b"}, Counts: [][]int64{{0, 1}, {1, 0}}}},
		{digest(ByIDs, "1 2"), nil},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%+v, want %+v", c.got, c.want)
		}
	}
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("f%02d/g%d/id f%02d/g%d/id", i%20, i, i%3, i))
	}
	m := digest(ByIDs, many...)
	if len(m.Rows) != maxSide+1 || m.Rows[maxSide] != others || len(m.Columns) != 3 || m.Columns[0] != "f00" {
		t.Errorf("%+v", m)
	}
	sum := int64(0)
	for _, row := range m.Counts {
		for _, n := range row {
			sum += n
		}
	}
	if sum != 300 {
		t.Errorf("the map counts %d documents of 300", sum)
	}
}

// TestMapLabels checks that a long label begins at a folder, and that a page without a map says why.
func TestMapLabels(t *testing.T) {
	for name, want := range map[string]string{
		"short/one": "short/one", "/usr/lib/node_modules/npm/docs/content": "…/npm/docs/content",
		"a-very-long-host.of-a-company.example": "…st.of-a-company.example", "/data/of/a-very-long-folder-of-news/x": "…y-long-folder-of-news/x",
	} {
		if got := lastOf(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for id, want := range map[string]bool{"a": true, "b/a": false} {
		c, of := NewCollector(ByIDs, true), "c"
		c.Add(&lines.Line{ID: id, Of: &of, Verdict: "duplicate"})
		c.Add(&lines.Line{ID: "d", Of: &of, Verdict: "duplicate"})
		var page strings.Builder
		if err := c.Digest().WriteHTML(&page, nil); err != nil || strings.Contains(page.String(), "A map of sources would have one cell here.") != want {
			t.Errorf("%s: %v, a note is wanted: %v", id, err, want)
		}
	}
}

// TestMapByInput checks that the inputs tell the group of a source. Sources elsewhere are of an
// earlier run.
func TestMapByInput(t *testing.T) {
	c := NewCollector(ByInput, true)
	first, old := "first", "old"
	all := []lines.Line{{ID: "x", Of: &first, Verdict: "duplicate"}, {ID: "y", Of: &old, Verdict: "duplicate"}}
	for i := range all {
		c.Add(&all[i])
	}
	d := c.Digest()
	texts := d.ReadTexts()
	texts.Add([]byte("first"), nil, nil, "a.jsonl")
	texts.Add([]byte("first"), nil, nil, "b.jsonl")
	texts.Add([]byte("x"), nil, &all[0], "b.jsonl")
	texts.Add([]byte("y"), nil, &all[1], "b.jsonl")
	texts.Close()
	if m := d.Map; !slices.Equal(m.Columns, []string{"a.jsonl", earlier}) || !slices.Equal(m.Rows, []string{"b.jsonl"}) || !slices.Equal(m.Counts[0], []int64{1, 1}) || d.rows.n != 2 {
		t.Errorf("%+v", m)
	}
}

// TestStream checks the kept share along the stream: exact with the inputs, else by the records.
func TestStream(t *testing.T) {
	d := digestOf(t, news(100)) // a line for each third record
	kept := d.course.shares()
	if len(kept) != 75 || kept[0] != .5 || kept[1] != .75 || d.course.read { // of records 1 to 4, 1 and 4 are removed
		t.Errorf("%v", kept)
	}
	texts := d.ReadTexts()
	for range 300 {
		texts.Add(nil, nil, nil, "")
		texts.Add(nil, nil, &lines.Line{Verdict: "duplicate"}, "")
	}
	if kept := d.course.shares(); len(kept) != 75 || kept[0] != .5 || kept[74] != .5 {
		t.Errorf("%v", kept)
	}
	whole := news(100)
	for i := range whole {
		whole[i].File, whole[i].Line.Record = fmt.Sprint(i), 1
	}
	if kept := digestOf(t, whole).course.shares(); kept != nil {
		t.Errorf("of files with a document each: %v", kept)
	}
}
