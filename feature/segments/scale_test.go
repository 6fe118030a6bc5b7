package segments

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

func TestOneCharacter(t *testing.T) {
	set := extract(t, Scheme{}, "中")
	if len(set.Features) != 0 || set.Truncated || set.Width != 2 || set.Units != 1 {
		t.Errorf("got %+v", set)
	}
	if set.Whole == extract(t, Scheme{}, "").Whole {
		t.Error("one character has the fingerprint of none")
	}
}

func TestOneSentenceManyTimes(t *testing.T) {
	const sentence = "这是同一句话而且不短。"
	set := extract(t, Scheme{}, strings.Repeat(sentence, 20_000))
	once := extract(t, Scheme{}, sentence)
	if !cmp.Equal(set.Features, once.Features) || set.Truncated || set.Width != once.Width {
		t.Errorf("twenty thousand times: %+v, once: %+v", set, once)
	}
	if set.Whole == once.Whole {
		t.Error("the whole texts are told to be the same")
	}
}

func TestManySegments(t *testing.T) {
	var b strings.Builder
	var keys []uint64 // of the longest segments
	for i := range 200_000 {
		segment := fmt.Sprint("segment number ", i*7919%200_000)
		b.WriteString(segment + ", ")
		if len(segment) == len("segment number 100000") {
			keys = append(keys, oracleKey(Scheme{}, segment))
		}
	}
	slices.Sort(keys)
	set := extract(t, Scheme{}, b.String())
	if len(set.Features) != DefaultSegments || !set.Truncated {
		t.Errorf("%d features, truncated %v", len(set.Features), set.Truncated)
	}
	for i, f := range set.Features {
		if f.Key != keys[i] {
			t.Errorf("feature %d has the key %d, want %d", i, f.Key, keys[i])
		}
	}
}

// TestHugeText bounds the memory for a text without punctuation, far larger than any buffer.
func TestHugeText(t *testing.T) {
	words := hugeText(16 << 20)
	e := NewExtractor(Scheme{})
	var set method.Sketch
	e.Extract(&set, words[:1<<20])
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e.Extract(&set, words)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<10 {
		t.Errorf("16 MiB of text took %d bytes of memory", grown)
	}
	if len(set.Features) != DefaultSegments || !set.Truncated {
		t.Errorf("%d features, truncated %v", len(set.Features), set.Truncated)
	}
}

// TestCorpusEqualsOracle reads the same file as BenchmarkCorpus.
func TestCorpusEqualsOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	e := NewExtractor(Scheme{})
	for i, text := range readTexts(t, corpusName()) {
		if diff := diffOracle(e, Scheme{}, string(text)); diff != "" {
			t.Errorf("text %d (-oracle +extract):\n%s", i, diff)
		}
	}
}

func hugeText(size int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 0, size+8)
	for len(text) < size {
		text = append(text, string(rune(0x4E00+rng.IntN(3000)))...)
	}
	return text
}

// TestEditSpoilsOnePiece edits a long text without punctuation. Nearly all pieces must stay.
func TestEditSpoilsOnePiece(t *testing.T) {
	s := Scheme{Segments: MaxSegments}
	text := []rune(string(hugeText(50_000)))
	a := extract(t, s, string(text))
	for _, at := range []int{100, len(text) / 2, len(text) - 100} {
		for _, edit := range []string{"", "X", "新的字"} {
			b := extract(t, s, string(text[:at])+edit+string(text[at+1:]))
			if lost := len(a.Features) - share(a, b); lost > 3 {
				t.Errorf("%q for the character at %d: %d of %d pieces lost", edit, at, lost, len(a.Features))
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	e := NewExtractor(Scheme{})
	keyed := NewExtractor(Scheme{Key: make([]byte, 16)})
	var set method.Sketch
	for _, s := range append(canontest.Fragments, strings.Repeat(strings.Join(canontest.Fragments, " "), 50)) {
		text := []byte(s)
		run := func() {
			e.Extract(&set, text)
			keyed.Extract(&set, text)
		}
		run()
		if n := testing.AllocsPerRun(5, run); n != 0 {
			t.Errorf("%.20q: %v allocations", s, n)
		}
	}
}

// TestOrderDoesNotMatter shuffles the paragraphs of a text.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(canontest.Text(), 0, 12).Draw(t, "parts")
		s := genScheme().Draw(t, "scheme")
		a := extract(t, s, strings.Join(parts, "\n\n"))
		b := extract(t, s, strings.Join(rapid.Permutation(parts).Draw(t, "permuted"), "\n\n"))
		if len(a.Features) != len(b.Features) || share(a, b) != len(a.Features) || a.Truncated != b.Truncated || a.Width != b.Width {
			t.Fatalf("%+v\n%+v", a, b)
		}
	})
}

// TestFeaturesAreCanonical checks that a key is that of the canonical form of its byte range.
func TestFeaturesAreCanonical(t *testing.T) {
	canontest.NeedUnicode(t)
	rapid.Check(t, func(t *rapid.T) {
		text := canontest.Text().Draw(t, "text")
		if canontest.Width(canontest.Canonical(text)) > canon.MaxWidth {
			t.Skip("may have been cut")
		}
		set := extract(t, Scheme{MinWidth: 1, Segments: MaxSegments}, text)
		for _, f := range set.Features {
			form := canontest.Canonical(text[f.Start:f.End])
			if oracleKey(Scheme{}, form) != f.Key || canontest.Width(form) != int(f.Width) {
				t.Fatalf("feature %+v is %q in canonical form", f, form)
			}
		}
	})
}
