package terms

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// TestCounts checks the document count of each term, before and after a write and a read.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Counter
		want := map[uint64]uint32{}
		documents := rapid.SliceOfN(rapid.SliceOf(rapid.Uint64Range(0, 40)), 0, 40).Draw(t, "documents")
		for _, terms := range documents {
			seen := map[uint64]bool{}
			for i := range terms {
				terms[i] *= 0x9e3779b97f4a7c15
				if !seen[terms[i]] {
					want[terms[i]]++
				}
				seen[terms[i]] = true
			}
			c.Add(AppendDistinct(nil, terms))
		}
		least := rapid.Uint32Range(1, 4).Draw(t, "least")
		table := c.Table(least)
		var file bytes.Buffer
		if err := table.Write(&file); err != nil || int64(file.Len()) != table.Size() {
			t.Fatal(err, file.Len())
		}
		read, err := Parse(file.Bytes())
		if err != nil || read.Digest() != table.Digest() || read.Documents() != uint32(len(documents)) || read.Len() != table.Len() {
			t.Fatalf("%v, %+v, want %+v", err, read, table)
		}
		n := 0
		for i := range uint64(50) {
			term := i * 0x9e3779b97f4a7c15
			count := want[term]
			if count < least {
				count = 0
			} else {
				n++
			}
			if read.Count(term) != count {
				t.Fatalf("%x: %d, want %d", term, read.Count(term), count)
			}
			if count := max(count, 1); len(documents) > 0 && read.Rarity(term) != logarithm(len(documents)+1, int(count)+1) {
				t.Fatalf("%x: rarity %d", term, read.Rarity(term))
			}
		}
		if n != read.Len() || c.Missed() != 0 {
			t.Fatal(n, read.Len(), c.Missed())
		}
	})
}

// TestOneBeginning checks that terms with the same leading bits are each found, and no others.
func TestOneBeginning(t *testing.T) {
	var c Counter
	const beginning, n = 7 << 48, 300
	for i := range uint64(n) {
		var doc []uint64
		for k := range i + 1 {
			doc = append(doc, beginning+3*k)
		}
		c.Add(doc)
	}
	table := c.Table(1)
	for i := range uint64(n) {
		if got := table.Count(beginning + 3*i); got != uint32(n-i) {
			t.Errorf("term %d: %d", i, got)
		}
		if got := table.Count(beginning + 3*i + 1); got != 0 {
			t.Errorf("behind term %d: %d", i, got)
		}
	}
}

// logarithm returns 256 times the binary logarithm of a/b, rounded down.
func logarithm(a, b int) uint32 {
	if a%b == 0 && bits.OnesCount(uint(a/b)) == 1 {
		return 256 * uint32(bits.Len(uint(a/b))-1)
	}
	return uint32(math.Floor(256 * math.Log2(float64(a)/float64(b))))
}

func TestLogarithm(t *testing.T) {
	for _, a := range []uint64{1, 2, 3, 7, 100, 1 << 20, 1<<32 - 1, 1 << 32} {
		for _, b := range []uint64{1, 2, 3, 5, 99, 1 << 19, 1<<32 - 1} {
			if a < b {
				continue
			}
			got, want := log2(a, b), logarithm(int(a), int(b))
			if got != want && got+1 != want { // the last bit may be short for quotients near a step
				t.Errorf("%d/%d: %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestForgetting overfills a counter. A count may fall short by Missed at most, and never exceed.
func TestForgetting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Counter{Most: rapid.IntRange(1, 20).Draw(t, "most")}
		want := map[uint64]uint32{}
		for range rapid.IntRange(0, 60).Draw(t, "documents") {
			terms := rapid.SliceOfNDistinct(rapid.Uint64Range(0, 60), 0, 15, rapid.ID).Draw(t, "terms")
			c.Add(terms)
			for _, term := range terms {
				want[term]++
			}
		}
		table := c.Table(1)
		if table.Len() > c.Most {
			t.Fatalf("%d terms, room for %d", table.Len(), c.Most)
		}
		for term, n := range want {
			if got := table.Count(term); got > n || got+c.Missed() < n {
				t.Fatalf("%d: %d of %d, and %d may be missing", term, got, n, c.Missed())
			}
		}
	})
}

// TestMost checks limits that are no number of terms in a table: they are the largest one.
func TestMost(t *testing.T) {
	for _, most := range []int{-1, 0, MaxTerms + 1} {
		c := Counter{Most: most}
		if c.Add([]uint64{1, 2, 3}); c.Table(1).Len() != 3 || c.Missed() != 0 {
			t.Errorf("%d: %d terms, %d missed", most, c.Table(1).Len(), c.Missed())
		}
	}
}

// fixture is a table of two documents, one with the terms 1 and 2 and one with 2. It was written
// manually, with a digest from sha256sum.
const fixture = "667374" + "65726d7331" + "7531356200000000" + "0200000000000000" + "0200000000000000" +
	"0100000000000000" + "0200000000000000" + "01000000" + "02000000" + "a8fde99a9378b4899f11d23c1f2cd660"

// TestStored checks the format, which may never change.
func TestStored(t *testing.T) {
	var c Counter
	c.Add([]uint64{2, 1})
	c.Add([]uint64{2, 2})
	var file bytes.Buffer
	if err := c.Table(1).Write(&file); err != nil || hex.EncodeToString(file.Bytes()) != fixture {
		t.Errorf("%x, %v", file.Bytes(), err)
	}
}

// TestDamage checks that every changed, missing or added byte is detected.
func TestDamage(t *testing.T) {
	var c Counter
	for i := range uint64(20) {
		c.Add([]uint64{i << 60, 7, i << 50})
	}
	var file bytes.Buffer
	if err := c.Table(1).Write(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 1 << (i % 8)
		for _, b := range [][]byte{damaged, whole[:i]} {
			if _, err := Parse(b); !errors.Is(err, ErrTable) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
	if _, err := Parse(append(bytes.Clone(whole), 0)); !errors.Is(err, ErrTable) {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	b, err := hex.DecodeString(fixture)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrTable) {
				t.Fatal(err)
			}
			return
		}
		var file bytes.Buffer
		if err := table.Write(&file); err != nil || !bytes.Equal(file.Bytes(), b) {
			t.Fatalf("%x is written as %x", b, file.Bytes())
		}
	})
}
