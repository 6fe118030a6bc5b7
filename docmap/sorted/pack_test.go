package sorted

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// packSimply is Pack bit by bit, as docs/format.md describes a bin.
func packSimply(r *Run, bin uint64, e *Entries) []byte {
	le, place := binary.LittleEndian, uint64(r.id)<<32+bin
	b := make([]byte, r.Size(len(e.Keys)))
	put := func(at, width int, v uint64) {
		for i := range width {
			b[(at+i)/8] |= byte(v>>i&1) << ((at + i) % 8)
		}
	}
	c := 0
	for sub := range r.subs() {
		of := Entries{}
		for i, k := range e.Keys {
			if r.subOf(k) == sub {
				of.Add(k, e.Docs[i])
			}
		}
		n, from := len(of.Keys), r.offset(sub, uint32(c))
		at := 8 * (from + blockCheck)
		for i, k := range of.Keys {
			put(at+i+int(k>>r.lowBits)%r.buckets, 1, 1)
		}
		at += n + r.buckets
		for _, k := range of.Keys {
			put(at, int(r.lowBits), k)
			at += int(r.lowBits)
		}
		for _, d := range of.Docs {
			put(at, int(r.docBits), uint64(d-r.first))
			at += int(r.docBits)
		}
		c += n
		le.PutUint32(b[12+4*sub:], uint32(c))
		le.PutUint32(b[from:], uint32(xxh3.HashSeed(b[from+blockCheck:r.offset(sub+1, uint32(c))], place+uint64(sub+1)<<56)))
	}
	le.PutUint64(b, xxh3.HashSeed(b[8:12+4*r.subs()], place))
	return b
}

// TestPackEqualsFormat compares bins of all widths of keys and documents with ones packed simply,
// in a dirty buffer.
func TestPackEqualsFormat(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	dirty := bytes.Repeat([]byte{0xff}, 1<<16)
	for log := uint8(MinLog); log <= MaxLog; log += 3 {
		for docBits := range 33 {
			d := Division{BlockBits: 3 + rng.UintN(5), MaxSubBits: rng.UintN(4)}
			if docBits%4 == 0 {
				d = DefaultDivision
			}
			span := uint32(uint64(1)<<docBits - 1)
			first := min(9, math.MaxUint32-span)
			r := &Run{Shape: d.Shape(log, first, first+span), id: 3, first: first}
			bin := rng.Uint64N(r.Bins())
			b := Builder{Limit: 8}
			inBin := r.Highest(bin) - r.Lowest(bin)
			for range rng.IntN(2 << (r.subBits + r.blockBits)) {
				key := r.Lowest(bin) | rng.Uint64()&inBin
				if rng.IntN(3) == 0 && len(b.In.Keys) > 0 { // near another one, often equal
					key = r.Lowest(bin) | (b.In.Keys[rng.IntN(len(b.In.Keys))]+rng.Uint64N(2))&inBin
				}
				b.In.Add(key, first+uint32(rng.Uint64N(uint64(span)+1)))
			}
			sorted := b.Sort(&r.Shape)
			got, want := Pack(dirty[:0], r, bin, sorted), packSimply(r, bin, sorted)
			if !bytes.Equal(got, want) {
				t.Fatalf("log %d, %d bits of documents, %d entries: got\n%x, want\n%x", log, docBits, len(sorted.Keys), got, want)
			}
		}
	}
}

// TestLimitInAnyOrder drops the last of nine documents of a key, in whatever order they come.
func TestLimitInAnyOrder(t *testing.T) {
	s := DefaultDivision.Shape(LogFor(100), 1, 100)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		b := Builder{Limit: 8}
		for _, doc := range rng.Perm(9) {
			b.In.Add(1<<40, uint32(doc+1))
		}
		if docs := b.Sort(&s).Docs; !slices.Equal(docs, []uint32{1, 2, 3, 4, 5, 6, 7, 8}) {
			t.Fatalf("documents %v", docs)
		}
	}
}
