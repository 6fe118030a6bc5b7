package docmap

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// FuzzWindow reads arbitrary windows and times with valid checksums. Refusals are damage, and
// accepted values are packed to the same bytes.
func FuzzWindow(f *testing.F) {
	const docs = 40
	w := window{length: 100, slices: []timeSlice{{first: 31}}}
	for i, time := range []uint32{500, 450, 500, 560, 560, 590, 700, 700, 640, 700} {
		w.advance(time)
		w.add(31+uint32(i), time)
	}
	value := w.encodeTimes(31, w.open().times.n)
	f.Add(w.encode(), value[:len(value)-8])
	f.Fuzz(func(t *testing.T, record, body []byte) {
		if len(record)+len(body) > 1<<12 {
			return
		}
		info, err := decodeWindow(record, docs)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if got := info.encode(); !slices.Equal(got, record) {
			t.Fatalf("%x is packed as %x", record, got)
		}
		last := info.slices[len(info.slices)-1]
		w := window{length: info.length, clock: info.clock, edge: info.edge, slices: []timeSlice{{first: last.first, newest: last.newest}}}
		n := int(docs + 1 - last.first)
		if n == 0 {
			return
		}
		value := binary.LittleEndian.AppendUint64(slices.Clone(body), xxh3.HashSeed(body, seedTimes+uint64(last.first)))
		if err := w.loadTimes(value, last.first, n); err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		for num := last.first; num <= docs; num++ {
			time := w.open().times.at(int(num - last.first))
			if at := w.edgeAt(num); time < at || time > last.newest || at > info.edge {
				t.Fatalf("document %d of %d, edge %d of %d", num, time, at, info.edge)
			}
		}
		again := window{length: 1, slices: []timeSlice{{first: last.first, newest: last.newest}}, edge: info.edge}
		packed := w.encodeTimes(last.first, n)
		if err := again.loadTimes(packed, last.first, n); err != nil {
			t.Fatal(err)
		}
		if twice := again.encodeTimes(last.first, n); !slices.Equal(packed, twice) || !slices.Equal(again.open().edges, w.open().edges) {
			t.Fatalf("%x at %v, packed again %x at %v", packed, w.open().edges, twice, again.open().edges)
		}
	})
}
