package dedup_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/method"
)

// simhash is the method of Charikar (2002) as in docs/extend.md, "Add a method": 4 blocks of 16
// bits.
type simhash struct{ far int }

const simhashBlocks = 4

func (simhash) Name() string  { return "simhash1-" + canon.Version }
func (simhash) Features() int { return simhashBlocks }

func (m simhash) NewJudge(method.Rules) method.Judge { return &simhashJudge{far: m.far} }

func (simhash) NewExtractor() method.Extractor { return &simhashExtractor{scanner: canon.NewScanner()} }

type simhashExtractor struct {
	scanner *canon.Scanner
	sums    [64]int
	whole   *xxh3.Hasher
}

func (e *simhashExtractor) Extract(dst *method.Sketch, text []byte) {
	*dst = method.Sketch{Features: dst.Features[:0], Data: dst.Data[:0]}
	e.sums, e.whole = [64]int{}, xxh3.New()
	for e.scanner.Reset(text); ; {
		step := e.scanner.Next()
		if step == canon.Piece {
			continue
		}
		e.add(e.scanner.Text(), dst)
		if step == canon.End {
			break
		}
	}
	var h uint64
	for i, sum := range e.sums {
		if sum > 0 {
			h |= 1 << i
		}
	}
	for b := range uint64(simhashBlocks) {
		dst.Features = append(dst.Features, method.Feature{Key: xxh3.HashSeed(binary.LittleEndian.AppendUint16(nil, uint16(h>>(16*b))), b)})
	}
	dst.Whole, dst.Data = e.whole.Sum64(), binary.LittleEndian.AppendUint64(dst.Data, h)
}

func (e *simhashExtractor) add(part []byte, dst *method.Sketch) {
	e.whole.Write(part)
	for unit, rest := e.scanner.NextUnit(part); unit != nil; unit, rest = e.scanner.NextUnit(rest) {
		dst.Units++
		h := xxh3.Hash(unit)
		for i := range e.sums {
			e.sums[i] += int(h>>i&1)*2 - 1
		}
	}
}

type simhashJudge struct {
	far    int // maximum number of different bits in a copy
	sketch *method.Sketch
}

func (j *simhashJudge) Load(s *method.Sketch)          { j.sketch = s }
func (j *simhashJudge) Record(dst []byte) []byte       { return append(dst, j.sketch.Data...) }
func (j *simhashJudge) Weight(int) uint64              { return 0 }
func (j *simhashJudge) Size(int) uint64                { return 1 }
func (j *simhashJudge) Whole() uint64                  { return simhashBlocks }
func (j *simhashJudge) Same([]byte) (bool, int, error) { return true, simhashBlocks, nil }

func (j *simhashJudge) MayReach(seen []bool) bool {
	for _, s := range seen {
		if s {
			return true
		}
	}
	return false
}

func (j *simhashJudge) Select(dst []int, f *method.Found) []int {
	for i := range f.Candidates {
		dst = append(dst, i)
	}
	return dst
}

func (j *simhashJudge) Compare(_ *method.Candidate, record []byte) (f method.Finding, err error) {
	if len(record) != 8 {
		return f, errors.New("no 64 bits")
	}
	far := bits.OnesCount64(binary.LittleEndian.Uint64(record) ^ binary.LittleEndian.Uint64(j.sketch.Data))
	f = method.Finding{Score: 1 - float64(far)/64, Share: 1 - float64(far)/64, Features: simhashBlocks}
	switch {
	case far <= j.far:
		f.Relation = method.Copy
	case far <= 2*j.far:
		f.Relation = method.Related
	}
	return f, nil
}

// TestAddAMethod checks a method unknown to dedup. It finds a near copy of a long text by its own
// keys, record and rule, and an exact copy by the whole text.
func TestAddAMethod(t *testing.T) {
	var table dedup.Memory
	d, err := dedup.New(dedup.Config{Method: simhash{far: 3}, Table: &table})
	if err != nil {
		t.Fatal(err)
	}
	text := words(1, 3000)
	for _, c := range []struct {
		id, text string
		verdict  dedup.Verdict
		of       string
	}{
		{"a", text, dedup.Unique, ""},
		{"b", words(2, 3000), dedup.Unique, ""},
		{"again", strings.ToUpper(text), dedup.Duplicate, "a"},
		{"near", text + " and one more", dedup.Duplicate, "a"},
		{"c", words(3, 3000), dedup.Unique, ""},
	} {
		r, err := d.See(c.id, []byte(c.text))
		if err != nil || r.Verdict != c.verdict || r.Of.ID != c.of || r.Exact != (c.id == "again") {
			t.Errorf("%s: %+v, %v; want %v of %q", c.id, r, err, c.verdict, c.of)
		}
	}
	if _, err := table.Add([]string{"odd"}, [][]byte{{1, 0, 0, 0}}, [][]uint64{sketchKeys(simhash{}, "other")}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.See("other", []byte("other")); err == nil || !strings.Contains(err.Error(), "document 4: no 64 bits") {
		t.Errorf("what is no record of the method: %v", err)
	}
}

// words returns a text of n words, different for each seed.
func words(seed, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%x ", mix(uint64(seed<<20+i)))
	}
	return b.String()
}

func sketchKeys(m method.Method, text string) (keys []uint64) {
	var s method.Sketch
	m.NewExtractor().Extract(&s, []byte(text))
	for _, f := range s.Features {
		keys = append(keys, f.Key)
	}
	return keys
}
