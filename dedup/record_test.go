package dedup_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/base/fields"
)

// TestRecordFormat checks the layout in docs/format.md.
func TestRecordFormat(t *testing.T) {
	for want, r := range map[string]dedup.Record{
		"01000000":                     {},
		"010380c49fd50c" + "00abcd":    {Verdict: dedup.Related, Time: 1700000000, Sketch: []byte{0xab, 0xcd}},
		"010000" + "04c802abcd" + "ef": {Added: fields.Append(nil, 200, []byte{0xab, 0xcd}), Sketch: []byte{0xef}},
		"010201" + "00" + "00":         {Verdict: dedup.Mosaic, Time: -1, Sketch: []byte{0}},
	} {
		b := r.Append([]byte("before"))
		if got := hex.EncodeToString(b[6:]); got != want {
			t.Errorf("%+v is %s, want %s", r, got, want)
		}
		if got, err := dedup.ParseRecord(b[6:]); err != nil || !cmp.Equal(got, r, cmpopts.EquateEmpty()) {
			t.Errorf("read back %+v, %v; want %+v", got, err, r)
		}
		for n := range len(b) - 6 - len(r.Sketch) {
			if got, err := dedup.ParseRecord(b[6 : 6+n]); err == nil {
				t.Errorf("%d bytes of %x are %+v", n, b[6:], got)
			}
		}
	}
}

// TestRecordOfLaterPrograms checks that unknown additions are kept, and other versions refused.
func TestRecordOfLaterPrograms(t *testing.T) {
	got, err := dedup.ParseRecord([]byte{1, 3, 2, 3, 7, 7, 7, 0xab})
	if want := (dedup.Record{Verdict: dedup.Related, Time: 1, Added: []byte{7, 7, 7}, Sketch: []byte{0xab}}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, b := range [][]byte{{2, 3, 2, 0}, {0, 3, 2, 0}, {1, 3, 2, 3, 7, 7}, {1, 3, 2}, {1, 3, 2, 0x80}} {
		if got, err := dedup.ParseRecord(b); err == nil {
			t.Errorf("%x is %+v", b, got)
		}
	}
}

// TestFields checks that each field is found by its tag, and that a truncated one is refused.
func TestFields(t *testing.T) {
	added := fields.Append(fields.Append(fields.Append(nil, 1, []byte("one")), 3, nil), 200, make([]byte, 300))
	r := dedup.Record{Added: added}
	for tag, want := range map[byte]int{1: 3, 3: 0, 200: 300} {
		if v, ok, err := r.Field(tag); len(v) != want || !ok || err != nil {
			t.Errorf("field %d is %q, %v, %v", tag, v, ok, err)
		}
	}
	if v, ok, err := r.Field(2); v != nil || ok || err != nil {
		t.Errorf("field 2 is %q, %v, %v", v, ok, err)
	}
	whole := map[int]bool{0: true, 5: true, 7: true}
	for n := range added {
		r := dedup.Record{Added: added[:n]}
		if _, ok, err := r.Field(200); ok || (err == nil) != whole[n] {
			t.Errorf("of %d bytes: %v, %v", n, ok, err)
		}
	}
}

// FuzzRecord checks that a parsed record survives a rewrite, which may only shorten its integers.
func FuzzRecord(f *testing.F) {
	r := dedup.Record{Verdict: dedup.Mosaic, Time: -10, Sketch: []byte("sketch")}
	f.Add(r.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := dedup.ParseRecord(b)
		if err != nil {
			return
		}
		again := r.Append(nil)
		if got, err := dedup.ParseRecord(again); err != nil || !cmp.Equal(got, r) || len(again) > len(b) {
			t.Fatalf("%x is %+v, written again %x, %v", b, r, again, err)
		}
		if len(again) == len(b) && !bytes.Equal(again, b) {
			t.Fatalf("%x, written again %x", b, again)
		}
	})
}
