package segments

import (
	"testing"

	"github.com/firstseen/firstseen/internal/testing/canontest"
)

func FuzzExtractEqualsOracle(f *testing.F) {
	canontest.NeedUnicode(f)
	for i, s := range canontest.Fragments {
		f.Add(s+canontest.Fragments[(i*7+3)%len(canontest.Fragments)]+s, uint8(i))
	}
	f.Add("3.14, 1,000 and 2019,2020; rock 'n' roll isn't l’été", uint8(1))
	var extractors []*Extractor
	schemes := []Scheme{{}, {Segments: 2, MinWidth: 1}, {MinWidth: 3, Key: []byte("0123456789abcdef")}}
	for _, s := range schemes {
		extractors = append(extractors, NewExtractor(s))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		if len(text) > 4096 {
			return
		}
		// Repetition makes a text overlong and repeats its pieces.
		long := ""
		for range n%8*n%8 + 1 {
			long += text
		}
		i := int(n) % len(schemes)
		if diff := diffOracle(extractors[i], schemes[i], long); diff != "" {
			t.Errorf("%+v (-oracle +extract):\n%s", schemes[i], diff)
		}
	})
}
