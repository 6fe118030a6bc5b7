package feature

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
)

// TestFingerprintReference compares with another implementation, by terms and weights and by texts.
// See bench/reference/fingerprints.py, which splits the texts itself.
func TestFingerprintReference(t *testing.T) {
	b, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Text, Fingerprint string
		Terms             map[string]uint64
	}
	if err := json.Unmarshal(b, &vectors); err != nil || len(vectors) < 15 {
		t.Fatal(len(vectors), err)
	}
	e := Scheme{Method: "simhash"}.must().NewExtractor()
	for _, vector := range vectors {
		want, err := strconv.ParseUint(vector.Fingerprint, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		var v votes
		for term, weight := range vector.Terms {
			v.add(xxh3.HashString(term), weight)
		}
		if got := v.fingerprint(); got != want {
			t.Errorf("%.60v: %016x, want %016x", vector.Terms, got, want)
		}
		var s method.Sketch
		if e.Extract(&s, []byte(vector.Text)); vector.Text != "" && binary.LittleEndian.Uint64(s.Data) != want {
			t.Errorf("%q: %x, want %016x", vector.Text, s.Data, want)
		}
	}
}

// TestVotes compares the bit-sliced sums with 64 counters.
func TestVotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v votes
		var ones [64]uint64
		var all uint64
		for range rapid.IntRange(0, 200).Draw(t, "terms") {
			hash := rapid.Uint64().Draw(t, "hash")
			weight := rapid.Uint64Range(0, 1<<rapid.IntRange(0, 40).Draw(t, "size")).Draw(t, "weight")
			v.add(hash, weight)
			all += weight
			for bit := range ones {
				ones[bit] += hash >> bit & 1 * weight
			}
		}
		var want uint64
		for bit, n := range ones {
			if 2*n > all {
				want |= 1 << bit
			}
		}
		if got := v.fingerprint(); got != want {
			t.Fatalf("%x, want %x", got, want)
		}
	})
}

// TestSimHashNames checks that its name, key and table restore a scheme, and that no others do.
func TestSimHashNames(t *testing.T) {
	var c terms.Counter
	c.Add([]uint64{1, 2})
	table, key := c.Table(1), []byte("0123456789abcdef")
	for name, s := range map[string]Scheme{
		"simhash1-u15b-xxh3-d3":                         {},
		"simhash1-u15b-xxh3-t" + table.Digest() + "-d5": {Terms: table, Distance: 5},
	} {
		s.Method = "simhash"
		if s.Name() != name {
			t.Errorf("%s, want %s", s.Name(), name)
		}
		if got, ok := NamedWith(name, nil, s.Terms); !ok || got.Name() != name {
			t.Errorf("%s is %+v, %v", name, got, ok)
		}
		if _, ok := NamedWith(name, key, s.Terms); ok {
			t.Errorf("%s under a key", name)
		}
	}
	for _, name := range []string{"", "simhash1-u15b-xxh3", "simhash1-u15b-xxh3-d8", "simhash1-u15b-xxh3-d03", "simhash2-u15b-xxh3-d3"} {
		if s, ok := Named(name, nil); ok {
			t.Errorf("%s is %+v", name, s)
		}
	}
	for _, s := range []Scheme{{Distance: -1}, {Distance: MaxDistance + 1}, {Key: key[:3]}} {
		s.Method = "simhash"
		if s.Validate() == nil {
			t.Errorf("%+v is valid", s)
		}
	}
}

// TestNoWeight checks texts whose terms all weigh nothing. They have no fingerprint, nothing is
// near them, and only exact copies are copies.
func TestNoWeight(t *testing.T) {
	var c terms.Counter
	c.Add([]uint64{xxh3.HashString("everywhere")})
	s := Scheme{Method: "simhash", Terms: c.Table(1)}.must()
	memory := s.(method.Rememberer).NewMemory()
	e, j := s.NewExtractor(), s.NewJudge(method.Rules{})
	for _, text := range []string{"", "+ + +", "everywhere", "everywhere, everywhere!"} {
		var sketch method.Sketch
		e.Extract(&sketch, []byte(text))
		j.Load(&sketch)
		record := j.Record(nil)
		same, _, err := j.Same(record)
		if len(sketch.Data) != 0 || len(sketch.Features) != 0 || !same || err != nil || memory.Add(record) != nil {
			t.Errorf("%q: %+v, %v, %v", text, sketch, same, err)
		}
		if near := memory.Near(nil, &sketch); len(near) != 0 {
			t.Errorf("%q is near to %v", text, near)
		}
		if f, err := j.Compare(nil, record); err != nil || f.Relation != method.Unrelated {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
}

// TestSimHashDistance checks that the maximum distance is that of a copy, and one bit more is not.
func TestSimHashDistance(t *testing.T) {
	for distance := range MaxDistance + 1 {
		s := Scheme{Method: "simhash", Distance: distance}.must()
		j := s.NewJudge(method.Rules{})
		j.Load(&method.Sketch{Data: make([]byte, 8)})
		most := cmp.Or(distance, 3)
		for differ, want := range map[int]method.Relation{0: method.Copy, most: method.Copy, most + 1: method.Unrelated} {
			record := binary.LittleEndian.AppendUint64(make([]byte, 8), 1<<differ-1)
			if f, err := j.Compare(nil, record); err != nil || f.Relation != want || f.Distance != differ || f.Score != float64(64-differ)/64 {
				t.Errorf("%d bits of %d differ: %+v, %v", differ, most, f, err)
			}
		}
	}
}

// TestMemoryFindsAll checks that every near fingerprint is returned once, under its document's key.
func TestMemoryFindsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		distance := rapid.IntRange(1, MaxDistance).Draw(t, "distance")
		s := Scheme{Method: "simhash", Distance: distance, Key: []byte("0123456789abcdef")}.must()
		memory := s.(method.Rememberer).NewMemory()
		centre := rapid.Uint64().Draw(t, "centre")
		var kept []uint64
		for _, flips := range rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 63), 0, 10), 0, 30).Draw(t, "kept") {
			f := centre
			for _, bit := range flips {
				f ^= 1 << bit
			}
			kept = append(kept, f)
			if err := memory.Add(binary.LittleEndian.AppendUint64(make([]byte, 8), f)); err != nil {
				t.Fatal(err)
			}
		}
		sketch := method.Sketch{Data: binary.LittleEndian.AppendUint64(nil, centre)}
		got := map[uint64]int{}
		for _, f := range memory.Near(nil, &sketch) {
			got[f.Key]++
		}
		hash := s.NewExtractor().(*voter).hash
		want := map[uint64]int{}
		for _, f := range kept {
			if bits.OnesCount64(f^centre) <= distance {
				want[lead(&hash, binary.LittleEndian.AppendUint64(nil, f)).Key] = 1
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for key := range want {
			if got[key] != 1 {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	})
}

// TestDamagedFingerprint checks that a record of a wrong length is refused.
func TestDamagedFingerprint(t *testing.T) {
	s := Scheme{Method: "simhash"}.must()
	j := s.NewJudge(method.Rules{})
	j.Load(&method.Sketch{Data: make([]byte, 8)})
	memory := s.(method.Rememberer).NewMemory()
	for n := range 20 {
		_, _, sameErr := j.Same(make([]byte, n))
		_, compareErr := j.Compare(nil, make([]byte, n))
		addErr := memory.Add(make([]byte, n))
		if fine := n == 8 || n == 16; (sameErr == nil) != fine || (compareErr == nil) != fine || (addErr == nil) != fine {
			t.Errorf("%d bytes: %v, %v, %v", n, sameErr, compareErr, addErr)
		}
	}
}

func TestSimHashNoAllocation(t *testing.T) {
	e := Scheme{Method: "simhash"}.must().NewExtractor()
	text := []byte(strings.Repeat("Some words that are read again. 一二三四五六七。", 300))
	var s method.Sketch
	e.Extract(&s, text)
	if allocs := testing.AllocsPerRun(20, func() { e.Extract(&s, text) }); allocs > 0 {
		t.Errorf("%v allocations a text", allocs)
	}
}
