package sorted

import (
	"encoding/binary"
	"slices"
	"testing"
)

// FuzzBin packs entries and reads them back in both ways.
func FuzzBin(f *testing.F) {
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09"), uint8(9), uint32(1000))
	f.Add(make([]byte, 300), uint8(0), uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, log uint8, span uint32) {
		const first, limit = 5, 8
		span = min(span, 1<<31)
		d := Division{BlockBits: 3 + uint(log)%5, MaxSubBits: uint(log) % 7}
		s := d.Shape(MinLog+log%(MaxLog-MinLog), first, first+span)
		bin := uint64(len(b)) % s.Bins()
		in := Builder{Limit: limit}
		want := map[uint64][]uint32{}
		for i := 0; i+9 <= len(b); i += 9 {
			key := s.Lowest(bin) | binary.LittleEndian.Uint64(b[i:])&(s.Highest(bin)-s.Lowest(bin))
			doc := first + uint32(uint64(b[i+8])*uint64(span)/255)
			if !slices.Contains(want[key], doc) {
				in.In.Add(key, doc)
				want[key] = append(want[key], doc)
			}
		}
		for key := range want {
			slices.Sort(want[key])
			want[key] = want[key][:min(len(want[key]), limit)]
		}
		r := &Run{Shape: s, id: 3, first: first}
		if s.Bins() < 1<<12 { // otherwise the memory of places is slow to allocate
			r = NewRun(s, 3, first)
		}
		value, n := in.Build([]byte("before"), r, bin)
		checkBin(t, r, bin, value[6:], n, want)
	})
}

func checkBin(t *testing.T, r *Run, bin uint64, value []byte, n int, want map[uint64][]uint32) {
	t.Helper()
	var e Entries
	if err := r.Read(&e, bin, value); err != nil || len(e.Keys) != n {
		t.Fatalf("%d entries, want %d: %v", len(e.Keys), n, err)
	}
	got := map[uint64][]uint32{}
	for i, key := range e.Keys {
		got[key] = append(got[key], e.Docs[i])
	}
	v := r.at(bin, value)
	for key, docs := range want {
		b, m := v.block(r.subOf(key))
		if found := r.Search(make([]uint32, 0, 8), &Place{b: b, n: m}, key); !slices.Equal(got[key], docs) || !slices.Equal(found, docs) {
			t.Fatalf("key %x: decoded %v, found %v, want %v", key, got[key], found, docs)
		}
	}
	if r.bins != nil {
		checkPlaces(t, r, bin, value, n, want)
	}
}

// checkPlaces looks up keys as a table does, through the run's memory of places.
func checkPlaces(t *testing.T, r *Run, bin uint64, value []byte, n int, want map[uint64][]uint32) {
	t.Helper()
	v, err := r.Open(bin, value, true)
	if err != nil || v.Len() != n {
		t.Fatalf("%d entries, want %d: %v", v.Len(), n, err)
	}
	for key, docs := range want {
		found, err := r.Find(make([]uint32, 0, 8), &v, key)
		if err != nil || !slices.Equal(found, docs) {
			t.Fatalf("key %x: found %v (%v), want %v", key, found, err, docs)
		}
		p := r.Locate(key)
		if _, known := r.Bin(bin); known != p.Known() {
			t.Fatalf("key %x: its bin's place is known: %v, its own: %v", key, known, p.Known())
		}
		if p.Touch(); p.Known() && !slices.Equal(r.Search(found[:0], &p, key), docs) {
			t.Fatalf("key %x: not found in its place", key)
		}
	}
}
