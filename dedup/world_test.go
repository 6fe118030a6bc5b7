package dedup_test

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/firstseen/firstseen/feature"
)

// A world draws documents over few segments. They quote each other, are assembled from each other,
// and meet at common segments, ties and cut-offs.
type world struct {
	rng     *rand.Rand
	words   int // number of distinct segments
	widths  int // number of distinct widths: few make ties
	most    int // maximum number of segments chosen per document
	footer  int // segments that many documents end with
	earlier []*feature.Sketch
	ids     [][]int // of all segments of each earlier document
}

// newWorld draws from one seed, since rapid prefers small numbers, which give little but copies.
func newWorld(seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 6))
	return &world{
		rng:    rng,
		words:  20 + rng.IntN(200),
		widths: 1 + rng.IntN(12),
		most:   4 + rng.IntN(24),
		footer: rng.IntN(4),
	}
}

// mix turns neighbouring numbers into unrelated keys.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// segment returns the segment with this id, from 1. Its width and units follow from the id, as they
// do from the text of a real one.
func (w *world) segment(id int) feature.Feature {
	return feature.Feature{Key: mix(uint64(id)), Order: mix(^uint64(id)), Width: 12 + uint32(id%w.widths), Units: 1 + uint32(id*7%17)}
}

// document draws a new document, or one made of earlier ones.
func (w *world) document() *feature.Sketch {
	var ids []int
	if len(w.earlier) > 0 {
		switch w.rng.IntN(8) {
		case 0: // a copy
			return w.again(w.earlier[w.pick()])
		case 1, 2: // quotes a part
			ids = w.part(w.pick())
		case 3, 4: // assembled from parts of several
			for range 2 + w.rng.IntN(3) {
				ids = append(ids, w.part(w.pick())...)
			}
		case 5: // a near copy
			ids = w.part(w.pick())
			return w.keep(w.set(append(ids, w.fresh(1)...)), ids)
		}
	}
	ids = append(ids, w.fresh(w.rng.IntN(1+w.rng.IntN(2*w.most)))...)
	for i := range w.footer {
		ids = append(ids, 1000+i)
	}
	return w.keep(w.set(ids), ids)
}

func (w *world) pick() int { return w.rng.IntN(len(w.earlier)) }

func (w *world) fresh(n int) (ids []int) {
	for range n {
		ids = append(ids, 1+w.rng.IntN(w.words))
	}
	return ids
}

// part draws a stretch of an earlier document.
func (w *world) part(of int) []int {
	ids := w.ids[of]
	from := w.rng.IntN(len(ids) + 1)
	to := from + w.rng.IntN(len(ids)-from+1)
	return slices.Clone(ids[from:to])
}

// again returns an exact copy, or an adversary's: the same whole text over other segments.
func (w *world) again(set *feature.Sketch) *feature.Sketch {
	if w.rng.IntN(4) > 0 {
		return set
	}
	ids := w.fresh(w.rng.IntN(w.most))
	forged := w.set(ids)
	forged.Whole = set.Whole
	return w.keep(forged, ids)
}

func (w *world) keep(set *feature.Sketch, ids []int) *feature.Sketch {
	w.earlier, w.ids = append(w.earlier, set), append(w.ids, ids)
	return set
}

// set returns the features of a text with these segments. Sometimes the key of a segment is that of
// a whole text, or the reverse.
func (w *world) set(ids []int) *feature.Sketch {
	set := &feature.Sketch{Whole: 1}
	seen := map[int]bool{}
	for _, id := range ids {
		if !seen[id] {
			set.Features = append(set.Features, w.segment(id))
		}
		seen[id] = true
		set.Whole = mix(set.Whole + uint64(id))
	}
	if len(w.earlier) > 0 && w.rng.IntN(30) == 0 {
		e := w.earlier[w.pick()]
		if len(e.Features) > 0 && w.rng.IntN(2) == 0 {
			set.Whole = e.Features[0].Key
		} else if len(set.Features) > 0 && !slices.ContainsFunc(set.Features, func(f feature.Feature) bool { return f.Key == e.Whole }) {
			set.Features[0].Key = e.Whole
		}
	}
	choose(set, w.most)
	for _, f := range set.Features {
		set.Units += uint64(f.Units)
	}
	set.Units += uint64(w.rng.IntN(12))
	return set
}

// choose keeps the first most features in the order of choice.
func choose(set *feature.Sketch, most int) {
	slices.SortFunc(set.Features, func(a, b feature.Feature) int {
		return cmp.Or(cmp.Compare(b.Width, a.Width), cmp.Compare(a.Order, b.Order))
	})
	if len(set.Features) > most {
		set.Features, set.Truncated = set.Features[:most], true
	}
}

// drawThreshold draws a decimal, or a ratio that shares of small documents meet exactly.
func drawThreshold(rng *rand.Rand) float64 {
	if rng.IntN(2) == 0 {
		return float64(4+rng.IntN(17)) / 20
	}
	of := 1 + rng.IntN(60)
	return float64(1+rng.IntN(of)) / float64(of)
}
