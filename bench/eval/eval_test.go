package eval

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// TestAdjustedRandAsScikitLearn compares with values of sklearn.metrics.adjusted_rand_score.
func TestAdjustedRandAsScikitLearn(t *testing.T) {
	data, err := os.ReadFile("testdata/ari.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		First, Second []int
		ARI           float64
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 20 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		table := tableOf(c.First, c.Second)
		if got := table.adjustedRand(); math.Abs(got-c.ARI) > 1e-12 {
			t.Errorf("%v, %v: %v, want %v", c.First, c.Second, got, c.ARI)
		}
	}
}

// TestTableCountsPairs compares with a loop over all pairs.
func TestTableCountsPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		some := rapid.SliceOfN(rapid.IntRange(0, 6), n, n)
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		var want contingency
		for i := range a {
			for j := range i {
				want.all++
				if a[i] == a[j] {
					want.inFirst++
				}
				if b[i] == b[j] {
					want.inSecond++
				}
				if a[i] == a[j] && b[i] == b[j] {
					want.both++
				}
			}
		}
		if got := tableOf(a, b); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// six returns six documents: 0, 1 and 2 are copies, 3 and 4 are, 5 is alone.
func six(t *testing.T, pairs []Pair) *Set {
	t.Helper()
	s := &Set{Name: "six", Pairs: pairs}
	for i := range 6 {
		s.Docs = append(s.Docs, Doc{ID: fmt.Sprint("d", i), Text: fmt.Sprint("text number ", i)})
	}
	if err := s.Load(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAgreementByHand removes 1 for 0, and 4 and 5 for 2. So 0 and 1 are taken for copies, and 2, 4
// and 5. Of 4 pairs of copies (01, 02, 12, 34) one is found. Of 4 pairs taken for copies (01, 24,
// 25, 45) three are wrong.
func TestAgreementByHand(t *testing.T) {
	o := &Outcome{Witness: map[int]int{1: 0, 4: 2, 5: 2}}
	pairs := []Pair{{A: "d0", B: "d1", Alike: true}, {A: "d1", B: "d2", Alike: true}, {A: "d4", B: "d3", Alike: true}, {A: "d2", B: "d5", Unlike: true}, {A: "d0", B: "d5", Unlike: true}}
	clusters := six(t, nil)
	if err := clusters.SetClusters(map[string]string{"d0": "x", "d1": "x", "d2": "x", "d3": "y", "d4": "y"}); err != nil {
		t.Fatal(err)
	}
	complete := six(t, pairs)
	complete.Complete()
	// 15 pairs; expected 4·4/15, largest 4: (1 − 16/15) / (4 − 16/15).
	ari := (1 - 16./15) / (4 - 16./15)
	for _, c := range []struct {
		name string
		set  *Set
		want Agreement
	}{
		{"clusters", clusters, Agreement{Right: 1, Wrong: 3, Missed: 3, Precision: 0.25, Recall: 0.25, F1: 0.25, ARI: ari}},
		{"all pairs", complete, Agreement{Right: 1, Wrong: 3, Missed: 3, Precision: 0.25, Recall: 0.25, F1: 0.25, ARI: ari}},
		// Unlisted pairs and those without a label are unknown: 25 alone is wrong.
		{"pairs", six(t, slices.Concat(pairs, []Pair{{A: "d4", B: "d5"}})), Agreement{Right: 1, Wrong: 1, Missed: 3, Precision: 0.5, Recall: 0.25, F1: 1. / 3, ARI: ari}},
		{"no labels", six(t, nil), Agreement{Precision: 1, Recall: 1, F1: 1, ARI: 0}},
	} {
		got := c.set.Agree(o)
		if math.Abs(got.ARI-c.want.ARI) > 1e-12 || math.Abs(got.F1-c.want.F1) > 1e-12 {
			t.Errorf("%s: ARI %v, F1 %v, want %v, %v", c.name, got.ARI, got.F1, c.want.ARI, c.want.F1)
		}
		got.ARI, got.F1 = c.want.ARI, c.want.F1
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := clusters.Agree(&Outcome{Witness: map[int]int{1: 0, 2: 0, 4: 3}}); got.ARI != 1 || got.F1 != 1 || got.Right != 4 {
		t.Errorf("of the truth itself: %+v", got)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "labels.tsv")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReadPairs(t *testing.T) {
	const measured = "id1\tid2\tlabel\tlcs\na\tb\tversion\t0.8\nc\td\tdup\t0.7999\ne\tf\t1\t0.49\ng\th\thardneg\t0.6\r\n"
	for _, c := range []struct {
		text string
		by   Alike
		want string // of each pair: + alike, - unlike, 0 neither
	}{
		{measured, ByLCS, "+0--"},
		{"id1\tid2\tlabel\na\tb\tDup\nc\td\t0\n", ByLCS, "+-"},
		{"id1\tid2\tlabel\tlcs\na\tb\tdup\t0.1\nc\td\tnon\t0.9\n", ByLabel, "+-"},
		{"id1\tid2\tlabel\n", ByLCS, ""},
	} {
		pairs, err := ReadPairs(write(t, c.text), c.by)
		var got strings.Builder
		for _, p := range pairs {
			switch {
			case p.Alike:
				got.WriteString("+")
			case p.Unlike:
				got.WriteString("-")
			default:
				got.WriteString("0")
			}
		}
		if err != nil || got.String() != c.want {
			t.Errorf("%q: %s %v, want %s", c.text, got.String(), err, c.want)
		}
	}
	for text, want := range map[string]string{
		"id1\tid2\n":                                     ":1: want 3 cells",
		"id1\tid2\tlabel\na\tb\n":                        ":2: want 3 cells",
		"id1\tid2\tlabel\na\tb\tversion\n":               `:2: its label is "version"`,
		"id1\tid2\tlabel\tlcs\na\tb\tx\n":                ":2: it has 3 cells, and lcs is the 4th",
		"id1\tid2\tlabel\tlcs\na\tb\tx\tmuch\n":          `parsing "much"`,
		"id1\tid2\tlabel" + strings.Repeat("x", maxLine): "too long",
	} {
		if _, err := ReadPairs(write(t, text), ByLCS); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadClusters(write(t, "id\tcluster\na\tx\na\ty\n")); err == nil || !strings.Contains(err.Error(), "a is in two clusters") {
		t.Error(err)
	}
	s := six(t, nil)
	if err := s.SetClusters(map[string]string{"d0": "x", "zz": "x"}); err == nil || !strings.Contains(err.Error(), "1 of 2 documents") {
		t.Error(err)
	}
	s.Pairs = []Pair{{A: "d0", B: "zz"}}
	if err := s.Load(); err == nil || !strings.Contains(err.Error(), `"zz"`) {
		t.Error(err)
	}
}

// TestRunAndPage runs every method on documents with copies. The page has all rows, a curve for
// each method, and no external resources.
func TestRunAndPage(t *testing.T) {
	s := &Set{Name: "<made>"}
	var long []string
	for i := range 30 {
		long = append(long, fmt.Sprintf("sentence number %d of a text about %d other things", i, i*i))
	}
	text := strings.Join(long, ". ")
	for i, d := range []string{text, strings.ToUpper(text), strings.Replace(text, "number 7 ", "number 77 ", 1) + "!", "something else altogether, in a few words of its own", "天地玄黄宇宙洪荒，日月盈昃辰宿列张"} {
		s.Docs = append(s.Docs, Doc{ID: fmt.Sprint(i), Text: d})
	}
	if err := s.SetClusters(map[string]string{"0": "x", "1": "x", "2": "x"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(); err != nil {
		t.Fatal(err)
	}
	methods := []string{"segments", "exact", "shingles", "imatch", "simhash"}
	tries, err := Tries(methods, []float64{0.5, 0.6, 0.9}, s.CountTerms()) // and 0.65, the default of segments
	if err != nil {
		t.Fatal(err)
	}
	var rows []*Row
	if err := s.Run(t.Context(), tries, nil, func(r *Row) error { rows = append(rows, r); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4+1+3+1+3 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Precision != 1 || r.Removed == 0 || r.Method != "exact" && r.Method != "imatch" && r.Agreement.Recall != 1 {
			t.Errorf("%s %s: %+v", r.Method, r.threshold(), r.Agreement)
		}
	}
	var page strings.Builder
	if err := WritePage(&page, rows, "firstseen eval <x> & y"); err != nil {
		t.Fatal(err)
	}
	html := page.String()
	for what, n := range map[string]int{"<polyline": 4 * len(methods), "<circle": 4 * len(rows), "<tr": 1 + len(rows), "&lt;made&gt;": 1, "&lt;x&gt; &amp; y": 1} {
		if got := strings.Count(html, what); got != n {
			t.Errorf("the page has %s %d times, not %d", what, got, n)
		}
	}
	for _, from := range []string{"http:", "https:", "src=", "href=", "<script", "url(", "@import", "NaN", "Inf"} {
		if strings.Contains(html, from) {
			t.Errorf("the page has %s", from)
		}
	}
	for part := range strings.SplitSeq(html, "<svg") {
		svg, _, ok := strings.Cut(part, "</svg>")
		if !ok {
			continue
		}
		for d := xml.NewDecoder(strings.NewReader("<svg" + svg + "</svg>")); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("a chart is not well formed: %v\n%s", err, svg)
			}
		}
	}
	// An unconfirmed copy is none.
	first := &rows[0].Figures
	err = s.Run(t.Context(), tries[:1], &similarity.Condition{Score: "lcs", Least: 1}, func(r *Row) error {
		if r.Removed != first.Removed-1 {
			t.Errorf("with lcs>=1 %d are removed, without %d", r.Removed, first.Removed)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func FuzzLabels(f *testing.F) {
	f.Add("id1\tid2\tlabel\tlcs\na\tb\tversion\t0.8\n")
	f.Add("id\tcluster\na\tx\n")
	f.Fuzz(func(t *testing.T, text string) {
		name := filepath.Join(t.TempDir(), "labels")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		pairs, err := ReadPairs(name, ByLCS)
		for _, p := range pairs {
			if err == nil && p.Alike && p.Unlike {
				t.Fatalf("%+v is alike and unlike", p)
			}
		}
		if clusters, err := ReadClusters(name); err == nil && len(clusters) > strings.Count(text, "\n") {
			t.Fatalf("%d documents of %q", len(clusters), text)
		}
	})
}
