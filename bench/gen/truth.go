package gen

import "fmt"

// Kind is the kind of a document.
type Kind uint8

const (
	// Unique shares no clause with others, except for the menu and footer of its site.
	Unique Kind = iota
	// Exact is the text of its source.
	Exact
	// Near90, Near80 and Near60 keep that share of the source's clauses in their places. Others of
	// the same length replace the rest.
	Near90
	Near80
	Near60
	// Near30 is a quotation, no copy.
	Near30
	// Mosaic has the ten longest clauses of each of five sources.
	Mosaic
	// Kinds is the number of kinds.
	Kinds = iota
)

var kindNames = [Kinds]string{"unique", "exact", "near90", "near80", "near60", "near30", "mosaic"}

// String returns the name of the kind in tables.
func (k Kind) String() string {
	if int(k) < Kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// overlaps holds, for each kind, the share of a document taken from its source.
var overlaps = [Kinds]float64{0, 1, 0.9, 0.8, 0.6, 0.3, 1.0 / pieces}

// Truth describes a document without making it.
type Truth struct {
	Kind    Kind
	Sources []uint64 // earlier Unique documents; one, or those of a mosaic
	Overlap float64  // share of the document's clauses that the first source has
	backing [pieces]uint64
}

const (
	// Nothing is planted before there is enough to repeat. Among too few documents, two mosaics
	// would have most sources in common.
	firstCopy   = 2000
	firstMosaic = 5000

	// Half of the sources are at most this far back, the others anywhere.
	recent       = 1000
	recentMosaic = firstMosaic
)

// shape is the plan of a unique document.
type shape struct {
	chinese bool
	hasSite bool
	site    uint64
	slots   uint64
}

// shape draws the plan of document n.
func (g *Generator) shape(n uint64) shape {
	h := mix(n ^ g.cfg.Seed*0x9e3779b97f4a7c15 ^ 0x5a5a)
	s := shape{chinese: h&7 < 3, site: (h >> 3 & 0xffff) % sites}
	size, within := h>>20&1023, h>>30
	switch {
	case float64(mix(h)>>11)/(1<<53) < g.cfg.Posts:
		s.slots = 1 + within%3
	case size < 20:
		s.slots = 1 + within%4
	case size < 60:
		s.slots = 5 + within%25
	case size < 980: // the usual page
		s.slots = 52 + within%20
	case size < 1018:
		s.slots = 76 + within%128
	default:
		s.slots = 204 + within%820
	}
	s.hasSite = s.slots >= 30 && h>>56 < 96
	return s
}

// Clauses returns the number of clauses of a Unique document. Of those with one or two, a few in
// ten million share a template and differ only in its words.
func (g *Generator) Clauses(n uint64) uint64 { return g.shape(n).slots }

// Truth describes document n.
func (g *Generator) Truth(n uint64) Truth {
	h := mix(n*0x2545f4914f6cdd1d ^ g.cfg.Seed ^ 0xc0ffee)
	kind := g.kind(n, h)
	t := Truth{Kind: kind, Overlap: overlaps[kind]}
	if kind == Unique {
		return t
	}
	count, back := 1, uint64(recent)
	if kind == Mosaic {
		count, back = pieces, recentMosaic
	}
	for i := range count {
		t.backing[i] = g.source(n, h+uint64(i), back, &t, i)
	}
	t.Sources = t.backing[:count:count]
	return t
}

// kind draws the kind of document n from h.
func (g *Generator) kind(n, h uint64) Kind {
	if n < firstCopy || g.cfg.Duplicates == 0 {
		return Unique
	}
	// x counts a hundred duplicates, then two quotations and a mosaic. Those are kept. With more,
	// some sources' clauses would be in eight kept documents and no longer be evidence.
	x := float64(h>>11) / (1 << 53) / g.cfg.Duplicates * 100
	switch {
	case x < 45:
		return Exact
	case x < 70:
		return Near90
	case x < 95:
		return Near80
	case x < 100:
		return Near60
	case x < 102:
		return Near30
	case x < 103 && n >= firstMosaic:
		return Mosaic
	}
	return Unique
}

// source draws a source of document n for t.Kind: unique and long enough to cut up. A mosaic's
// source differs from the i before, and shares their language.
func (g *Generator) source(n, h, back uint64, t *Truth, i int) uint64 {
	window, least := n, uint64(1)
	switch {
	case h>>40&1 == 0:
		window = min(back, n)
	case t.Kind >= Near60:
		// Skip the first and last quarter, or many kept documents would have the earliest as
		// source.
		window, least = n/2, n/4
	}
	for try := uint64(0); ; try++ {
		s := n - least - mix(h^try*0x9e3779b97f4a7c15)%window
		if g.fit(s, t, i) {
			return s
		}
	}
}

func (g *Generator) fit(s uint64, t *Truth, i int) bool {
	if g.kind(s, mix(s*0x2545f4914f6cdd1d^g.cfg.Seed^0xc0ffee)) != Unique {
		return false
	}
	shape := g.shape(s)
	switch t.Kind {
	case Exact:
		return true
	case Mosaic:
		// From a very long document only much longer clauses are chosen, which could not be
		// compared with those of the other sources.
		if shape.slots < 52 || shape.slots > 120 || i > 0 && shape.chinese != g.shape(t.backing[0]).chinese {
			return false
		}
		for _, other := range t.backing[:i] {
			if other == s {
				return false
			}
		}
		return true
	}
	return shape.slots >= 52
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
