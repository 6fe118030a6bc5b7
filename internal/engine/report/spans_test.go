package report

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// TestSpans checks that passages, cut out by characters, are the shared segments in order.
func TestSpans(t *testing.T) {
	extractor, err := feature.NewExtractor(feature.Scheme{MinWidth: 5})
	if err != nil {
		t.Fatal(err)
	}
	pieces := []string{"渡轮早上七点离开港口", "the ferry leaves the harbour", "  naïve café society", "лодка уходит в семь", "e\u0301te\u0301 a la mer", "字\u3000字字字 字", "😀😀 much joy here"}
	rapid.Check(t, func(rt *rapid.T) {
		var parts []string
		for range rapid.IntRange(0, 12).Draw(rt, "pieces") {
			parts = append(parts, rapid.SampledFrom(pieces).Draw(rt, "piece")+rapid.StringMatching("[a-z]{6}").Draw(rt, "more"))
		}
		text := strings.Join(parts, rapid.SampledFrom([]string{"。", ". ", "!\n\n", "；"}).Draw(rt, "between"))
		set := new(feature.Set)
		extractor.Extract(set, []byte(text))
		var r dedup.Result
		var want []string
		for i := range set.Parts() {
			if rapid.Bool().Draw(rt, "shared") {
				r.SharedSegments = append(r.SharedSegments, i)
				f := &set.Features[i]
				want = append(want, strings.TrimSpace(text[f.Start:f.End]))
			}
		}
		var got []string
		last := 0
		for _, s := range Spans(&r, set, []byte(text)) {
			if s[0] < last {
				rt.Fatalf("%v begins before %d", s, last)
			}
			last = s[1]
			got = append(got, string([]rune(text)[s[0]:s[1]]))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			rt.Fatalf("%q, want %q", got, want)
		}
		r.Exact = true
		if got := Spans(&r, set, []byte(text)); len(got) != 1 || got[0] != [2]int{0, len([]rune(text))} {
			rt.Fatalf("an exact copy: %v", got)
		}
	})
	if got := Spans(&dedup.Result{}, nil, nil); got == nil || len(got) != 0 {
		t.Errorf("of a document that shares nothing: %v", got)
	}
}
