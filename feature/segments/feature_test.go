package segments

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// failer is the common interface of testing.TB and rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
}

// extract returns the sketch of text from a fresh Extractor.
func extract(t failer, s Scheme, text string) (set method.Sketch) {
	t.Helper()
	NewExtractor(s).Extract(&set, []byte(text))
	return set
}

// diffOracle compares e's sketch of text with the oracle's.
func diffOracle(e *Extractor, s Scheme, text string) string {
	var got method.Sketch
	e.Extract(&got, []byte(text))
	return cmp.Diff(oracle(s, text), got, cmpopts.EquateEmpty())
}

func genScheme() *rapid.Generator[Scheme] {
	return rapid.Custom(func(t *rapid.T) Scheme {
		s := Scheme{
			Segments: rapid.SampledFrom([]int{0, 1, 3, 50}).Draw(t, "segments"),
			MinWidth: rapid.SampledFrom([]int{0, 1, 5, 64}).Draw(t, "width"),
		}
		if rapid.Bool().Draw(t, "keyed") {
			s.Key = []byte("0123456789abcdef")
		}
		return s
	})
}

func TestExtractEqualsOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	rapid.Check(t, func(t *rapid.T) {
		s := genScheme().Draw(t, "scheme")
		e := NewExtractor(s)
		// The second text reuses the buffers of the first.
		for _, name := range []string{"first", "second"} {
			text := canontest.Text().Draw(t, name)
			if diff := diffOracle(e, s, text); diff != "" {
				t.Fatalf("%q (-oracle +extract):\n%s", text, diff)
			}
		}
	})
}
