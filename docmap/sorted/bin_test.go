package sorted

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

func isDamage(err error) bool {
	var d Damage
	return errors.As(err, &d)
}

// someRun returns a run of four bins of four sub-blocks, with its bins and entries.
func someRun(t testing.TB) (r *Run, bins [][]byte, all Entries) {
	t.Helper()
	const first = 10
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		all.Add(rng.Uint64(), first+rng.Uint32N(50))
	}
	all.Add(all.Keys[0], first)
	d := Division{BlockBits: 3, MaxSubBits: 2}
	r = NewRun(d.Shape(MinLog, first, first+49), 7, first)
	b := Builder{Limit: 8}
	for bin := range r.Bins() {
		b.In.Reset()
		for i, k := range all.Keys {
			if r.BinOf(k) == bin {
				b.In.Add(k, all.Docs[i])
			}
		}
		value, _ := b.Build(nil, r, bin)
		bins = append(bins, value)
	}
	return r, bins, all
}

// TestDamageIsFound checks that checksums cover every byte of a bin except its trailing zeros, and
// that no checksum is valid in another place.
func TestDamageIsFound(t *testing.T) {
	r, bins, _ := someRun(t)
	for bin, value := range bins {
		var e Entries
		if err := r.Read(&e, uint64(bin), value); err != nil {
			t.Fatal(err)
		}
		for at := range value[:len(value)-8] {
			b := slices.Clone(value)
			b[at] ^= 0x20
			if err := r.Read(&e, uint64(bin), b); !isDamage(err) {
				t.Errorf("bin %d, byte %d changed: %v", bin, at, err)
			}
		}
		for _, b := range [][]byte{nil, value[:len(value)-1], append(slices.Clone(value), 0)} {
			if err := r.Read(&e, uint64(bin), b); !isDamage(err) {
				t.Errorf("bin %d with %d of %d bytes: %v", bin, len(b), len(value), err)
			}
		}
		other := NewRun(r.Shape, 8, r.first)
		if a, b := r.Read(&e, uint64(bin+1)%4, value), other.Read(&e, uint64(bin), value); !isDamage(a) || !isDamage(b) {
			t.Errorf("bin %d in the place of another, in another run: %v, %v", bin, a, b)
		}
	}
}

// TestLengthOfABin checks that a length that does not match the entries is found by itself.
func TestLengthOfABin(t *testing.T) {
	r, _, _ := someRun(t)
	b := Pack(nil, r, 0, &Entries{})
	binary.LittleEndian.PutUint32(b[8+4*r.subs():], 1)
	binary.LittleEndian.PutUint64(b, xxh3.HashSeed(b[8:r.head()], binSeed(r.id, 0)))
	if _, err := r.Open(0, b, true); !isDamage(err) || !strings.Contains(err.Error(), "for 1 entries") {
		t.Error(err)
	}
}

// TestVerifiedOnce checks that the directory and sub-blocks are verified at their first use only.
func TestVerifiedOnce(t *testing.T) {
	r, bins, all := someRun(t)
	key := all.Keys[5]
	bin, sub := r.BinOf(key), r.subOf(key)
	value := slices.Clone(bins[bin])
	v, err := r.Open(bin, value, true)
	if err != nil {
		t.Fatal(err)
	}
	at := r.offset(sub, v.count(sub))
	value[at] ^= 1
	if p := r.Locate(key); p.Known() {
		t.Error("a sub-block that nobody has verified is known")
	}
	if _, err := r.Find(nil, &v, key); !isDamage(err) {
		t.Error(err)
	}
	value[at] ^= 1
	want, err := r.Find(make([]uint32, 0, 8), &v, key)
	if err != nil || !slices.Contains(want, all.Docs[5]) {
		t.Fatal(want, err)
	}
	value[at] ^= 1 // no longer verified
	if got, err := r.Find(make([]uint32, 0, 8), &v, key); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if p := r.Locate(key); !p.Known() || !slices.Equal(r.Search(make([]uint32, 0, 8), &p, key), want) {
		t.Error("its place is not known")
	}
	r.Forget()
	if _, known := r.Bin(bin); known || new(Place).Touch() != 0 {
		t.Error("a place that was forgotten is known")
	}
	fresh := NewRun(r.Shape, r.id, r.first)
	other := (bin + 1) % r.Bins()
	if fresh.Trust(bin); fresh.bins[bin].state != verified || ^fresh.bins[bin].blocks != 0 || fresh.bins[other] != (cached{}) {
		t.Error("what was just written is not trusted, or more than that")
	}
}

// TestBinsNotRemembered reopens bins that move or that the short directory cannot describe.
func TestBinsNotRemembered(t *testing.T) {
	r, bins, _ := someRun(t)
	if _, err := r.Open(1, bins[1], false); err != nil {
		t.Fatal(err)
	}
	var many Entries
	for i := range 1 << 16 {
		many.Add(uint64(i), r.first)
	}
	if _, err := r.Open(0, Pack(nil, r, 0, &many), true); err != nil {
		t.Fatal(err)
	}
	for bin := range uint64(2) {
		if _, known := r.Bin(bin); known {
			t.Errorf("bin %d is known", bin)
		}
	}
}

// TestRangesOverSubBlocks reads ranges of keys across the borders of sub-blocks.
func TestRangesOverSubBlocks(t *testing.T) {
	r, bins, all := someRun(t)
	bounds := []uint64{0, 1, 1 << 58, 1<<58 - 1, 1 << 62, 1<<62 - 1, 3<<60 + 12345, 1<<64 - 1, all.Keys[3]}
	for _, from := range bounds {
		for _, to := range bounds {
			if from > to {
				continue
			}
			var got Entries
			for bin := r.BinOf(from); bin <= r.BinOf(to); bin++ {
				v, err := r.Open(bin, bins[bin], true)
				if err != nil {
					t.Fatal(err)
				}
				if err := v.AppendRange(&got, from, to); err != nil {
					t.Fatal(err)
				}
			}
			want := 0
			for _, k := range all.Keys {
				if k >= from && k <= to {
					want++
				}
			}
			if len(got.Keys) != want || !slices.IsSorted(got.Keys) {
				t.Errorf("%x..%x: %d entries, want %d", from, to, len(got.Keys), want)
			}
		}
	}
}

func TestLogFor(t *testing.T) {
	for n, want := range map[uint64]uint8{0: MinLog, 1: MinLog, 128: 7, 129: 8, 256: 8, 1 << 40: 40} {
		if got := LogFor(n); got != want {
			t.Errorf("%d entries: %d, want %d", n, got, want)
		}
	}
	s := DefaultDivision.Shape(20, 1, 1000)
	if s.Bins() != 1<<7 || s.EntryBits() != 1+44+10 {
		t.Errorf("%+v", s)
	}
}

func (e *Entries) Add(key uint64, doc uint32) {
	e.Keys, e.Docs = append(e.Keys, key), append(e.Docs, doc)
}
