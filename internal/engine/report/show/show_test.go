package show

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/compare/textdiff"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// TestTop checks that counts are exact while there are counters for all values. Otherwise they are
// too high by at most Over.
func TestTop(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		counts := map[string]int64{}
		var top top
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 300).Draw(rt, "values") {
			v := fmt.Sprint(n)
			counts[v]++
			top.add(v)
		}
		last := int64(1 << 60)
		for _, c := range top.most(1000) {
			if c.Count != counts[c.Value] || c.Over != 0 || c.Count > last {
				rt.Fatalf("%+v, want %d", c, counts[c.Value])
			}
			last = c.Count
			delete(counts, c.Value)
		}
		if len(counts) > 0 {
			rt.Fatalf("not told of: %v", counts)
		}
	})
	var many top
	for i := range 3 * maxCounters {
		many.add(fmt.Sprint("once ", i))
		if i%8 == 0 {
			many.add("often")
		}
	}
	values := map[string]bool{}
	for _, c := range many.All() {
		values[c.Key] = true
	}
	if len(many.All()) != maxCounters || len(values) != maxCounters {
		t.Fatalf("%d counters, %d values", len(many.All()), len(values))
	}
	c := many.most(1)[0]
	if want := int64(3 * maxCounters / 8); c.Value != "often" || c.Count < want || c.Count-c.Over > want {
		t.Errorf("%+v, want %d", c, want)
	}
}

// hostile holds ids that a page or a terminal could act on.
var hostile = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "\x1b]0;title\x07\x1b[2J", "a\u202egpj.exe",
	"{{.Title}}", "javascript:alert(1)", "</title><script>", "https://例え.jp/<b>?a=1&b=2", "\x00\x9b31m", "渡轮\u3000早上",
}

func digestOf(t *testing.T, all []lines.Line) *Digest {
	t.Helper()
	c := NewCollector(ByIDs, true)
	for i := range all {
		c.Add(&all[i])
	}
	return c.Digest()
}

func hostileReport() (all []lines.Line) {
	for i, id := range hostile {
		of := hostile[(i+1)%len(hostile)]
		for _, verdict := range []string{"duplicate", "related", "mosaic"} {
			l := lines.Line{ID: id, Of: &of, Verdict: verdict, Kept: verdict != "duplicate", Score: report.Share(i) / 10, Sample: []string{id, of}, File: id}
			if verdict == "mosaic" {
				l.Of, l.Also = nil, []report.AlsoDoc{{ID: of}}
			}
			all = append(all, l)
		}
	}
	return all
}

// hostilePage writes the page of a report whose ids and texts are hostile.
func hostilePage(t *testing.T, w io.Writer) {
	t.Helper()
	all := hostileReport()
	d := digestOf(t, all)
	texts := d.ReadTexts()
	for i := range all {
		texts.Add([]byte(all[i].ID), []byte(strings.Join(hostile, "\n")+all[i].ID), &all[i], all[i].File)
	}
	texts.Close()
	if err := d.WriteHTML(w, hostile[6:7]); err != nil {
		t.Fatal(err)
	}
}

// TestHostilePage checks that the page has only its template's elements, and nothing that loads or
// runs but the one script, whatever the ids and texts.
func TestHostilePage(t *testing.T) {
	var b bytes.Buffer
	hostilePage(t, &b)
	if !strings.Contains(b.String(), `<div class="sides text">`) || !strings.Contains(b.String(), `<b class="only">`) {
		t.Error("no example has both texts")
	}
	for _, r := range b.String() {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%U is in the page", r)
		}
	}
	allowed := strings.Fields("html head meta title style body header nav main footer section article figure figcaption h1 h2 h3 p div b i q a code span bdi small br mark" +
		" table thead tbody tfoot tr th td svg rect form label input select option button noscript script")
	attributes := strings.Fields("lang charset http-equiv content name class style id role tabindex type scope hidden value autocomplete placeholder viewbox preserveaspectratio x y width height")
	z := html.NewTokenizer(&b)
	elements, scripts := 0, 0
	for z.Next() != html.ErrorToken {
		token := z.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		elements++
		if !slices.Contains(allowed, token.Data) {
			t.Errorf("an element of another's: %v", token)
		}
		if token.Data == "script" && len(token.Attr) == 0 {
			scripts++
		}
		for _, a := range token.Attr {
			told := a.Key == "title" || a.Key == "aria-label" || a.Key == "href" && strings.HasPrefix(a.Val, "#")
			if !told && (!slices.Contains(attributes, a.Key) || strings.Contains(a.Val, "alert")) {
				t.Errorf("an attribute of another's: %v", token)
			}
		}
	}
	if z.Err() != io.EOF || elements < 200 || scripts != 1 {
		t.Errorf("%d elements, %d scripts, %v", elements, scripts, z.Err())
	}
}

// TestHostileText checks that no byte of the report makes a terminal act.
func TestHostileText(t *testing.T) {
	for _, columns := range []int{0, 1, 41, 100, 1000} {
		var b bytes.Buffer
		if err := digestOf(t, hostileReport()).WriteText(&b, Style{Columns: columns}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if line != visible.Line(line) {
				t.Errorf("%q", line)
			}
		}
		if !strings.Contains(b.String(), `\u001b`) || strings.Contains(b.String(), "\x1b") {
			t.Error("what a terminal acts on is not written as a number")
		}
	}
}

func widthOf(s string) int { return textdiff.Columns.StringWidth(s) }

// TestWrap checks that nothing is lost and no line is too long.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := visible.Line(rapid.StringOf(rapid.RuneFrom([]rune("ab 渡轮é\u0301ｗ"))).Draw(rt, "text"))
		columns := rapid.IntRange(3, 12).Draw(rt, "columns")
		all := wrap(s, columns)
		if strings.Join(all, "") != s {
			rt.Fatalf("%q of %q", all, s)
		}
		for _, line := range all {
			if widthOf(line) > columns {
				rt.Fatalf("%q has more than %d columns", line, columns)
			}
		}
		page := &text{Style: Style{Columns: columns}}
		if short := page.Short(s, 0); widthOf(short) > columns {
			rt.Fatalf("%q has more than %d columns", short, columns)
		} else if !strings.HasSuffix(s, strings.TrimLeft(short, "… ")) {
			rt.Fatalf("%q is no end of %q", short, s)
		}
	})
}

// TestDigest checks that every line counts once, whatever the order of examples.
func TestDigest(t *testing.T) {
	var all []lines.Line
	of := "https://a.example/1"
	for i := range 100 {
		all = append(all, lines.Line{
			ID: fmt.Sprintf("https://b.example/%d", i), Of: &of, Verdict: "duplicate", Exact: i%4 == 0, SameID: i%10 == 0,
			Score: report.Share(100-i) / 100, File: "in",
		})
	}
	d := digestOf(t, all)
	sum := int64(0)
	for _, b := range d.Histogram {
		sum += b.All()
	}
	if d.Lines != 100 || d.Removed != 100 || d.Exact != 25 || d.SameID != 10 || sum != 75 {
		t.Errorf("%+v", d)
	}
	if d.Documents[0] != (Count{Value: of, Count: 100}) || d.Sites[0].Value != "a.example" || d.Copies[0] != (SiteCopy{"b.example", "a.example", 100, 0}) {
		t.Errorf("%+v %+v %+v", d.Documents, d.Sites, d.Copies)
	}
	if len(d.Examples) < perKind || d.Examples[perKind].Kind != spreadKind || d.Examples[0].Score != 0.01 || d.Examples[7].Score != 0.1 {
		t.Errorf("%+v", d.Examples)
	}
	if d.Histogram[0].Duplicates != 3 { // 0.01 to 0.04, and every fourth is exact
		t.Errorf("%+v", d.Histogram)
	}
	written, err := json.Marshal(digestOf(t, nil))
	if err != nil || !strings.Contains(string(written), `"documents":[]`) || !strings.Contains(string(written), `"examples":[]`) {
		t.Errorf("of nothing: %s, %v", written, err)
	}
}

// TestFates checks that no kept copy is an example of a removal, and no removed document one of the
// nearest kept ones.
func TestFates(t *testing.T) {
	of := "a"
	d := digestOf(t, []lines.Line{
		{ID: "b", Of: &of, Verdict: "duplicate", Kept: true},
		{ID: "c", Of: &of, Verdict: "duplicate"},
		{ID: "d", Of: &of, Verdict: "related", Kept: true},
		{ID: "e", Of: &of, Verdict: "related"},
	})
	var got []string
	for _, e := range d.Examples {
		if e.Kind != spreadKind {
			got = append(got, e.Kind+" "+e.ID)
		}
	}
	if want := []string{"least evidence c", "related d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFilterOnly checks that copies found by the filter alone, which have no scores, are ranked by the
// share that it has seen.
func TestFilterOnly(t *testing.T) {
	d := digestOf(t, []lines.Line{{ID: "more", Verdict: "duplicate", Seen: .9}, {ID: "least", Verdict: "duplicate", Seen: .8}})
	if d.Examples[0].ID != "least" {
		t.Errorf("%+v", d.Examples)
	}
}

// TestPassages checks that kept unique documents, which a report has with passages, are not counted
// as copies. A unique document that loses to a later copy is.
func TestPassages(t *testing.T) {
	d := digestOf(t, []lines.Line{
		{ID: "a", Verdict: "unique", Kept: true},
		{ID: "b", Verdict: "unique"},
		{ID: "c", Verdict: "consumed", Kept: true},
		{ID: "d", Verdict: "consumed", Passages: []report.Passage{{Of: "a"}, {Of: "b"}, {Of: "a"}}},
		{ID: "e", Verdict: "related", Kept: true},
	})
	var text, page strings.Builder
	if err := errors.Join(d.WriteText(&text, Style{}), d.WriteHTML(&page, []string{"page"})); err != nil {
		t.Fatal(err)
	}
	const want = "4 documents are not unique: 2 are removed\n  duplicate 0 (0 exact, 0 of the same id), related 1, mosaic 0, consumed 2\n"
	if !strings.HasPrefix(text.String(), want) {
		t.Errorf("%s", text.String())
	}
	if !strings.Contains(page.String(), "<b>2</b>consumed") || !strings.Contains(page.String(), "<td>consumed</td>") {
		t.Errorf("%s", page.String())
	}
	if !strings.Contains(text.String(), " | a and b\n") {
		t.Errorf("a consumed document lacks its sources: %s", text.String())
	}
	if sum := d.Sum(); sum.Documents != 5 || sum.Removed != 2 {
		t.Errorf("%+v", d.Totals)
	}
}

// TestSites checks that a site is a host in any case, without its port, and does not copy itself.
func TestSites(t *testing.T) {
	var all []lines.Line
	for id, of := range map[string]string{
		"https://A.example:8080/1": "http://a.example/2", "https://b.example/1": "https://a.EXAMPLE:80/3",
		"an id": "https://c.example/1", "https://d.example/1": "no URL", "some text of https://e.example/": "https://c.example/2",
	} {
		all = append(all, lines.Line{ID: id, Of: &of, Verdict: "duplicate"})
	}
	d := digestOf(t, all)
	slices.SortFunc(d.Sites, func(a, b Count) int { return strings.Compare(a.Value, b.Value) })
	if !slices.Equal(d.Sites, []Count{{"a.example", 2, 0}, {"c.example", 2, 0}}) || !slices.Equal(d.Copies, []SiteCopy{{"b.example", "a.example", 1, 0}}) {
		t.Errorf("%+v, %+v", d.Sites, d.Copies)
	}
}

// TestExamples checks the first examples: removed on the least evidence, most alike, or made most
// of others. Among equals, the first ones met win.
func TestExamples(t *testing.T) {
	var all []lines.Line
	of := "of"
	for i := range 3 * perKind {
		score := report.Share(i%2) / 2
		for _, l := range []lines.Line{
			{Verdict: "duplicate", Of: &of, Score: 1 - score, Contained: score, Estimated: true},
			{Verdict: "related", Kept: true, Of: &of, Score: .1, Contained: score},
			{Verdict: "mosaic", Seen: score},
		} {
			l.ID = fmt.Sprint(i)
			all = append(all, l)
		}
	}
	var got []string
	for _, e := range digestOf(t, all).Examples {
		if e.Kind != spreadKind {
			got = append(got, e.ID)
		}
	}
	want := "0 2 4 6 8 10 12 14 1 3 5 7 9 11 13 15 1 3 5 7 9 11 13 15"
	if strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
}

// TestSteps checks that a score on a step belongs to the bin above it, and 1 to the last.
func TestSteps(t *testing.T) {
	for i := range Bins + 1 {
		d := digestOf(t, []lines.Line{{Verdict: "related", Score: report.Share(i) / Bins}})
		if at := min(i, Bins-1); d.Histogram[at].Related != 1 {
			t.Errorf("%d of %d: %+v", i, Bins, d.Histogram)
		}
	}
}
