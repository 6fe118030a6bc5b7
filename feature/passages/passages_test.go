package passages_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/testing/effort"
)

// A text is a string with its words, picks and list.
type text struct {
	string
	words  *units.Text
	hashes []uint32
	picks  []passages.Pick
	list   passages.List
}

var outliner = units.NewOutliner()

// outline returns the outline of a text.
func outline(s string) *units.Outline { return outliner.Keep([]byte(s), len(s)) }

func read(s string, least int) *text {
	t := &text{string: s, words: units.New()}
	t.words.Read([]byte(s))
	picker, scanner := passages.NewPicker(least), canon.NewScanner()
	scanner.CountUnits()
	for scanner.Reset([]byte(s)); ; {
		step := scanner.Next()
		if step != canon.Piece {
			picker.Words(scanner.AppendUnits(nil))
		}
		if step == canon.End {
			break
		}
	}
	t.hashes = outline(s).Hashes
	t.picks = slices.Clone(picker.Picks())
	keys := make([]uint64, len(t.picks))
	for i, p := range t.picks {
		keys[i] = p.Run
	}
	t.list = passages.AppendList(nil, t.picks, keys)
	return t
}

// plainPicks picks by the definition: of each window the last of its least runs.
func plainPicks(hashes []uint64, least int) (at []uint32) {
	var runs []uint64
	for i := 0; i+13 <= len(hashes); i++ {
		var h uint64
		for _, w := range hashes[i : i+13] {
			h = (h<<13 | h>>51) ^ w
		}
		runs = append(runs, h)
	}
	window := min(least-12, 38)
	for i := 0; i+window <= len(runs); i++ {
		best := i
		for j := i; j < i+window; j++ {
			if runs[j] <= runs[best] {
				best = j
			}
		}
		if len(at) == 0 || at[len(at)-1] != uint32(best) {
			at = append(at, uint32(best))
		}
	}
	return at
}

func hashesOf(s string) (hashes []uint64) {
	scanner := canon.NewScanner()
	scanner.CountUnits()
	for scanner.Reset([]byte(s)); ; {
		step := scanner.Next()
		if step != canon.Piece {
			hashes = scanner.AppendUnits(hashes)
		}
		if step == canon.End {
			return hashes
		}
	}
}

// words draws a text from a vocabulary; a small one makes stretches repeat.
func words(r *rand.Rand, n, vocabulary int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%d", r.IntN(vocabulary))
		b.WriteString([]string{" ", ", ", ". ", "\n"}[r.IntN(4)])
	}
	return b.String()
}

func TestPicksEqualTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SampledFrom([]int{14, 20, 50, 100}).Draw(t, "least")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		s := words(r, rapid.IntRange(0, 400).Draw(t, "words"), rapid.SampledFrom([]int{1, 2, 1000}).Draw(t, "vocabulary"))
		var at []uint32
		for _, p := range read(s, least).picks {
			at = append(at, p.At)
		}
		if want := plainPicks(hashesOf(s), least); !slices.Equal(at, want) {
			t.Fatalf("%d words, stretches of %d: picked %v, want %v", len(hashesOf(s)), least, at, want)
		}
	})
}

// covered marks the words of d in any stretch of least words that e contains too.
func covered(d, e *text, least int) []bool {
	row := func(t *text, i int) string {
		var b strings.Builder
		for j := range least {
			b.Write(t.words.Form(i + j))
			b.WriteByte(0)
		}
		return b.String()
	}
	rows := map[string]bool{}
	for i := 0; i+least <= e.words.Len(); i++ {
		rows[row(e, i)] = true
	}
	marks := make([]bool, d.words.Len())
	for i := 0; i+least <= d.words.Len(); i++ {
		if rows[row(d, i)] {
			for j := range least {
				marks[i+j] = true
			}
		}
	}
	return marks
}

// found marks the words that package passages finds, and checks each stretch.
func found(t interface{ Fatalf(string, ...any) }, d, e *text, least int) []bool {
	var c passages.Chainer
	c.Load(d.list)
	chains := c.Chains(e.list)
	stretches, _ := passages.AppendRead(nil, d.hashes, e.hashes, 0, chains, least)
	marks, end := make([]bool, d.words.Len()), 0
	for _, s := range passages.Cover(stretches) {
		if s.From < end || s.To <= s.From {
			t.Fatalf("the stretch %+v after the word %d", s, end)
		}
		end = s.To
		for i := range s.To - s.From {
			if string(d.words.Form(s.From+i)) != string(e.words.Form(s.Of+i)) {
				t.Fatalf("%+v: word %d differs", s, i)
			}
			marks[s.From+i] = true
		}
	}
	return marks
}

// TestAllStretchesAreFound compares with a table of all sequences of least words.
func TestAllStretchesAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SampledFrom([]int{20, 50, 80}).Draw(t, "least")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		vocabulary := rapid.SampledFrom([]int{2, 5000}).Draw(t, "vocabulary")
		e := words(r, r.IntN(500), vocabulary)
		var d string
		for range r.IntN(6) {
			parts := strings.SplitAfter(e, " ")
			from := r.IntN(len(parts))
			d += words(r, r.IntN(60), vocabulary) + strings.Join(parts[from:from+r.IntN(len(parts)-from)], "")
		}
		checkFound(t, d, e, least)
	})
}

func checkFound(t interface{ Fatalf(string, ...any) }, d, e string, least int) {
	dt, et := read(d, least), read(e, least)
	if want, got := covered(dt, et, least), found(t, dt, et, least); !slices.Equal(got, want) {
		t.Fatalf("stretches of %d words:\n%v\nwant\n%v", least, ranges(got), ranges(want))
	}
}

// ranges returns the marked stretches.
func ranges(marks []bool) (rs [][2]int) {
	for i := range marks {
		if marks[i] && (i == 0 || !marks[i-1]) {
			rs = append(rs, [2]int{i, i})
		}
		if marks[i] {
			rs[len(rs)-1][1] = i + 1
		}
	}
	return rs
}

// TestRealText appends half of a page of the installation guide to the page before it.
func TestRealText(t *testing.T) {
	data, err := os.ReadFile("../../testdata/bilingual/guide.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		var doc struct{ Text string }
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		all = append(all, doc.Text)
	}
	for i := 1; i < len(all); i++ {
		half := len(all[i]) / 2
		for half > 0 && all[i][half]&0xC0 == 0x80 {
			half--
		}
		checkFound(t, all[i-1]+all[i][half:], all[i], 50)
	}
}

// TestRepetition checks that 3000 repetitions in both texts are found in reasonable time.
func TestRepetition(t *testing.T) {
	s := strings.Repeat("The same sentence of seven words again. ", 3000)
	checkFound(t, s+"And an end.", "Another beginning. "+s, 50)
}

// FuzzChains checks that any lists give chains with valid numbers.
// TestRepetitionIsCheap checks that chains that go on are not searched for each that could begin.
func TestRepetitionIsCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds with the race detector")
	}
	list := passages.List(bytes.Repeat([]byte{2, 0, 0, 0}, 16_000))
	var c passages.Chainer
	c.Load(list)
	if took := effort.Of(func() { c.Chains(list) }); took > 2*time.Second {
		t.Errorf("it takes %v", took)
	}
}

func FuzzChains(f *testing.F) {
	f.Add(binary.LittleEndian.AppendUint64(nil, 77), binary.LittleEndian.AppendUint64(nil, 77))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var c passages.Chainer
		c.Load(a[:len(a)&^3])
		for _, chain := range c.Chains(b[:len(b)&^3]) {
			if chain.Picks < 1 || chain.Words < 13 || chain.From < 0 || chain.Of < 0 {
				t.Fatalf("%+v", chain)
			}
		}
	})
}

// TestOtherLayouts checks that a passage in any layout is found from its first to its last letter.
func TestOtherLayouts(t *testing.T) {
	const english = "The committee met on the third of May and agreed, after a long debate, that the café at the corner " +
		"of the old square should stay open until the repairs of the bridge are done. It asked the owner for a list of " +
		"the costs, for two estimates, and for a plan of the work; all of it is due in four weeks. Nobody objected " +
		"to that, although one member thought the weather might not allow it"
	const chinese = "委员会于五月三日召开会议，经过长时间的讨论决定：在旧桥修缮完成之前，广场拐角处的咖啡馆应当继续营业。" +
		"会议要求店主提交费用清单、两份估价单和一份施工计划，全部材料须在四周之内交齐。没有人对此表示反对"
	for name, change := range map[string]func(string) string{
		"as it is":          func(s string) string { return s },
		"other punctuation": strings.NewReplacer(",", " —", ".", "!", ";", ":", "，", "、", "。", "！", "：", "；").Replace,
		"lines of CRLF":     strings.NewReplacer(", ", ",\r\n", "。", "。\r\n").Replace,
		"wrapped":           func(s string) string { return wrapped(s, 31) },
		"full width":        width.Widen.String,
		"decomposed":        norm.NFD.String,
		"capitals":          strings.ToUpper,
		"emoji between":     strings.NewReplacer(". ", ". 👨‍👩‍👧 ", "。", "。👍🏽").Replace,
		"invisible":         strings.NewReplacer("committee", "com\u00admittee", "会议", "会\u200b议", "two", "\u2060two").Replace,
	} {
		for _, plain := range []string{english, chinese} {
			first, last := "the first words of the page are others. ", " and the page goes on with words of its own"
			if plain == chinese {
				first, last = "前面的话是另外的。", "后面还有别的话要说"
			}
			other := change(plain)
			d, e := read(first+other+last, 50), read("【 "+plain+" 】", 50)
			var c passages.Chainer
			c.Load(d.list)
			stretches, faithful := passages.AppendRead(nil, d.hashes, e.hashes, 0, c.Chains(e.list), 50)
			cover := passages.Cover(stretches)
			if !faithful || len(cover) != 1 || cover[0].To-cover[0].From != e.words.Len() {
				t.Errorf("%s: found %+v of %d words in %q", name, cover, e.words.Len(), other)
				continue
			}
			start, end := d.words.Range(cover[0].From, cover[0].To)
			if got := d.string[start:end]; got != other {
				t.Errorf("%s: the passage is %q, want %q", name, got, other)
			}
		}
	}
}

// wrapped breaks a text into lines of about most characters, at spaces and between Han characters.
func wrapped(s string, most int) string {
	var b strings.Builder
	line := 0
	for _, r := range s {
		if line++; line > most && (r == ' ' || unicode.Is(unicode.Han, r)) {
			b.WriteByte('\n')
			if line = 0; r == ' ' {
				continue
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// TestLongWordsAreCompared compares different words with one hash: same length, beginning and end.
func TestLongWordsAreCompared(t *testing.T) {
	before, behind := strings.Repeat("first words of a page, ", 14), strings.Repeat("and others behind them, ", 14)
	for _, c := range []struct {
		page, earlier string
		want          []string
	}{
		{"aaaaaaaabbbbbbbbcccccccc ", "aaaaaaaaddddddddcccccccc ", []string{strings.TrimSuffix(before, ", "), strings.TrimSuffix(behind, ", ")}},
		{"aaaaaaaabbbbbbbbcccccccc ", "aaaaaaaaBBBBBBBBcccccccc ", []string{before + "aaaaaaaabbbbbbbbcccccccc " + strings.TrimSuffix(behind, ", ")}},
		{"12345678.123.12345678 ", "12345678,123.12345678 ", []string{strings.TrimSuffix(before, ", "), strings.TrimSuffix(behind, ", ")}},
		{"aaaa (bbbb) cccc ", "aaaa*{bbbb}; cccc ", []string{before + "aaaa (bbbb) cccc " + strings.TrimSuffix(behind, ", ")}},
		{strings.Repeat("aaaaaaaabbbbbbbbcccccccc. ", 3) + "x ", strings.Repeat("aaaaaaaaddddddddcccccccc. ", 3) + "y ", []string{strings.TrimSuffix(before, ", "), strings.TrimSuffix(behind, ", ")}},
	} {
		l := &library{texts: map[int]string{1: before + c.earlier + behind}}
		page := before + c.page + behind
		var got []string
		for _, p := range find(t, passages.NewFinder(50), page, l, l.candidates(100, 1)).Passages {
			got = append(got, page[p.Start:p.End])
			if p.Start != p.OfStart || p.End-p.OfEnd != len(c.page)-len(c.earlier) && p.End != p.OfEnd || p.Units < 50 {
				t.Errorf("%q and %q: %+v", c.page, c.earlier, p)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q and %q: %q, want %q", c.page, c.earlier, got, c.want)
		}
	}
}

// TestChainsEndAtOtherWords changes a word between two picks, outside both runs.
func TestChainsEndAtOtherWords(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	tried := 0
	for range 50 {
		text := strings.Fields(words(r, 200, 5000))
		d := read(strings.Join(text, " "), 50)
		for i := 1; i < len(d.picks); i++ {
			before, at := d.picks[i-1].At, d.picks[i].At
			if at-before < passages.Run+2 {
				continue
			}
			other := slices.Clone(text)
			other[before+passages.Run] = "another"
			e := read(strings.Join(other, " "), 50)
			if same := func(a, b passages.Pick) bool { return a.At == b.At && a.Run == b.Run }; !slices.EqualFunc(d.picks, e.picks, same) {
				continue // an additional run was picked
			}
			tried++
			var c passages.Chainer
			c.Load(d.list)
			for _, chain := range c.Chains(e.list) {
				if chain.From <= int(before) && chain.From+chain.Words > int(at) {
					t.Errorf("the chain %+v goes over the word %d", chain, before+passages.Run)
				}
			}
		}
	}
	if tried < 20 {
		t.Fatalf("only %d words changed", tried)
	}
}

// changedText is an earlier text that has changed since it was remembered.
type changedText string

func (c changedText) Key(int, []byte) []byte { return nil }
func (c changedText) Read(_ int, buf []byte) ([]byte, bool, error) {
	return append(buf, c...), true, nil
}
func (c changedText) Same(int, []byte) bool { return false }

// TestChangedTextsAreInner checks that the chain stands in for the text that has changed.
func TestChangedTextsAreInner(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	text := words(r, 300, 5000)
	d := read(text, 50)
	found, err := passages.NewFinder(50).Find(outline(text), d.list, []passages.Candidate{{Document: 1, List: d.list}}, changedText(words(r, 300, 5000)))
	if err != nil || len(found.Passages) != 1 || !found.Passages[0].Inner || found.Passages[0].Units < 200 || found.Passages[0].OfEnd != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
