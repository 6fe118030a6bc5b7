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
func placed(holds string, step int) (p *places, s, other *sketch) {
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
	p.Sort(s, places, uint64(len(holds)*step))
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
		{"nothing held", many("n", 96), passage(0, 966, 966)},
		{"a quarter in front, and no more", many("n", 24) + many("y", 72), passage(0, 259, 966)}, // including two held
		{"less than a quarter in front", many("n", 21) + many("y", 75), none},                    // 23 bins, including two held
		{"at the end", many("y", 72) + many("-", 24), passage(699, 966, 966)},
		{"in the middle", many("y", 40) + many("n", 22) + many("y", 34), passage(379, 639, 966)},
		{"too few bins", many("y", 22) + many("n", 19) + many("y", 3), none},
		{"few bins, most of the text", many("n", 22) + many("y", 6), passage(0, 239, 286)},
		{"as much, and 23 bins", many("n", 23), none},
		{"24 bins of 96, of which two hold", many("n", 22) + many("y", 74), none}, // 235 of 960 runs
		{"a fifth holds", many("nnnnynnnny", 5) + many("y", 70), passage(0, 499, 1206)},
		{"more than a fifth holds", many("ynnnynnnnn", 5) + many("y", 70), none},
		{"three of ten hold", many("ynnynnynnn", 6), none},
		{"two gaps, each too short", many("n", 18) + many("y", 30) + many("n", 18) + many("y", 30), none},
		{"two gaps, two held between", many("n", 12) + "yy" + many("n", 12) + many("y", 30), passage(0, 279, 566)},
		{"the longest of two", many("n", 30) + many("y", 10) + many("n", 40), passage(379, 806, 806)},
		{"the first of two", many("y", 5) + many("n", 30) + many("y", 10) + many("n", 30) + many("y", 5), passage(29, 369, 806)},
	} {
		p, s, other := placed(c.holds, 10)
		got := none
		if widest := p.New(s, other); widest.spans(newBins, newShare) {
			got = widest.letters()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for bins, spans := range map[int]bool{23: false, 24: true} {
		exactly := stretch{method.Passage{From: 10, To: 490, Of: 1920}, bins}
		more := stretch{method.Passage{From: 10, To: 491, Of: 1920}, bins}
		if exactly.spans(newBins, newShare) || more.spans(newBins, newShare) != spans {
			t.Errorf("%d bins: a quarter %v, more %v", bins, exactly.spans(newBins, newShare), more.spans(newBins, newShare))
		}
	}
}
