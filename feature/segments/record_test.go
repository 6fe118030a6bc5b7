package segments

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// TestRecordFormat checks the layout in docs/format.md.
func TestRecordFormat(t *testing.T) {
	for want, r := range map[string]Record{
		"00" + "0000000000000000":         {},
		"32" + "0102030000000000":         {Features: 50, Whole: 0x30201},
		"ac02" + "ffffffffffffffff":       {Features: 300, Whole: 1<<64 - 1},
		"8080808008" + "0100000000000000": {Features: 1 << 31, Whole: 1},
	} {
		b := r.Append([]byte("before"))
		if got := hex.EncodeToString(b[6:]); got != want {
			t.Errorf("%+v is %s, want %s", r, got, want)
		}
		for _, rest := range []string{"", "\x00", "of another"} {
			got, left, err := ParseRecord(append(b[6:], rest...))
			if err != nil || got != r || string(left) != rest {
				t.Errorf("read back %+v and %q, %v; want %+v and %q", got, left, err, r, rest)
			}
		}
		for n := range b[6:] {
			if got, _, err := ParseRecord(b[6 : 6+n]); err == nil {
				t.Errorf("%d bytes of %x are %+v", n, b[6:], got)
			}
		}
	}
}

// FuzzRecord checks that a parsed record survives a rewrite, which may only shorten its integers.
func FuzzRecord(f *testing.F) {
	r := Record{Features: 50, Whole: 9}
	f.Add(r.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, rest, err := ParseRecord(b)
		if err != nil {
			return
		}
		b = b[:len(b)-len(rest)]
		again := r.Append(nil)
		if got, rest, err := ParseRecord(again); err != nil || got != r || len(rest) > 0 || len(again) > len(b) {
			t.Fatalf("%x is %+v, written again %x, %v", b, r, again, err)
		}
		if len(again) == len(b) && !bytes.Equal(again, b) {
			t.Fatalf("%x, written again %x", b, again)
		}
	})
}
