package twostage

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/letters"
)

// drawSketch draws a sketch of n bins.
func drawSketch(rng *rand.Rand, n int) (s sketch) {
	for _, bin := range rng.Perm(letters.Bins)[:n] {
		s.set(bin, 1+rng.Uint64N(values))
	}
	return s
}

func TestSketchRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for n := range letters.Bins + 1 {
		want := drawSketch(rng, n)
		b := want.Append([]byte("before"))[6:]
		if most := 1 + min(64, 16+(n+1)/2); len(b) != most || int(b[0]) != n {
			t.Errorf("%d bins take %d bytes, want %d", n, len(b), most)
		}
		for _, rest := range []string{"", "\x00", "behind"} {
			var got sketch
			left, err := got.Parse(append(bytes.Clone(b), rest...))
			if err != nil || got != want || string(left) != rest {
				t.Errorf("%d bins: read back %x and %q, %v; want %x and %q", n, got, left, err, want, rest)
			}
		}
		checkDamage(t, n, b)
	}
}

// TestMaskOfOneMore checks an odd number of bins, which leaves half a byte unused. A mask with one
// bin more would read it. If another number is 0, the sketch still has the stated size.
func TestMaskOfOneMore(t *testing.T) {
	one := func(mask, numbers byte) []byte {
		b := make([]byte, 1+letters.Bins/8+1)
		b[0], b[1], b[1+letters.Bins/8] = 1, mask, numbers
		return b
	}
	for _, c := range []struct {
		name          string
		mask, numbers byte
		want          bool
	}{
		{"one bin", 0b1, 0x05, true},
		{"a number behind the last", 0b1, 0x35, false},
		{"a second bin that is empty", 0b11, 0x05, false},
		{"a second bin, the first empty", 0b11, 0x50, false},
		{"two bins", 0b11, 0x35, false},
		{"a bin that is empty", 0b1, 0x00, false},
		{"no bin", 0b0, 0x00, false},
		{"no bin, a number", 0b0, 0x05, false},
	} {
		var s sketch
		if _, err := s.Parse(one(c.mask, c.numbers)); (err == nil) != c.want {
			t.Errorf("%s: %v, read as %x", c.name, err, s)
		}
	}
}

// checkDamage checks that short input is refused, and that no flipped bit changes the bin count.
func checkDamage(t *testing.T, n int, b []byte) {
	var got sketch
	for short := range b {
		if _, err := got.Parse(b[:short]); err == nil {
			t.Errorf("%d bins: %d bytes of %d are %x", n, short, len(b), got)
		}
	}
	for bit := range 8 * len(b) {
		other := bytes.Clone(b)
		other[bit/8] ^= 1 << (bit % 8)
		_, err := got.Parse(other)
		switch {
		case err == nil && bit < 8:
			t.Errorf("%d bins are read as %d", n, other[0])
		case err == nil && got.size() != n:
			t.Errorf("%d bins with bit %d flipped are %d bins", n, bit, got.size())
		}
	}
}

// FuzzSketch checks that a parsed sketch has the stated number of bins and survives a rewrite.
func FuzzSketch(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 2, 50, 94, 95, 96, 128} {
		s := drawSketch(rng, n)
		f.Add(s.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again sketch
		rest, err := s.Parse(b)
		if err != nil {
			return
		}
		written := s.Append(nil)
		if left, err := again.Parse(written); err != nil || again != s || len(left) > 0 || len(written) != len(b)-len(rest) {
			t.Fatalf("%x is %x, written again %x, which is %x, %v", b, s, written, again, err)
		}
		if s.size() != int(b[0]) || s.Compare(&s, 7, 7).Share(7) != float64(min(1, s.size())) {
			t.Fatalf("%x has %d bins", b, s.size())
		}
	})
}

// plainOverlap computes rule 8 of docs/design.md: the share of n runs that documents of a and b
// runs have in common.
func plainOverlap(s, t *sketch, a, b, n uint64) float64 {
	var raw, both, either int64
	for bin := range letters.Bins {
		x, y := s.at(bin), t.at(bin)
		if x != 0 || y != 0 {
			either++
		}
		if x != 0 && y != 0 {
			both++
		}
		if x != 0 && x == y {
			raw++
		}
	}
	if either == 0 {
		return 0
	}
	jaccard := new(big.Rat).Sub(big.NewRat(raw, 1), big.NewRat(both, 15))
	jaccard.Quo(jaccard, new(big.Rat).Mul(big.NewRat(either, 1), big.NewRat(14, 15)))
	if jaccard.Sign() < 0 {
		return 0
	}
	common := new(big.Rat).Mul(jaccard, new(big.Rat).SetInt(new(big.Int).SetUint64(a+b)))
	common.Quo(common, new(big.Rat).Add(big.NewRat(1, 1), jaccard))
	share, _ := common.Quo(common, new(big.Rat).SetInt(new(big.Int).SetUint64(n))).Float64()
	return min(share, 1)
}

func TestCompareEqualsFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		s := drawSketch(rng, rng.IntN(letters.Bins+1))
		other := drawSketch(rng, rng.IntN(letters.Bins+1))
		for bin := range letters.Bins { // make some equal
			if rng.IntN(3) > 0 && other.at(bin) == 0 {
				other.set(bin, s.at(bin))
			}
		}
		a, b := 20+rng.Uint64()>>(24+rng.IntN(38)), 20+rng.Uint64()>>(24+rng.IntN(38))
		o := s.Compare(&other, a, b)
		if back := other.Compare(&s, b, a); back != o {
			t.Fatalf("%v one way, %v the other", o, back)
		}
		for _, n := range []uint64{a, b} {
			if got, want := o.Share(n), plainOverlap(&s, &other, a, b, n); got != want {
				t.Fatalf("%v of %d and %d runs: %v, want %v", o, a, b, got, want)
			}
		}
	})
}

func TestCompareAtTheEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var empty sketch
	if o := empty.Compare(&empty, 0, 0); o.Share(0) != 0 || o.Share(20) != 0 {
		t.Errorf("two of nothing have %v in common", o)
	}
	for n := 1; n <= letters.Bins; n++ {
		s := drawSketch(rng, n)
		if got := s.Compare(&s, 1000, 1000).Share(1000); got != 1 {
			t.Errorf("%d equal bins: %v", n, got)
		}
		if got := s.Compare(&empty, 1000, 0).Share(1000); got != 0 {
			t.Errorf("%d bins and none: %v", n, got)
		}
		other := s
		for i, x := range other { // a different number in every bin
			for at := 0; at < 64; at += 4 {
				if v := x >> at & 15; v != 0 {
					other[i] = other[i]&^(15<<at) | (1+v%values)<<at
				}
			}
		}
		if got := s.Compare(&other, 1000, 1000).Share(1000); got != 0 {
			t.Errorf("%d other bins: %v", n, got)
		}
	}
	s := drawSketch(rng, letters.Bins)
	if got := s.Compare(&s, 20, 40).Share(20); got != 1 {
		t.Errorf("a share above 1: %v", got)
	}
}

// drawPair draws the sketches of two documents of n runs with this share in common.
func drawPair(rng *rand.Rand, share float64, n int) (s, t sketch) {
	var a, b least
	for i := range n {
		h := rng.Uint32()
		a.put(h)
		if float64(i) >= share*float64(n) {
			h = rng.Uint32()
		}
		b.put(h)
	}
	return a.sketch(), b.sketch()
}

// least has the least hash of each bin, and one more, by docs/canonical.md, section 7.
type least [128]uint64

func (l *least) put(h uint32) {
	if bin := &l[h%128]; *bin == 0 || uint64(h) < *bin {
		*bin = uint64(h) + 1
	}
}

func (l *least) sketch() (s sketch) {
	for bin, h := range l {
		if h > 0 {
			s.set(bin, uint64(1+(uint32(h-1)*0x9E3779B1>>16)*15>>16))
		}
	}
	return s
}

// spreadOf returns the standard deviation of an estimate with independent bins. All bins draw from
// one document's runs, so it is an upper bound.
func spreadOf(share float64) float64 {
	jaccard := share / (2 - share)
	equal := jaccard + (1-jaccard)/values // the chance that a bin has equal numbers
	deviation := math.Sqrt(equal*(1-equal)/letters.Bins) * values / (values - 1)
	return deviation * 2 / ((1 + jaccard) * (1 + jaccard))
}

// TestEstimates checks that estimates are as near the true shares as docs/design.md, rule 8, says.
func TestEstimates(t *testing.T) {
	for _, runs := range []int{40, 400} {
		for _, share := range []float64{.3, .45, .6, .8, .95} {
			rng := rand.New(rand.NewPCG(6, uint64(1000*share)))
			const draws = 20_000
			var sum, squares, high float64
			for range draws {
				a, b := drawPair(rng, share, runs)
				got := a.Compare(&b, uint64(runs), uint64(runs)).Share(uint64(runs))
				sum += got
				squares += (got - share) * (got - share)
				if got >= .6 {
					high++
				}
			}
			mean, spread := sum/draws, math.Sqrt(squares/draws)
			t.Logf("%d runs, share %v: mean %.4f, spread %.4f, %v of them at least .6", runs, share, mean, spread, high/draws)
			if math.Abs(mean-share) > .01 || spread > spreadOf(share) {
				t.Errorf("%d runs, share %v: mean %v, spread %v, want at most %v", runs, share, mean, spread, spreadOf(share))
			}
			if share == .3 && high > 0 || share == .45 && high/draws > 3e-3 {
				t.Errorf("%d runs, share %v: taken for .6 with %v", runs, share, high/draws)
			}
		}
	}
}

// TestContains counts documents that are certainly contained. With 80% in the other, they are one
// in 300 at most. With 95% they are most, and exact copies are all.
func TestContains(t *testing.T) {
	const draws = 20_000
	for _, c := range []struct {
		share       float64
		least, most float64
	}{{.6, 0, 0}, {.8, 0, 1. / 300}, {.95, .8, 1}, {1, 1, 1}} {
		rng := rand.New(rand.NewPCG(7, uint64(1000*c.share)))
		sure := 0
		for range draws {
			if a, b := drawPair(rng, c.share, 400); a.Contains(&b, 400, 400) {
				sure++
			}
		}
		if rate := float64(sure) / draws; rate < c.least || rate > c.most {
			t.Errorf("a share of %v is certain in %v of the draws, want %v to %v", c.share, rate, c.least, c.most)
		}
	}
	rng := rand.New(rand.NewPCG(8, 8))
	s := drawSketch(rng, letters.Bins)
	if !s.Contains(&s, 400, 400) || (&sketch{}).Contains(&sketch{}, 0, 0) || s.Contains(&sketch{}, 400, 400) {
		t.Error("the same sketch is not certain, or an empty one is")
	}
}
