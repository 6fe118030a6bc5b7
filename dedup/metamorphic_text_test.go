package dedup_test

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// These tests check obvious properties of texts decided by sketches, without an oracle.

// A textScene is a history of texts and some to judge after it.
type textScene struct {
	*textWorld
	rules   dedup.Rules
	history []*feature.Sketch
	judged  []string
}

func drawTextScene(t *rapid.T) *textScene {
	w := newTextWorld(rapid.Uint64().Draw(t, "seed"), nil)
	s := &textScene{textWorld: w, rules: dedup.Rules{Threshold: 0.65}}
	if w.rng.IntN(2) == 0 {
		s.rules.Threshold = drawThreshold(w.rng)
	}
	for range 1 + w.rng.IntN(40) {
		s.history = append(s.history, w.document())
	}
	for range 8 {
		w.document()
		s.judged = append(s.judged, w.text)
	}
	return s
}

// checkTexts calls f for many texts with their results. Sketches must have found some to be copies,
// and some must be new.
func checkTexts(t *testing.T, f func(t *rapid.T, s *textScene, text string, before dedup.Result)) {
	copies, others := 0, 0
	checkUntil(t, func() bool { return copies >= 10 && others >= 10 }, func(rt *rapid.T) {
		s := drawTextScene(rt)
		for _, text := range s.judged {
			before := judge(rt, s.rules, s.history, s.extract(text))
			switch {
			case before.Verdict == dedup.Duplicate && before.Estimated:
				copies++
			case before.Kept:
				others++
			}
			f(rt, s, text, before)
		}
	})
	if copies < 10 || others < 10 {
		t.Errorf("%d copies and %d others: the texts drawn show too little", copies, others)
	}
}

// TestExactCopyIsAlwaysRemoved adds the text itself to any history.
func TestExactCopyIsAlwaysRemoved(t *testing.T) {
	checkTexts(t, func(t *rapid.T, s *textScene, text string, _ dedup.Result) {
		history := append(s.history, s.extract(text))
		if after := judge(t, s.rules, history, s.extract(text)); after.Kept || !after.Exact || after.Score != 1 {
			t.Fatalf("%q: %+v", text, after)
		}
	})
}

// TestUnrelatedTextChangesNothing adds a text that shares no words.
func TestUnrelatedTextChangesNothing(t *testing.T) {
	other := ""
	for i := range 200 {
		other += fmt.Sprintf("other%d ", i)
		if i%10 == 9 {
			other += ". "
		}
	}
	checkTexts(t, func(t *rapid.T, s *textScene, text string, before dedup.Result) {
		after := judge(t, s.rules, append(s.history, s.extract(other)), s.extract(text))
		if diff := gocmp.Diff(before, after, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q (-before +after):\n%s", text, diff)
		}
	})
}

// TestHigherThresholdRemovesNoMore raises the threshold for documents after the same history.
func TestHigherThresholdRemovesNoMore(t *testing.T) {
	checkTexts(t, func(t *rapid.T, s *textScene, text string, before dedup.Result) {
		higher := s.rules
		higher.Threshold = min(1, s.rules.Threshold+s.rng.Float64()/2)
		if after := judge(t, higher, s.history, s.extract(text)); before.Kept && !after.Kept {
			t.Fatalf("%q\nat %v %+v\nat %v %+v", text, s.rules.Threshold, before, higher.Threshold, after)
		}
	})
}

// TestWritingChangesNothing changes case, width, punctuation and line ends. The number of distinct
// runs is estimated from a sample, which is smaller for twice as many bytes from 4 KiB on.
func TestWritingChangesNothing(t *testing.T) {
	wide := func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r + 'Ａ' - 'A'
		}
		return r
	}
	checkTexts(t, func(t *rapid.T, s *textScene, text string, before dedup.Result) {
		inWide := strings.Map(wide, text)
		if strings.Contains(text, "://") {
			inWide = text // in wide letters an address is none
		}
		for _, other := range []string{
			strings.ToUpper(text), inWide, strings.ReplaceAll(text, ". ", "!\r\n"), strings.ReplaceAll(text, ". ", "；"),
		} {
			after := judge(t, s.rules, s.history, s.extract(other))
			if bits.Len(uint(len(text)/4096)) != bits.Len(uint(len(other)/4096)) {
				if after.Of.Num == before.Of.Num && math.Abs(after.Contained-before.Contained) > .1 {
					t.Fatalf("%q\n%q\nbefore %+v\nafter %+v", text, other, before, after)
				}
				continue
			}
			if diff := gocmp.Diff(before, after, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%q\n%q (-before +after):\n%s", text, other, diff)
			}
		}
	})
}

// TestSecretChangesNoVerdict checks that a stream gets the same results under any secret.
func TestSecretChangesNoVerdict(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		var first []dedup.Result
		for _, key := range secrets {
			results := judgeTexts(rt, newTextWorld(seed, key))
			if first == nil {
				first = results
			}
			if diff := gocmp.Diff(first, results, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("without a secret, and under %q:\n%s", key, diff)
			}
		}
	})
}

// judgeTexts returns the results for a hundred documents.
func judgeTexts(t *rapid.T, w *textWorld) (results []dedup.Result) {
	d, err := dedup.New(dedup.Config{Scheme: w.scheme, Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		r, err := d.Decide(dedup.Document{ID: fmt.Sprint(i), Sketch: w.document()})
		if err != nil {
			t.Fatal(err)
		}
		r.Also, r.SharedSegments = append([]dedup.Source{}, r.Also...), append([]int{}, r.SharedSegments...)
		results = append(results, r)
	}
	return results
}
