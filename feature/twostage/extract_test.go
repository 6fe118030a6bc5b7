package twostage

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/dchest/siphash"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/canon/canontest"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
)

var secret = []byte("0123456789abcdef")

func schemeOf(n int, key []byte) segments.Scheme { return segments.Scheme{Segments: n, Key: key} }

func mostOf(s segments.Scheme) int {
	if s.Segments == 0 {
		return segments.DefaultSegments
	}
	return s.Segments
}

// oracle returns the expected sketch: that of the segments, then run keys in the remaining places.
func oracle(s segments.Scheme, text string) (want method.Sketch) {
	n := mostOf(s)
	s.Segments = n - min(3, n/10)
	segments.NewExtractor(s).Extract(&want, []byte(text))
	m := runsOf(text)
	want.Data = binary.AppendUvarint(nil, uint64(m.Runs()))
	if m.Runs() < 20 {
		return want
	}
	var sketch sketch
	m.Sketch(&sketch)
	want.Data = sketch.Append(want.Data)
	if n := m.Distinct(); n < m.Runs() {
		want.Data = binary.AppendUvarint(want.Data, uint64(n))
	}
	want.Data = m.AppendPlaces(want.Data)
	for _, run := range m.AppendKeys(nil, min(8, n-len(want.Features))) {
		form := append([]byte{0}, binary.LittleEndian.AppendUint64(nil, run)...)
		key := xxh3.Hash(form)
		if s.Key != nil {
			h := siphash.New(s.Key)
			h.Write(form)
			key = h.Sum64()
		}
		want.Features = append(want.Features, method.Feature{Key: key, Order: run})
		want.Leads++
	}
	return want
}

func runsOf(text string) *maker {
	m, s := newMaker(), canon.NewScanner()
	s.CountUnits()
	for s.Reset([]byte(text)); ; {
		step := s.Next()
		if m.Segments(s); step == canon.End {
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
	if len(got.Features) > mostOf(s) || len(got.Data) > method.MaxData || got.Leads > 8 {
		t.Fatalf("%.200q by %+v: %d features, of which %d are run keys, and %d bytes", text, s, len(got.Features), got.Leads, len(got.Data))
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
			for range rapid.IntRange(0, 40).Draw(t, "words") {
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
		{4, 50, 8},
		{41, 50, 8},
		{42, 50, 8},
		{43, 50, 7},
		{46, 50, 4},
		{47, 50, 3},
		{48, 50, 3},
		{300, 50, 3},
		{300, 20, 2},
		{300, 10, 1},
		{4, 6, 2},
		{4, 4, 0},
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

// TestSketchesFromTwentyRuns checks that fewer than 24 words keep only their number of runs.
func TestSketchesFromTwentyRuns(t *testing.T) {
	e := NewExtractor(segments.Scheme{}, 0)
	for words, leads := range map[int]int{0: 0, 3: 0, 4: 0, 5: 0, 23: 0, 24: 8} {
		for _, text := range []string{english(words), chinese(words)} {
			got := checkText(t, e, segments.Scheme{}, text)
			if runs := max(0, words-4); got.Leads != leads || int(got.Data[0]) != runs || (len(got.Data) > 1) != (leads > 0) {
				t.Errorf("%d words: %d run keys, data %x", words, got.Leads, got.Data)
			}
		}
	}
}

func english(words int) (text string) {
	for i := range words {
		text += fmt.Sprintf("word%d ", i)
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
	NewExtractor(segments.Scheme{}, 0).Extract(&plain, []byte(english(200)))
	NewExtractor(schemeOf(0, secret), 0).Extract(&keyed, []byte(english(200)))
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
