package twostage

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dchest/siphash"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/letters"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
	"github.com/firstseen/firstseen/feature/short"
	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

var secret = []byte("0123456789abcdef")

func schemeOf(n int, key []byte) segments.Scheme { return segments.Scheme{Segments: n, Key: key} }

func mostOf(s segments.Scheme) int {
	if s.Segments == 0 {
		return segments.DefaultSegments
	}
	return s.Segments
}

// oracle returns the expected sketch: that of the segments, then keys of words and of runs in the
// remaining places.
func oracle(s segments.Scheme, text string) (want method.Sketch) {
	n := mostOf(s)
	s.Segments = n - min(3, n/10)
	segments.NewExtractor(s).Extract(&want, []byte(text))
	add := func(form byte, hashes []uint64) {
		for _, hash := range hashes {
			if len(want.Features) < n {
				want.Features = append(want.Features, method.Feature{Key: oracleKey(s, form, hash), Order: hash})
				want.Leads++
			}
		}
	}
	m := lettersOf(text)
	var words, sketched, places []byte
	if !want.Truncated && want.Units <= 160 && m.Letters() < 480 {
		maker := short.NewMaker()
		maker.Extract([]byte(text))
		words = maker.AppendRecord(nil)
		add(2, maker.AppendKeys(nil))
	}
	distinct := 0
	if (len(words) == 0 || m.Letters() >= 420) && m.Letters() >= 70 {
		distinct = m.Distinct()
		var sketch sketch
		for bin := range 128 {
			if number, place := m.Bin(bin); number > 0 {
				sketch.set(bin, number)
				places = binary.LittleEndian.AppendUint32(places, place)
			}
		}
		sketched = sketch.Append(nil)
		add(0, m.AppendKeys(nil, 8))
	}
	want.Data = binary.AppendUvarint(nil, uint64(max(m.Letters()-6, 0)))
	want.Data = append(binary.AppendUvarint(want.Data, uint64(distinct)), sketched...)
	want.Data = append(binary.AppendUvarint(want.Data, uint64(len(words))), words...)
	want.Data = append(want.Data, places...)
	return want
}

func oracleKey(s segments.Scheme, form byte, hash uint64) uint64 {
	all := append([]byte{form}, binary.LittleEndian.AppendUint64(nil, hash)...)
	if s.Key == nil {
		return xxh3.Hash(all)
	}
	h := siphash.New(s.Key)
	h.Write(all)
	return h.Sum64()
}

func lettersOf(text string) *letters.Maker {
	m, s := letters.NewMaker(), canon.NewScanner()
	s.CountUnits()
	m.Reset(len(text))
	for s.Reset([]byte(text)); ; {
		step := s.Next()
		if step != canon.Piece {
			m.Segments(s)
		}
		if step == canon.End {
			m.Finish()
			return m
		}
	}
}

func checkText(t interface{ Fatalf(string, ...any) }, e method.Extractor, s segments.Scheme, text string) method.Sketch {
	var got method.Sketch
	e.Extract(&got, []byte(text))
	if diff := cmp.Diff(oracle(s, text), got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%.200q by %+v (-oracle +extract):\n%s", text, s, diff)
	}
	if len(got.Features) > mostOf(s) || len(got.Data) > method.MaxData || got.Leads > 16 {
		t.Fatalf("%.200q by %+v: %d features, of which %d are leads, and %d bytes", text, s, len(got.Features), got.Leads, len(got.Data))
	}
	return got
}

func TestExtractEqualsOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	rapid.Check(t, func(t *rapid.T) {
		s := schemeOf(rapid.SampledFrom([]int{0, 1, 6, 12, 1024}).Draw(t, "segments"), nil)
		if rapid.Bool().Draw(t, "keyed") {
			s.Key = secret
		}
		e := NewExtractor(s, 0)
		for range 2 { // the second text reuses the buffers of the first
			text := canontest.Text().Draw(t, "text")
			for range rapid.SampledFrom([]int{0, 3, 20, 80, 120, 300}).Draw(t, "words") {
				text += rapid.StringMatching(`[a-z]{1,9}[ ,.] ?|[的是茶馆]{1,9}。?`).Draw(t, "word")
			}
			checkText(t, e, s, text)
		}
	})
}

// TestRunKeysTakeWhatIsLeft checks that up to eight run keys take the places left by segments.
// Three are reserved if there are at least thirty places.
func TestRunKeysTakeWhatIsLeft(t *testing.T) {
	for _, c := range []struct{ sentences, most, want int }{
		{20, 50, 8},
		{41, 50, 8},
		{42, 50, 8},
		{43, 50, 7},
		{46, 50, 4},
		{47, 50, 3},
		{48, 50, 3},
		{300, 50, 3},
		{300, 20, 2},
		{300, 10, 1},
		{300, 9, 0},
	} {
		var text strings.Builder
		for i := range c.sentences {
			fmt.Fprintf(&text, "In sentence s%d of %d there are t%d words. ", i, c.sentences, i)
		}
		s := schemeOf(c.most, nil)
		got := checkText(t, NewExtractor(s, 0), s, text.String())
		if got.Leads != c.want || got.Truncated != (c.sentences > c.most-min(3, c.most/10)) {
			t.Errorf("%d sentences: %d run keys, want %d; %v", c.sentences, got.Leads, c.want, got.Truncated)
		}
	}
}

// TestShortTexts checks from which length on a text has words, a sketch, or both.
func TestShortTexts(t *testing.T) {
	single := func(n int) string { // n letters, each a word
		return strings.TrimSpace(strings.Repeat("a b c d e f g h i j ", 100)[:2*n])
	}
	for _, c := range []struct {
		name, text    string
		words, sketch bool
		leads         int
	}{
		{"nothing", "", false, false, 0},
		{"six columns", chinese(3), true, false, 0},
		{"eight columns", chinese(4), true, false, 1},
		{"a post", chinese(139), true, false, 8},
		{"140 characters, 420 letters", chinese(140), true, true, 16},
		{"159 characters, 477 letters", chinese(159), true, true, 16},
		{"160 characters, 480 letters", chinese(160), false, true, 8},
		{"419 letters", english(419), true, false, 8},
		{"420 letters", english(420), true, true, 16},
		{"479 letters", english(479), true, true, 16},
		{"480 letters", english(480), false, true, 8},
		{"160 words", single(160), true, false, 8},
		{"161 words", single(161), false, true, 8},
		{"more segments than are chosen", strings.Repeat("these two words differ. those words differ. ", 2), false, true, 0},
		{"a link alone", "https://t.cn/abc", true, false, 1},
		{"symbols", "+ + +", false, false, 0},
	} {
		s := schemeOf(0, nil)
		if strings.HasPrefix(c.name, "more") {
			s.Segments = 1
		}
		checkText(t, NewExtractor(s, 0), s, c.text)
		got, k := checkText(t, NewExtractor(s, 0), s, c.text), known{}
		if _, err := k.parse(got.Data); err != nil || len(k.words) > 0 != c.words || k.sketched() != c.sketch || got.Leads != c.leads {
			t.Errorf("%s: %d letters, words %v, sketch %v, %d leads, %v", c.name, k.runs+6, len(k.words) > 0, k.sketched(), got.Leads, err)
		}
	}
}

// TestLongestData checks the bound of Data by texts whose words take most bytes: letters of four bytes,
// signs that are no letters, and many spaces.
func TestLongestData(t *testing.T) {
	most, e := 0, NewExtractor(segments.Scheme{}, 0)
	var s method.Sketch
	for _, word := range []string{"\U00010428\U00010429\U0001042a ", "\U00010428\U00010429 ", "აბგ ", "ает ", "⑴", "⑴⑵⑶ ", "1.1.1 "} {
		for n := range 480 {
			e.Extract(&s, []byte(strings.Repeat(word, n)))
			most = max(most, len(s.Data))
		}
	}
	if most < 1500 || most > method.MaxData {
		t.Errorf("%d bytes, want at most %d", most, method.MaxData)
	}
}

// english returns words with that number of letters in all.
func english(letters int) (text string) {
	for i := range letters {
		text += string(rune('a' + (i*i+i/5*7)%26))
		if i%6 == 5 {
			text += " "
		}
	}
	return text
}

func chinese(words int) (text string) {
	for i := range words {
		text += string(rune('一' + 7*i))
	}
	return text
}

// TestSecretDecidesKeysAlone checks that a secret changes nothing but keys and fingerprint.
func TestSecretDecidesKeysAlone(t *testing.T) {
	var plain, keyed method.Sketch
	NewExtractor(segments.Scheme{}, 0).Extract(&plain, []byte(english(600)))
	NewExtractor(schemeOf(0, secret), 0).Extract(&keyed, []byte(english(600)))
	for i := range plain.Features {
		if plain.Features[i].Key == keyed.Features[i].Key {
			t.Errorf("feature %d has the same key under a secret", i)
		}
		plain.Features[i].Key = keyed.Features[i].Key
	}
	plain.Whole = keyed.Whole
	if diff := cmp.Diff(plain, keyed); diff != "" {
		t.Errorf("(-plain +keyed)\n%s", diff)
	}
}

// TestWordsAreOutlined checks that a sketch has the outline that a Scanner makes of the text.
func TestWordsAreOutlined(t *testing.T) {
	e := NewExtractor(segments.Scheme{}, DefaultPassage)
	var got method.Sketch
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(canontest.Text().Draw(t, "text")+rapid.SampledFrom([]string{" ", ". ", "\n"}).Draw(t, "end"), rapid.IntRange(0, 30).Draw(t, "times"))
		e.Extract(&got, []byte(text))
		want := units.NewOutliner().Read([]byte(text), len(text))
		if !slices.Equal(got.Hashes, want.Hashes) || !slices.Equal(got.Places, want.Places) || got.Words != len(got.Hashes) {
			t.Fatalf("%q: %d words in %v, want %d in %v", text, len(got.Hashes), got.Places, len(want.Hashes), want.Places)
		}
	})
}
