package feature

import "testing"

func FuzzExtractEqualsOracle(f *testing.F) {
	needUnicode(f)
	for i, s := range awkward {
		f.Add(s+awkward[(i*7+3)%len(awkward)]+s, uint8(i))
	}
	f.Add("3.14, 1,000 and 2019,2020; rock 'n' roll isn't l’été", uint8(1))
	var extractors []*Extractor
	schemes := []Scheme{{}, {Segments: 2, MinWidth: 1}, {MinWidth: 3, Key: []byte("0123456789abcdef")}}
	for _, s := range schemes {
		extractors = append(extractors, newExtractor(f, s))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		if len(text) > 4096 {
			return
		}
		// Repeated, a text becomes overlong; the pieces of one repeat.
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

func FuzzCanonical(f *testing.F) {
	needUnicode(f)
	for i, s := range awkward {
		f.Add([]byte(s + awkward[(i*5+1)%len(awkward)] + " " + s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once := Canonical(nil, text)
		if want := oracleCanonical(string(text)); string(once) != want {
			t.Errorf("Canonical(%q) = %q, oracle %q", text, once, want)
		}
		if twice := Canonical(nil, once); string(twice) != string(once) {
			t.Errorf("Canonical(%q) = %q, and of that %q", text, once, twice)
		}
	})
}
