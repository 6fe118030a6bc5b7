package segments

import "testing"

// TestFingerprintsFrozen checks values that files contain. If one changes, so must the version of
// the rules.
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
			t.Errorf("%+v: %#v", c.scheme, set)
		}
	}
}
