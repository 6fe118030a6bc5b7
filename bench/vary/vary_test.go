package vary

import (
	"html"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firstseen/firstseen/bench/texts"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// material returns texts that share nothing.
func material(language string, articles int) *Material {
	maker := texts.New(3)
	m := &Material{Language: language}
	for range articles {
		a := Article{Title: maker.Unique()[0]}
		for range 4 {
			a.Paragraphs = append(a.Paragraphs, strings.Join(maker.Unique()[:4], " "))
		}
		m.Articles = append(m.Articles, a)
	}
	for len(m.Sentences) < 2000 {
		m.Sentences = append(m.Sentences, maker.Unique()...)
	}
	return m
}

// sets returns one set of each kind.
func sets(m *Material, seed uint64) (all []*Set) {
	for _, f := range Frames {
		all = append(all, Skinned(m, f, 10, seed), Pages(m, f, 10, false, seed), Pages(m, f, 10, true, seed))
	}
	return append(all, Scanned(m, 10, false, seed), Scanned(m, 10, true, seed), Inoculated(m, 5, 3, seed))
}

func TestSetsFollowFromSeed(t *testing.T) {
	m := material("en", 10)
	first, again, other := sets(m, 1), sets(m, 1), sets(m, 2)
	for i := range first {
		if !reflect.DeepEqual(first[i], again[i]) {
			t.Errorf("%s differs with the same seed", first[i].Name)
		}
		if reflect.DeepEqual(first[i], other[i]) {
			t.Errorf("%s is the same with another seed", first[i].Name)
		}
	}
}

func TestPairsAreOfOneArticle(t *testing.T) {
	for _, language := range []string{"en", "zh"} {
		for _, s := range sets(material(language, 10), 1) {
			origin := map[string]int{}
			for _, d := range s.Docs {
				if _, twice := origin[d.ID]; twice {
					t.Errorf("%s stands twice", d.ID)
				}
				origin[d.ID] = d.Origin
			}
			for _, p := range s.Pairs {
				a, inA := origin[p.A]
				if b, inB := origin[p.B]; !inA || !inB || a != b || p.A == p.B {
					t.Errorf("pair %v: origins %d, %d", p, a, b)
				}
			}
		}
	}
}

// TestPagesHoldTheArticle checks for all paragraphs, in order, and more text in a heavier frame.
func TestPagesHoldTheArticle(t *testing.T) {
	m := material("en", 10)
	before := 0
	for _, f := range Frames {
		size := 0
		for _, d := range Skinned(m, f, 10, 1).Docs {
			rest := d.Text
			for _, p := range m.Articles[d.Origin].Paragraphs {
				_, after, found := strings.Cut(rest, p)
				if !found {
					t.Fatalf("%s lacks %q", d.ID, p)
				}
				rest = after
			}
			size += len(d.Text)
		}
		if size <= before {
			t.Errorf("%s: %d bytes, the lighter frame %d", f.Name, size, before)
		}
		before = size
	}
}

// TestPagesInHTML checks for all paragraphs, in order, and the frame in links.
func TestPagesInHTML(t *testing.T) {
	m := material("en", 10)
	m.Articles[3].Paragraphs[1] += " a < b & c"
	for _, tables := range []bool{false, true} {
		before := -1
		for _, f := range Frames {
			links := 0
			for _, d := range Pages(m, f, 10, tables, 1).Docs {
				rest := d.Text
				for _, p := range m.Articles[d.Origin].Paragraphs {
					_, after, found := strings.Cut(rest, html.EscapeString(p))
					if !found {
						t.Fatalf("%s lacks %q", d.ID, p)
					}
					rest = after
				}
				links += strings.Count(d.Text, "<a href")
			}
			if links <= before {
				t.Errorf("%s: %d links, the lighter frame %d", f.Name, links, before)
			}
			before = links
		}
	}
}

func TestQuotingPagesHoldTheArticle(t *testing.T) {
	m := material("en", 5)
	s := Inoculated(m, 5, 3, 1)
	if len(s.Docs) != 5*(1+3+1) || len(s.Pairs) != 5 {
		t.Fatalf("%d documents, %d pairs", len(s.Docs), len(s.Pairs))
	}
	for _, d := range s.Docs {
		article := m.Articles[d.Origin].Text()
		if strings.HasSuffix(d.ID, "-copy") {
			if lcs, _ := similarity.LCSWithin(similarity.New(d.Text), similarity.New(article), similarity.MaxSteps); lcs < 0.8 || lcs == 1 {
				t.Errorf("%s: lcs %.3f", d.ID, lcs)
			}
		} else if !strings.Contains(d.Text, article) {
			t.Errorf("%s lacks its article", d.ID)
		} else if strings.Contains(d.ID, "quote") && len(d.Text) < 4*len(article) {
			t.Errorf("%s has too little text of its own", d.ID)
		}
	}
}

func TestMisread(t *testing.T) {
	for _, text := range []string{strings.Repeat("The modern burning of clover. ", 400), strings.Repeat("今天的天气很好，大家都去公园。", 400)} {
		rng := rand.New(rand.NewPCG(1, 1))
		if misread(text, 0, rng) != text {
			t.Error("mistakes at a rate of 0")
		}
		before := 1.0
		for _, rate := range []float64{0.01, 0.03, 0.1} {
			read := misread(text, rate, rng)
			lcs, _ := similarity.LCSWithin(similarity.New(read), similarity.New(text), similarity.MaxSteps)
			if !utf8.ValidString(read) || lcs >= before || lcs < 0.3 {
				t.Errorf("rate %v: lcs %.3f, before %.3f", rate, lcs, before)
			}
			before = lcs
		}
	}
}

func TestLines(t *testing.T) {
	text := strings.Repeat("Internationally recognised organisations collaborate extraordinarily. ", 40)
	lines := strings.Split(hyphenate(text, 66, rand.New(rand.NewPCG(1, 1))), "\n")
	divided := 0
	for _, line := range lines {
		if len(line) > 66 {
			t.Errorf("%d bytes: %q", len(line), line)
		}
		if strings.HasSuffix(line, "-") {
			divided++
		}
	}
	joined := strings.ReplaceAll(strings.ReplaceAll(strings.Join(lines, "\n"), "-\n", ""), "\n", " ")
	if divided == 0 || joined != strings.TrimSpace(text) {
		t.Errorf("%d words divided, joined again %.80q", divided, joined)
	}
	for line := range strings.Lines(breakLines(strings.Repeat("一二三\n四五六七八九十", 20), 5)) {
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 5 {
			t.Errorf("%d characters: %q", n, line)
		}
	}
}

func TestArticles(t *testing.T) {
	wire := NewswireArticle("PRICES RISE\nPrices rose\nin May.\n    They fell in June.\n Reuter\n")
	if want := (Article{"PRICES RISE", []string{"Prices rose in May.", "They fell in June."}}); !reflect.DeepEqual(wire, want) {
		t.Errorf("%+v", wire)
	}
	bulletin := BulletinArticle("### 标题\n\n<p><strong>央视网</strong>：一。</p><p>二。<br></p>\n[查看原文](https://x)\n")
	if want := (Article{"标题", []string{"央视网：一。", "二。"}}); !reflect.DeepEqual(bulletin, want) {
		t.Errorf("%+v", bulletin)
	}
}

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		`He left. "Why?" She stayed`: {"He left.", `"Why?"`, "She stayed"},
		"好。“走吧！”他说。":                 {"好。", "“走吧！”", "他说。"},
		"version 1.5 is out":         {"version 1.5 is out"},
	} {
		if got := Sentences(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
	for s, want := range map[string]bool{
		"This is a sentence of plain words, is it not?": true, "Too short.": false,
		"1234567890 1234567890 1234567890 1234567890": false, "See [the page](https://example.org/page) there.": false,
	} {
		if IsProse(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

func TestUnlike(t *testing.T) {
	var u Unlike
	maker := texts.New(9)
	a, b := strings.Join(maker.Unique(), " "), strings.Join(maker.Unique(), " ")
	for i, c := range []struct {
		text string
		want bool
	}{{a, true}, {b, true}, {a, false}, {a + b, false}} {
		if got := u.Take(c.text); got != c.want {
			t.Errorf("text %d: %v", i, got)
		}
	}
}
