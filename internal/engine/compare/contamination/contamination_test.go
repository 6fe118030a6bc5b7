package contamination_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/engine/compare/contamination"
	"github.com/firstseen/firstseen/internal/testing/effort"
)

func itemsOf(texts ...string) *contamination.Items {
	items := contamination.NewItems()
	for i, text := range texts {
		items.Add(fmt.Sprint(i), []byte(text))
	}
	items.Ready()
	return items
}

// found returns the ids of the items in a page and their longest stretches.
func found(items *contamination.Items, page string) (ids []string, stretches []string) {
	for _, h := range items.NewSearcher().Append(nil, []byte(page)) {
		ids, stretches = append(ids, h.Item), append(stretches, page[h.From:h.To])
		if points := []rune(page); string(points[h.Start:h.End]) != page[h.From:h.To] { // an invalid byte is one rune
			panic(fmt.Sprintf("%+v: bytes and code points differ", h))
		}
	}
	return ids, stretches
}

const (
	sixteen   = "word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 wordA wordB wordC wordD wordE wordF"
	refrain   = "row your boat gently down the stream"
	rivers    = "Which of the rivers of northern Europe carries the most water into the Baltic Sea in spring?"
	junctions = "下列关于细胞呼吸的叙述，正确的是哪一项？请根据课本第三章的内容回答。"
)

func TestItemsInPages(t *testing.T) {
	filler := strings.Repeat("Nothing here concerns water, seas, cells or spring. ", 30)
	for _, c := range []struct {
		name, item, page string
		want             []string // the longest stretch
	}{
		{"word for word", rivers, filler + rivers + filler, []string{strings.TrimSuffix(rivers, "?")}},
		{"in capitals, without punctuation", rivers, strings.ToUpper(rivers), []string{strings.ToUpper(strings.TrimSuffix(rivers, "?"))}},
		{"Chinese", junctions, filler + junctions + filler, []string{strings.TrimSuffix(junctions, "。")}},
		{"Chinese, with other punctuation and full width", "细胞呼吸ABC的叙述，正确的是", "细胞 呼吸ＡＢＣ的叙述、正确的是！", []string{"细胞 呼吸ＡＢＣ的叙述、正确的是"}},
		{"in lines", rivers, strings.ReplaceAll(rivers, " ", "\n"), []string{strings.ReplaceAll(strings.TrimSuffix(rivers, "?"), " ", "\n")}},
		{"in two parts, far apart", rivers, rivers[:46] + filler + rivers[46:], []string{"the most water into the Baltic Sea in spring"}},
		{"one word edited", rivers, strings.Replace(rivers, "most", "least", 1), []string{"Which of the rivers of northern Europe carries the"}},
		{"twice", rivers, rivers + filler + strings.ToUpper(rivers), []string{strings.TrimSuffix(rivers, "?")}},
		{"with others where it goes on", rivers, rivers[:46] + " " + filler + "of northern Europe carries the most water into the Baltic", []string{"of northern Europe carries the most water into the Baltic"}},
		{"half of it, in a stretch of eight", sixteen, sixteen[:8*6] + filler, []string{sixteen[:8*6-1]}},
		{"less than half, in a stretch of eight", sixteen + " more more2", sixteen[:8*6] + filler, nil},
		{"half of it, in a stretch of seven", sixteen[:14*6], sixteen[:7*6] + filler, nil},
		{"three quarters in runs", sixteen, sixteen[:6*6] + filler + sixteen[10*6:], nil},
		{"more than three quarters in runs", sixteen, sixteen[:7*6] + filler + sixteen[10*6:], []string{sixteen[:7*6-1]}},
		{"five words, alone", "Who was the first emperor?", filler + "\nWho was the first emperor?\n", []string{"Who was the first emperor"}},
		{"two words among numbers", "1 2 3 4 5 6 7 8 alpha beta 9 10", "3 4 5 6 7 8 alpha beta", nil},
		{"two words among numbers, nearly whole", "1 2 3 4 5 6 7 8 alpha beta 9 10", "1 2 3 4 5 6 7 8 alpha beta", []string{"1 2 3 4 5 6 7 8 alpha beta"}},
		{"single letters", "a b c d e f g h i j alpha beta gamma delta eps zeta eta theta", "alpha beta gamma delta eps zeta eta theta", []string{"alpha beta gamma delta eps zeta eta theta"}},
		{"a third of it", rivers, filler + rivers[:30] + filler, nil},
		{"half, in no stretch of eight", rivers, "Which of the rivers of southern Europe carries the most water out of the Baltic", nil},
		{"the words in another order", rivers, "spring in Sea Baltic the into water most the carries Europe northern of rivers the of Which", nil},
		{"seven words, alone", "Who was the first emperor of Rome?", filler + "\nWho was the first emperor of Rome?\n", []string{"Who was the first emperor of Rome"}},
		{"seven words, in a sentence", "Who was the first emperor of Rome?", "He asked who was the first emperor of Rome and left.", nil},
		{"seven words, at the beginning of a sentence", "Who was the first emperor of Rome?", "Who was the first emperor of Rome and why?", nil},
		{"a refrain, with the second verse after the first", "one " + refrain + " two or three or " + refrain + " four more of them", "He sang one " + refrain + " four more of them.", []string{refrain + " four more of them"}},
		{"numbers alone", "1 2 3 4 5 6 7 8 9 10 11 12", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30", []string{"1, 2, 3, 4, 5, 6, 7, 8, 9, 10"}},
		{"some numbers", "1 2 3 4 5 6 7 8 9 10 11 12", "1, 2, 3, 4, 5, 6, 7, 8, 9", nil},
		{"behind bytes that are not UTF-8", rivers, "\xff\xfe" + rivers, []string{strings.TrimSuffix(rivers, "?")}},
	} {
		_, got := found(itemsOf(c.item), c.page)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestCommonWordingIsNoItem checks that wording in more than eight items is no evidence for one.
func TestCommonWordingIsNoItem(t *testing.T) {
	const wording = "Answer the question below with a single letter and do not explain your choice: "
	var texts []string
	for i := range contamination.CommonIn + 1 {
		texts = append(texts, wording+fmt.Sprintf("who crowned king %d of island %d?", i, 3*i))
	}
	if ids, _ := found(itemsOf(texts...), "He wrote: "+wording+"and no more."); len(ids) != 0 {
		t.Errorf("the wording alone is the items %v", ids)
	}
	if ids, _ := found(itemsOf(texts[:contamination.CommonIn]...), texts[3]); len(ids) == 0 {
		t.Error("an item is not found in itself")
	}
}

// TestItemsOfTheSameWords checks that items of the same words count as one.
func TestItemsOfTheSameWords(t *testing.T) {
	items := itemsOf(rivers, strings.ToUpper(rivers), "too few words here", rivers+"?")
	s := items.NewSearcher()
	s.Append(nil, []byte(rivers))
	hits := s.Append(nil, []byte(rivers)) // found in the next page, too
	if len(hits) != 1 || hits[0].Item != "0" || hits[0].Repeats != 2 || hits[0].Share != 1 || items.Len() != 1 || items.Short != 1 {
		t.Errorf("%+v of %d items, %d too short", hits, items.Len(), items.Short)
	}
}

// TestItemsComeInTheirOrder checks that the items of a page come as they were added, with their numbers.
func TestItemsComeInTheirOrder(t *testing.T) {
	items := itemsOf("This one is in no page at all, of course.", rivers, sixteen, junctions)
	hits := items.NewSearcher().Append(nil, []byte(junctions+" "+sixteen+". "+rivers))
	for i, h := range hits {
		if h.Item != fmt.Sprint(i+1) || h.Number != uint32(i+1) || h.Repeats != 0 {
			t.Errorf("hit %d: %+v", i, h)
		}
	}
	if len(hits) != 3 {
		t.Errorf("%d items are found", len(hits))
	}
}

// plain applies the rule literally: whether page holds an item, how much of it, and the longest
// stretch, the first among equals.
func plain(texts []string, i int, page string) (stands bool, share float64, stretch string) {
	forms := func(text string) (forms []string) {
		words := units.New()
		words.Read([]byte(text))
		for i := range words.Len() {
			forms = append(forms, string(words.Form(i)))
		}
		return forms
	}
	runs := func(words []string) map[string][]int {
		at := map[string][]int{}
		for i := 0; i+5 <= len(words); i++ {
			run := strings.Join(words[i:i+5], "\x00")
			at[run] = append(at[run], i)
		}
		return at
	}
	holders := map[string]int{}
	distinct := map[string]bool{}
	for _, text := range texts {
		words := forms(text)
		if whole := strings.Join(words, "\x00"); !distinct[whole] && len(words) >= 5 {
			distinct[whole] = true
			for run := range runs(words) {
				holders[run]++
			}
		}
	}
	item, pageWords := forms(texts[i]), forms(page)
	own, held := make([]bool, len(item)), make([]bool, len(item))
	in := runs(pageWords)
	for run, at := range runs(item) {
		for _, first := range at {
			for j := first; j < first+5; j++ {
				digits := strings.Trim(item[j], "0123456789") == ""
				own[j] = own[j] || holders[run] <= 8 && !digits && (len(item[j]) > 2 || len([]rune(item[j])) > 1)
				held[j] = held[j] || len(in[run]) > 0
			}
		}
	}
	longest, from := 0, 0
	for a := range item {
		for b := range pageWords {
			n := 0
			for a+n < len(item) && b+n < len(pageWords) && item[a+n] == pageWords[b+n] {
				n++
			}
			if n > longest || n == longest && b < from {
				longest, from = n, b
			}
		}
	}
	if longest > 0 {
		words := units.New()
		words.Read([]byte(page))
		start, end := words.Range(from, from+longest)
		stretch = page[start:end]
	}
	ownWords, ownHeld, allHeld := 0, 0, 0
	for j := range item {
		if own[j] {
			ownWords++
		}
		if held[j] {
			allHeld++
			if own[j] {
				ownHeld++
			}
		}
	}
	if ownWords < 8 {
		share = float64(allHeld) / float64(len(item))
		return share > .75, share, stretch
	}
	share = float64(ownHeld) / float64(ownWords)
	return share > .75 || share >= .5 && longest >= 8, share, stretch
}

// TestEqualsThePlainRule compares the search with plain on drawn items and pages.
func TestEqualsThePlainRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		vocabulary := rapid.SampledFrom([]int{1, 2, 3, 30, 3000}).Draw(t, "vocabulary")
		draw := func(n int) string {
			var b strings.Builder
			for range n {
				if k := r.IntN(vocabulary); k%7 == 6 {
					fmt.Fprintf(&b, "%d ", k)
				} else {
					fmt.Fprintf(&b, "w%d ", k)
				}
			}
			return b.String()
		}
		var texts []string
		wording := draw(6)
		most := 14
		if vocabulary < 3 { // of more items all wording would be common
			most = 1
		}
		for range 1 + r.IntN(most) {
			text := draw(8 + r.IntN(30))
			if r.IntN(2) == 0 {
				text = wording + text
			}
			texts = append(texts, text)
		}
		var page string
		for range r.IntN(5) {
			words := strings.Fields(texts[r.IntN(len(texts))])
			from := r.IntN(len(words))
			page += draw(r.IntN(9)) + strings.Join(words[from:from+r.IntN(len(words)-from+1)], " ") + " "
		}
		got := map[string]contamination.Hit{}
		for _, h := range itemsOf(texts...).NewSearcher().Append(nil, []byte(page)) {
			got[h.Item] = h
		}
		seen := map[string]bool{}
		for i, text := range texts {
			if seen[text] {
				continue
			}
			seen[text] = true
			stands, share, stretch := plain(texts, i, page)
			h, ok := got[fmt.Sprint(i)]
			if vocabulary < 3 && !ok { // each run of a page counts once, though it may hold all of an item
				continue
			}
			if ok != stands || ok && (math.Abs(h.Share-share) > 1e-12 || page[h.From:h.To] != stretch || h.Units != len(strings.Fields(stretch)) || int(h.Number) != len(seen)-1) {
				t.Fatalf("%q in %q: found %v, %+v; by the rule %v, %v, %q", text, page, ok, h, stands, share, stretch)
			}
		}
	})
}

// TestStretchOfARepeatingItem compares the longest stretch with plain where parts of the item stand
// in it before other words.
func TestStretchOfARepeatingItem(t *testing.T) {
	written := strings.NewReplacer("0", "no ", "1", "yes ") // both are words of an item's own
	for item, page := range map[string]string{
		"101011111100101000000100101":    "11001011111100101011100100000001000110000000100",
		"011111110000100111110111111111": "110111101111111111111111100011110111111111",
		"11000011000101110111011100111":  "1101011100111001110000111011100111",
		"1101011011000010110001100":      "0100110001100011101100000110001100",
	} {
		item, page = written.Replace(item), written.Replace(page)
		_, _, want := plain([]string{item}, 0, page)
		if _, got := found(itemsOf(item), page); !slices.Equal(got, []string{want}) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// TestItemOfOneWord checks that the work grows with an item and its page, even if both repeat a word.
func TestItemOfOneWord(t *testing.T) {
	effort.Linear(t, "an item of one word", 64*len("ha "), func(n int) func() {
		text := strings.Repeat("ha ", n/len("ha "))
		s := itemsOf(text).NewSearcher()
		return func() { s.Append(nil, []byte(strings.Repeat(text, 100))) }
	})
}

// BenchmarkSearch searches a page without items.
func BenchmarkSearch(b *testing.B) {
	var texts []string
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var w strings.Builder
		for range 30 {
			fmt.Fprintf(&w, "%c%c%c ", 'a'+rune(r.IntN(26)), 'a'+rune(r.IntN(26)), 'a'+rune(r.IntN(26)))
		}
		texts = append(texts, w.String())
	}
	s := itemsOf(texts...).NewSearcher()
	page := []byte(strings.Repeat("The quick brown fox jumps over the lazy dog near the old mill. ", 500))
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	var hits []contamination.Hit
	for b.Loop() {
		hits = s.Append(hits[:0], page)
	}
}
