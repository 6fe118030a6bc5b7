package short

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func record(text string) []byte {
	m := NewMaker()
	m.Extract([]byte(text))
	return m.AppendRecord(nil)
}

// fataler is a test of either kind.
type fataler interface {
	Helper()
	Fatal(...any)
}

func compare(t fataler, later, earlier string, threshold float64) Finding {
	t.Helper()
	var j Judge
	if err := j.Load(record(later)); err != nil {
		t.Fatal(err)
	}
	f, err := j.Compare(record(earlier), threshold)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// vocabulary has words that the rules treat in different ways.
var vocabulary = strings.Fields("the weather Tuesday Saturday Łódź naïve don't not never kettle kettles market marketing 12 3.5 1,000 A7 v2 " +
	"今 天 天 气 很 好 很 不 没 非 常 三 五 上 下 買 买 卖 한국 어 は な ไทย of to in is")

// edits makes a later text out of an earlier one.
func edits(t *rapid.T, list []string) []string {
	list = slices.Clone(list)
	for range rapid.IntRange(0, 7).Draw(t, "edits") {
		i := rapid.IntRange(0, len(list)-1).Draw(t, "place")
		word := rapid.SampledFrom(vocabulary).Draw(t, "word")
		switch rapid.IntRange(0, 6).Draw(t, "edit") {
		case 0:
			list = slices.Insert(list, i, word)
		case 1:
			if len(list) > 1 {
				list = slices.Delete(list, i, i+1)
			}
		case 2:
			list[i] = word
		case 3: // a slip
			r := []rune(list[i])
			list[i] = string(slices.Insert(r, rapid.IntRange(0, len(r)).Draw(t, "letter"), 'e'))
		case 4: // a word moves
			list = append(slices.Delete(list, i, i+1), list[i])
		case 5: // two words are joined
			if i+1 < len(list) {
				list[i] += list[i+1]
				list = slices.Delete(list, i+1, i+2)
			}
		case 6: // an end is cut
			list = append(list[:max(1, len(list)-rapid.IntRange(0, 12).Draw(t, "cut"))], rapid.SampledFrom([]string{"", "...", "…"}).Draw(t, "dots"))
		}
	}
	return list
}

// TestOracle compares findings with those of the rules in plain code, until every one was drawn.
func TestOracle(t *testing.T) {
	copies, reasons := 0, map[Difference]int{}
	for round := 0; round < 20 && (round == 0 || copies == 0 || len(reasons) < 5); round++ {
		checkOracle(t, &copies, reasons)
	}
	if copies == 0 || len(reasons) < 5 {
		t.Errorf("%d copies, reasons %v", copies, reasons)
	}
}

func checkOracle(t *testing.T, copies *int, reasons map[Difference]int) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 70).Draw(t, "words")
		space := rapid.SampledFrom([]string{" ", " ", ", ", "\n"}).Draw(t, "space")
		later, earlier := strings.Join(edits(t, list), space), strings.Join(edits(t, list), " ")
		threshold := rapid.SampledFrom([]float64{0, .6, .9, 1}).Draw(t, "threshold")
		got, want := compare(t, later, earlier, threshold), oracleCompare(later, earlier, threshold)
		if got != want {
			t.Fatalf("%q\nfor %q:\n got %+v\nwant %+v", later, earlier, got, want)
		}
		reasons[got.Differ]++
		if got.Copy && later != earlier {
			*copies++
		}
	})
}

// TestWordsOfTheOracle reads the words of a text back from its record.
func TestWordsOfTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(vocabulary, "…", "Ωμέγα", "हिन्दी", "𠀀", "مُحَمَّد")), 0, 60).Draw(t, "words"), rapid.SampledFrom([]string{" ", "", ". "}).Draw(t, "space"))
		var w words
		if err := w.load(record(text)); err != nil {
			t.Fatal(err)
		}
		want, cut := oracleWords(text)
		var got []string
		for _, x := range w.list {
			got = append(got, string(w.text(x)))
		}
		if !slices.Equal(got, want) || w.cut != cut || w.width != oracleWidth(want...) {
			t.Fatalf("%q: words %q of %d columns, cut %v; want %q, %v", text, got, w.width, w.cut, want, cut)
		}
	})
}

// FuzzLoad reads any bytes as a record. What can be read is the record of its words.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{"", "A post of 12 words…", "今天天气很好", "한국어 Ωμέγα 𠀀 हिन्दी ไทย"} {
		f.Add(record(text))
	}
	f.Add([]byte{0xFF, 0, 0xD8, 0})
	f.Add([]byte{0xFE, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var w, again words
		if w.load(b) != nil {
			return
		}
		r := w.appendRecord(nil)
		if err := again.load(r); err != nil || !slices.Equal(w.list, again.list) || !slices.Equal(w.letters, again.letters) || w.cut != again.cut {
			t.Fatalf("%x: %v, %q, again %q", b, err, string(w.letters), string(again.letters))
		}
		var j Judge
		if err := j.Load(r); err != nil {
			t.Fatal(err)
		}
		found, err := j.Compare(b, 0)
		if err != nil || found.Copy != (len(w.list) > 0) {
			t.Fatalf("%x: %+v, %v", b, found, err)
		}
	})
}

// TestDamagedRecord refuses what no Maker writes.
func TestDamagedRecord(t *testing.T) {
	var j Judge
	for _, b := range [][]byte{{0x80}, {0xFE, 1}, {0xFF, 1, 2}, {0xFF, 0x11, 0, 0}, {0xFE, 0xD8, 0}, []byte(strings.Repeat("a", maxLetters+1)), []byte(strings.Repeat("a ", maxWords+1))} {
		if j.Load(b) == nil {
			t.Errorf("%.20x is read", b)
		}
		if _, err := j.Compare(b, 0); err == nil {
			t.Errorf("%.20x is compared", b)
		}
	}
}

// TestCore has what is left of posts without their wrappers.
func TestCore(t *testing.T) {
	for text, want := range map[string]string{
		"Plain text, C# and [1].":                        "Plain text, Csharp and [1].",
		"C, C++11, x+y, 5+5, a#b and #":                  "C, Cplusplus11, x+y, 5+5, a#b and #",
		"转发微博：今天天气很好 http://t.cn/abc":                    "今天天气很好 \n",
		"好//@老王：哈哈//@小鱼儿_2011：今天天气很好":                    "今天天气很好",
		"so true RT @anna_k: wow RT @news_bot: The text": "The text",
		"#读书笔记#今天[泪][ok]":                                "\n今天\n[ok]",
		"A talk #golang #go_2 today":                     "A talk \n \n today",
		"今天天气…全文":                                        "今天天气…",
		"The end is near... Read more":                   "The end is near... ",
		"See https://example.org/a?b#c，好":                "See \n，好",
		"We are #1 [PATCH] [四个字的表]":                      "We are #1 [PATCH] [四个字的表]",
		"Mail me //@ home":                               "Mail me //@ home",
		"Good RT @: the text":                            "Good RT @: the text",
		"#早安#":                                           "\n",
		"":                                               "",
	} {
		if got := string(appendCore(nil, []byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := string(record("#早安#")); got != string(record("早安")) || got == "" {
		t.Errorf("a text of a tag has the record %q", got)
	}
}

// TestDecisions has pairs for each rule.
func TestDecisions(t *testing.T) {
	const zh = "地点在市中心，出行方便，服务态度好。住豪华标间，宽敞，早餐也不错，下次还会再来住。"
	const en = "Democrats now hope to increase the value of awards proposed by Hatch and to create a mechanism."
	for _, c := range []struct {
		later, earlier string
		want           Difference
	}{
		{"RT @anna_k: " + en + " #news http://t.cn/abc", en, None},
		{"#生活#" + strings.ReplaceAll(zh, "，", " ") + "[哈哈]", zh, None},
		{"地點在市中心，出行方便，服務態度好。住豪華標間，寬敞，早餐也不錯，下次還會再來住。", zh, None},
		{strings.Replace(en, "mechanism", "mechnaism", 1), en, None},
		{strings.Replace(en, "increase", "decrease", 1), en, Word},
		{strings.Replace(zh, "早餐", "晚餐", 1), zh, Word},
		{strings.Replace(zh, "豪华", "毫华", 1), zh, None},
		{strings.Replace(zh, "豪华", "普通", 1), zh, Word},
		{strings.Replace(zh, "方便", "很方便", 1), zh, None},
		{strings.Replace(zh, "方便", "不方便", 1), zh, Negation},
		{strings.Replace(en, "now hope", "don't hope", 1), strings.Replace(en, "now hope", "hope", 1), Negation},
		{strings.Replace(zh, "早餐", "5元早餐", 1), strings.Replace(zh, "早餐", "8元早餐", 1), Numbers},
		{"The client 1.0 is what they posted for free download", "The client 10 is what they posted for free download", Numbers},
		{"The client 1.0 is what they posted for free download", "The client 1 0 is what they posted for free download", None},
		{"It costs $3 million to build the new bridge here", "It costs $3 billion to build the new bridge here", Word},
		{"GNU C compiler (cross compiler for s390x architecture)", "GNU C++ compiler (cross compiler for s390x architecture)", Word},
		{"A parser of configuration files for C# programs", "A parser of configuration files for C programs", Word},
		{"The art of computer programming, part 2", "The art of computer programming, part", Numbers},
		{"他三天前买了一台新的电脑，用起来很好", "他五天前买了一台新的电脑，用起来很好", Word},
		{"拸棹了墘蛴裫牺是衕鎢据垊他和仩耭搃爞是内于", "拸棹了墘蛴趺垶是衕鎢据垊他和搃牺踡迖是内于", Word}, // a template with other names
		{"地点在市中心，出行方便，服务态度好。住豪华…全文", zh, None},
		{"地点在市中心，出行方便，服务态度好。住豪华标间", zh + "可惜离车站太远了", Negation},
		{"Democrats now hope to increase the value of awards", en, Length},
		{en + " And this is a second sentence, with other news in it.", en, Length},
		{en + " must read", en, None},
		{"命题是什么意思？", "假命题是什么意思？", Length},
		{"대한민국의 수도는 서울이고 가장 큰 도시이다", "대한민국의수도는 서울 이고 가장큰 도시이다", None},
		{"JeanPaul went to the notebook market", "Jean-Paul went to the note book market", None},
		{"", en, Length},
		{"!!!", "!!!", Length},
	} {
		if got := compare(t, c.later, c.earlier, .6); got.Differ != c.want || got.Copy != (c.want == None) {
			t.Errorf("%q\nfor %q: %v %.2f, want %v; %v", c.later, c.earlier, got.Differ, got.Score, c.want, Changes([]byte(c.later), []byte(c.earlier)))
		}
	}
}

// TestThreshold asks for the share of the later text's words.
func TestThreshold(t *testing.T) {
	later, earlier := "one two three four five six seven eight nine really", "one two three four five six seven eight nine"
	if f := compare(t, later, earlier, .9); !f.Copy || f.Score != .9 {
		t.Errorf("at .9: %+v", f)
	}
	if f := compare(t, later, earlier, .91); f.Copy || f.Differ != Length {
		t.Errorf("at .91: %+v", f)
	}
}

// TestKeys checks that keys are distinct and ascending, and that edited texts have some in common.
func TestKeys(t *testing.T) {
	m := NewMaker()
	keys := func(text string) []uint64 {
		m.Extract([]byte(text))
		return m.AppendKeys(nil)
	}
	a := keys("地点在市中心，出行方便，服务态度好。住豪华标间，宽敞，早餐也不错，下次还会再来住。")
	b := keys("转发微博：地点在市中心，出行很方便，服务態度好。住豪华标间，宽敞，早餐不错，下次还会再来住。")
	common := 0
	for i, k := range a {
		if i > 0 && a[i-1] >= k {
			t.Errorf("key %d is %d behind %d", i, k, a[i-1])
		}
		if slices.Contains(b, k) {
			common++
		}
	}
	if len(a) != MaxKeys || common < 2 {
		t.Errorf("%d keys, %d in common", len(a), common)
	}
	if n := len(keys("今天好")); n != 0 {
		t.Errorf("a text of six columns has %d keys", n)
	}
	if n := len(keys("今天很好")); n != 1 {
		t.Errorf("a text of eight columns has %d keys", n)
	}
	if n := len(keys(strings.Repeat("今天很好", 20))); n != 4 {
		t.Errorf("a text of four different runs has %d keys", n)
	}
	if keys(strings.Repeat("hello ", maxWords+1)); len(m.AppendRecord(nil)) != 0 {
		t.Error("a text of too many words has a record")
	}
}

// TestChanges lists differences for a person.
func TestChanges(t *testing.T) {
	got := Changes([]byte("The red car left on Monday for note book fairs"), []byte("The blue car left Monday, for notebook fairs again"))
	want := []Change{{"red", "blue"}, {"on", ""}, {"", "again"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAllocations checks that warm makers and judges allocate nothing.
func TestAllocations(t *testing.T) {
	m, j := NewMaker(), &Judge{}
	texts := [][]byte{[]byte("转发微博：今天 #tag#不好 isn't it, 12 3.5 http://t.cn/a […]"), []byte("今天天气很好 #tag isn't this, 13 3.6")}
	keys, records := make([]uint64, 0, MaxKeys), [2][]byte{}
	if n := testing.AllocsPerRun(100, func() {
		for i, text := range texts {
			m.Extract(text)
			keys = m.AppendKeys(keys[:0])
			records[i] = m.AppendRecord(records[i][:0])
		}
		_ = j.Load(records[0])
		_, _ = j.Compare(records[1], .6)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLongTexts compares texts as long as records may be.
func TestLongTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]string, maxWords)
	for i := range list {
		list[i] = string(rune(0x4E00 + r.IntN(60)))
	}
	text := strings.Join(list, "")
	for range 50 {
		edited := slices.Clone(list)
		for range r.IntN(60) {
			edited[r.IntN(len(edited))] = string(rune(0x4E00 + r.IntN(60)))
		}
		other := strings.Join(edited[r.IntN(9):], "")
		if got, want := compare(t, other, text, .6), oracleCompare(other, text, .6); got != want {
			t.Fatalf("%s\nfor %s: %+v, want %+v", other, text, got, want)
		}
	}
}

// TestForgedHashes compares words of equal hashes and other letters.
func TestForgedHashes(t *testing.T) {
	var x, y words
	for w, text := range map[*words]string{&x: "one two three four", &y: "one zwo three four"} {
		if err := w.load([]byte(text)); err != nil {
			t.Fatal(err)
		}
		w.list[1].hash = 7
	}
	var a aligner
	a.load(x.list)
	d := decision{x: &x, y: &y}
	if hunks := a.align(x.list, y.list); len(hunks) > 0 || d.matches(hunks) {
		t.Errorf("hunks %v, the words match", hunks)
	}
}
