package segments

import (
	"strings"
	"testing"
)

func TestSchemeName(t *testing.T) {
	key := []byte("0123456789abcdef")
	for _, c := range []struct {
		scheme Scheme
		want   string
	}{
		{Scheme{}, "fs1-u15b-xxh3-n50-w10"},
		{Scheme{Segments: DefaultSegments, MinWidth: DefaultMinWidth}, "fs1-u15b-xxh3-n50-w10"},
		{Scheme{Segments: 20, MinWidth: 16}, "fs1-u15b-xxh3-n20-w16"},
		{Scheme{Key: key}, "fs1-u15b-siphash+highway(ac9c773a)-n50-w10"},
	} {
		if got := c.scheme.Name(); got != c.want {
			t.Errorf("%+v: name %q, want %q", c.scheme, got, c.want)
		}
	}
	other := Scheme{Key: []byte("0123456789abcdeg")}
	if other.Name() == (Scheme{Key: key}).Name() {
		t.Error("two keys have one name")
	}
}

func TestSchemeValidate(t *testing.T) {
	for _, c := range []struct {
		scheme Scheme
		want   string // part of the message; empty: valid
	}{
		{Scheme{}, ""},
		{Scheme{Segments: MaxSegments, MinWidth: MaxMinWidth, Key: make([]byte, 16)}, ""},
		{Scheme{Segments: -1}, "-1 segments"},
		{Scheme{Segments: MaxSegments + 1}, "segments"},
		{Scheme{MinWidth: MaxMinWidth + 1}, "minimum width"},
		{Scheme{MinWidth: -3}, "minimum width -3"},
		{Scheme{Key: []byte("short")}, "5 bytes"},
		{Scheme{Key: []byte{}}, "0 bytes"},
	} {
		_, err := NewExtractor(c.scheme)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%+v: %v", c.scheme, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: error %v, want one with %q", c.scheme, err, c.want)
		}
	}
}

// TestFingerprintsFrozen has numbers that files hold. If one changes, so must
// the version of the rules.
func TestFingerprintsFrozen(t *testing.T) {
	const text = "Ａ text of TWO segments，其中一段是中文的。x<y"
	for _, c := range []struct {
		scheme Scheme
		whole  uint64
		keys   [2]uint64
	}{
		{Scheme{}, 0x38c11d928da1c44d, [2]uint64{0x4f26224ee6809d33, 0xc1d794ed07801b6c}},
		{Scheme{Key: []byte("0123456789abcdef")}, 0xa8b3f8f3185306d9, [2]uint64{0x745f45685e50333f, 0x4c8af73e5c671651}},
	} {
		set := extract(t, c.scheme, text)
		if len(set.Features) != 2 || set.Whole != c.whole || set.Features[0].Key != c.keys[0] || set.Features[1].Key != c.keys[1] {
			t.Errorf("%s: %#v", c.scheme.Name(), set)
		}
	}
}
