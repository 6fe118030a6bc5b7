package peers

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// permutations is the number of minima in a signature.
const permutations = 128

// MinHash is Broder's signature of the shingles, cut into bands for look-ups, as datatrove and
// text-dedup do it. It removes a text that shares a whole band with a kept one. With verification,
// the share of equal minima must also reach the threshold.
type MinHash struct {
	threshold   float64
	verified    bool
	bands, rows int
	judged      int
	signatures  map[int][]uint32
	tables      []map[uint64][]int // by band: ascending documents with each key
	multiply    [permutations]uint64
	add         [permutations]uint64
	compared    map[int]struct{} // in one decision
}

// NewMinHash returns a rule with the bands that suit a Jaccard threshold, above 0 and below 1. If
// verified, it compares the whole signatures too.
func NewMinHash(threshold float64, verified bool) *MinHash {
	m := &MinHash{threshold: threshold, verified: verified, signatures: map[int][]uint32{}, compared: map[int]struct{}{}}
	m.bands, m.rows = bandsFor(threshold)
	for range m.bands {
		m.tables = append(m.tables, map[uint64][]int{})
	}
	rng := rand.New(rand.NewPCG(1, 128))
	for i := range permutations {
		m.multiply[i], m.add[i] = rng.Uint64()|1, rng.Uint64()
	}
	return m
}

// bandsFor returns the bands and rows of 128 minima with the fewest wrong and missed candidates, as
// datasketch and text-dedup choose them. It weighs alike the area below the detection curve left of
// the threshold and the area above it on the right.
func bandsFor(threshold float64) (bands, rows int) {
	least := math.Inf(1)
	for b := 1; b <= permutations; b++ {
		for r := 1; b*r <= permutations; r++ {
			if e := wrongArea(threshold, b, r); e < least {
				least, bands, rows = e, b, r
			}
		}
	}
	return bands, rows
}

// wrongArea integrates the probability of a wrong answer over all similarities.
func wrongArea(threshold float64, bands, rows int) float64 {
	const step = 0.001
	sum := 0.0
	for s := step / 2; s < 1; s += step {
		missed := math.Pow(1-math.Pow(s, float64(rows)), float64(bands))
		if s < threshold {
			sum += (1 - missed) * step
		} else {
			sum += missed * step
		}
	}
	return sum
}

// Name implements Rule.
func (m *MinHash) Name() string {
	name := fmt.Sprintf("MinHash %d for %g (%d × %d)", permutations, m.threshold, m.bands, m.rows)
	if m.verified {
		name += ", verified"
	}
	return name
}

// Decide implements Rule. The witness is the candidate with the most equal minima, or the earliest
// of several. A text without units has no signature and is kept.
func (m *MinHash) Decide(doc Doc) (int, bool, error) {
	number := m.judged
	m.judged++
	runs := shingles(doc.Text)
	if len(runs) == 0 {
		return 0, false, nil
	}
	signature := m.signature(runs)
	keys := m.keys(signature)
	if witness, ok := m.best(signature, keys); ok {
		return witness, true, nil
	}
	m.signatures[number] = signature
	for band, key := range keys {
		m.tables[band][key] = append(m.tables[band][key], number)
	}
	return 0, false, nil
}

// signature returns the least hash under each permutation.
func (m *MinHash) signature(runs []uint64) []uint32 {
	s := make([]uint32, permutations)
	for i := range s {
		least, a, b := uint32(math.MaxUint32), m.multiply[i], m.add[i]
		for _, h := range runs {
			least = min(least, uint32((h*a+b)>>32))
		}
		s[i] = least
	}
	return s
}

// keys returns the hashes of the bands.
func (m *MinHash) keys(signature []uint32) []uint64 {
	keys := make([]uint64, m.bands)
	for band := range keys {
		for _, v := range signature[band*m.rows : (band+1)*m.rows] {
			keys[band] = mix(keys[band]*multiplier + uint64(v))
		}
	}
	return keys
}

// best finds the candidate with the most equal minima.
func (m *MinHash) best(signature []uint32, keys []uint64) (witness int, found bool) {
	clear(m.compared)
	most := 0
	if m.verified {
		most = int(math.Ceil(m.threshold*permutations)) - 1
	}
	for band, key := range keys {
		for _, n := range m.tables[band][key] {
			if _, done := m.compared[n]; done {
				continue
			}
			m.compared[n] = struct{}{}
			e := equal(signature, m.signatures[n])
			if e > most || e == most && found && n < witness {
				most, witness, found = e, n, true
			}
		}
	}
	return witness, found
}

func equal(a, b []uint32) (n int) {
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// Size implements Rule.
func (m *MinHash) Size() int64 {
	return int64(len(m.signatures)) * int64(permutations*4+m.bands*keyBytes)
}
