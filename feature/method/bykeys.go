package method

import "slices"

// ByKeys has the methods of a [Judge] whose features only find candidates and are no parts of the
// text that a result counts. Every candidate found is compared.
type ByKeys struct {
	Sketch *Sketch // of the document under judgement
}

// Load makes s the document under judgement.
func (b *ByKeys) Load(s *Sketch) { b.Sketch = s }

// Weight is 0.
func (ByKeys) Weight(int) uint64 { return 0 }

// Size is 0.
func (ByKeys) Size(int) uint64 { return 0 }

// Whole is 0.
func (ByKeys) Whole() uint64 { return 0 }

// MayReach reports whether anything was seen.
func (ByKeys) MayReach(seen []bool) bool { return slices.Contains(seen, true) }

// Select selects all.
func (ByKeys) Select(dst []int, f *Found) []int {
	for i := range f.Candidates {
		dst = append(dst, i)
	}
	return dst
}
