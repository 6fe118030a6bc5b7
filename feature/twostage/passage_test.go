package twostage

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/feature/method"
)

func passage(from, to, of uint64) method.Passage { return method.Passage{From: from, To: to, Of: of} }

// placed returns a sketch with one run in each bin, every step runs, the last bin first. The other
// sketch holds those marked y.
func placed(t *testing.T, holds string, step int) (p *places, s, other *sketch) {
	t.Helper()
	p, s, other = new(places), new(sketch), new(sketch)
	var places []byte
	for bin := range len(holds) {
		i := len(holds) - 1 - bin // in the order of the text
		v := uint64(1 + bin%values)
		s.set(bin, v)
		switch holds[i] {
		case 'y':
			other.set(bin, v)
		case 'n':
			other.set(bin, 1+v%values)
		}
		places = binary.LittleEndian.AppendUint32(places, uint32(i*step))
	}
	if !p.Sort(s, places, uint64(len(holds)*step)) {
		t.Fatal("other bins than the sketch has")
	}
	return p, s, other
}

// TestNewStretch checks the limits of rule 8 in docs/design.md. The other document holds y, not n
// or -. A bin is ten runs.
func TestNewStretch(t *testing.T) {
	many := func(what string, n int) (s string) {
		for range n {
			s += what
		}
		return s
	}
	none := method.Passage{}
	for _, c := range []struct {
		name, holds string
		want        method.Passage
	}{
		{"no gap", many("y", 96), none},
		{"nothing held", many("n", 96), passage(0, 964, 964)},
		{"a quarter in front, and no more", many("n", 24) + many("y", 72), passage(0, 258, 964)}, // including two held
		{"less than a quarter in front", many("n", 21) + many("y", 75), none},                    // 23 bins, including two held
		{"at the end", many("y", 72) + many("-", 24), passage(700-5+3, 964, 964)},
		{"in the middle", many("y", 40) + many("n", 22) + many("y", 34), passage(380-5+3, 640-5+3, 964)},
		{"too few bins", many("y", 22) + many("n", 19) + many("y", 3), none},
		{"few bins, most of the text", many("n", 22) + many("y", 6), passage(0, 240-5+3, 284)},
		{"as much, and 23 bins", many("n", 23), none},
		{"two of ten hold", many("ynnnynnnnn", 5) + many("y", 70), passage(0, 510-5+3, 1204)},
		{"three of ten hold", many("ynnynnynnn", 6), none},
		{"two gaps, each too short", many("n", 18) + many("y", 30) + many("n", 18) + many("y", 30), none},
		{"the longest of two", many("n", 30) + many("y", 10) + many("n", 40), passage(380-5+3, 804, 804)},
		{"the first of two", many("y", 5) + many("n", 30) + many("y", 10) + many("n", 30) + many("y", 5), passage(30-5+3, 370-5+3, 804)},
	} {
		p, s, other := placed(t, c.holds, 10)
		if diff := cmp.Diff(c.want, p.New(s, other)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestPlacesOfAnotherSketch checks that places for another number of bins are refused.
func TestPlacesOfAnotherSketch(t *testing.T) {
	_, s, _ := placed(t, "yyy", 1)
	var p places
	if p.Sort(s, make([]byte, 8), 3) || p.Sort(s, nil, 3) {
		t.Error("two places of three bins")
	}
}
