package dedup_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/firstseen/firstseen/dedup"
)

// The data of a document is as docs/format.md has it.
func TestRecordFormat(t *testing.T) {
	for want, r := range map[string]dedup.Record{
		"00" + "00" + "00" + "0000000000000000" + "00": {},
		"03" + "32" + "19" + "8877665544332211" + "0102030000000000" + "80c49fd50c": {
			Verdict: dedup.Related, Features: 50, CutWidth: 24, CutKey: 0x1122334455667788, Whole: 0x30201, Time: 1700000000,
		},
		"02" + "ac02" + "01" + "0100000000000000" + "ffffffffffffffff" + "01": {
			Verdict: dedup.Mosaic, Features: 300, CutKey: 1, Whole: 1<<64 - 1, Time: -1,
		},
		"00" + "01" + "8080808010" + "0000000000000000" + "0000000000000000" + "00": {Features: 1, CutWidth: 1<<32 - 1},
	} {
		b := r.Append([]byte("before"))
		if got := hex.EncodeToString(b[6:]); got != want {
			t.Errorf("%+v is %s, want %s", r, got, want)
		}
		if got, err := dedup.ParseRecord(b[6:]); err != nil || got != r {
			t.Errorf("read back %+v, %v; want %+v", got, err, r)
		}
		for n := range b[6:] {
			if got, err := dedup.ParseRecord(b[6 : 6+n]); err == nil {
				t.Errorf("%d bytes of %x are %+v", n, b[6:], got)
			}
		}
		if got, err := dedup.ParseRecord(append(b[6:], 0)); err == nil {
			t.Errorf("a byte more is %+v", got)
		}
	}
}

// Whatever is read back is written as it was, but for numbers written longer than
// they need be.
func FuzzRecord(f *testing.F) {
	r := dedup.Record{Verdict: dedup.Mosaic, Features: 50, CutWidth: 7, CutKey: 8, Whole: 9, Time: -10}
	f.Add(r.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := dedup.ParseRecord(b)
		if err != nil {
			return
		}
		again := r.Append(nil)
		if got, err := dedup.ParseRecord(again); err != nil || got != r || len(again) > len(b) {
			t.Fatalf("%x is %+v, written again %x, %v", b, r, again, err)
		}
		if len(again) == len(b) && !bytes.Equal(again, b) {
			t.Fatalf("%x, written again %x", b, again)
		}
	})
}
