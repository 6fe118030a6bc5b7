package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
	"github.com/firstseen/firstseen/internal/engine/report/show"
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

func digestOf(all []lines.Line) *show.Digest {
	c := show.NewCollector(show.ByIDs, true)
	for i := range all {
		c.Add(&all[i])
	}
	return c.Digest()
}

// writeDigest writes a digest as a page, and returns its URL.
func writeDigest(t *testing.T, d *show.Digest) string {
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
	return FileURL(path)
}

// shown waits for a text in the state of the list, and returns the rows of the list.
func shown(p *Page, status string) (rows []string) {
	p.Wait(fmt.Sprintf("document.querySelector('#status').textContent.startsWith(%q)", status))
	p.Eval("[...document.querySelectorAll('#list tbody tr')].map(row => row.innerText)", &rows)
	return rows
}

// TestReportPage checks that a cell of the map, a bar and a source lead to their lines, that
// search and pages work, and that the page asks for nothing else.
func TestReportPage(t *testing.T) {
	t.Parallel()
	p := Open(t, writeDigest(t, digestOf(news(3000))))
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

// TestReportPageForEveryone checks contrast, labels and the way of Tab, wide and narrow, light and dark.
func TestReportPageForEveryone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	all := news(200)
	d := digestOf(all)
	texts := d.ReadTexts()
	for i := range all {
		texts.Add([]byte(*all[i].Of), []byte("The ferry leaves at seven. "+all[i].ID), nil, "")
		texts.Add([]byte(all[i].ID), []byte("The ferry leaves at eight. "+all[i].ID), &all[i], "")
	}
	texts.Close()
	p := Open(t, writeDigest(t, d))
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

// TestReportPageWithoutScript checks that all but the list can be read without scripts.
func TestReportPageWithoutScript(t *testing.T) {
	t.Parallel()
	p := Open(t, "about:blank")
	p.NoScript()
	p.Go(writeDigest(t, digestOf(news(100))))
	var text string
	p.Eval("document.body.innerText", &text)
	for _, want := range []string{"90 documents are removed", "host1.example", "Which threshold?", "weakest: 0.65", "The list needs a script"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the page: %s", want, text)
		}
	}
}

// hostile holds ids that a page could act on.
var hostile = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "a\u202egpj.exe", "{{.Title}}", "javascript:alert(1)",
	"</title><script>", "https://例え.jp/<b>?a=1&b=2", "\x00\x9b31m",
}

// TestHostileReportPage checks that hostile ids neither run nor load anything.
func TestHostileReportPage(t *testing.T) {
	t.Parallel()
	var all []lines.Line
	for i, id := range hostile {
		of := hostile[(i+1)%len(hostile)]
		all = append(all, lines.Line{ID: id, Of: &of, Verdict: "duplicate", Score: report.Share(i) / 10, Sample: []string{id, of}, File: id})
	}
	d := digestOf(all)
	texts := d.ReadTexts()
	for i := range all {
		texts.Add([]byte(all[i].ID), []byte(strings.Join(hostile, "\n")+all[i].ID), &all[i], all[i].File)
	}
	texts.Close()
	p := Open(t, writeDigest(t, d))
	rows := shown(p, "8 of 8")
	if told, asked := p.Errors(), p.Requests(); len(told) > 0 || len(asked) != 1 || !strings.Contains(rows[0], "<script>alert(1)</script>") {
		t.Errorf("%q, %q, %q", told, asked, rows)
	}
}
