package gen

import "fmt"

// Kind is the kind of a document.
type Kind uint8

const (
	// Unique: but for menu and footer of its site, no clause is anybody else's.
	Unique Kind = iota
	// Exact: the text of its source.
	Exact
	// Near90, Near80, Near60: that share of the source's clauses, in their
	// places, and the rest replaced by others of the same length.
	Near90
	Near80
	Near60
	// Near30: a quotation, no copy.
	Near30
	// Mosaic: the ten longest clauses of each of five sources.
	Mosaic
	// Kinds is how many kinds there are.
	Kinds = iota
)

var kindNames = [Kinds]string{"unique", "exact", "near90", "near80", "near60", "near30", "mosaic"}

// String returns the name used in files of truth.
func (k Kind) String() string {
	if int(k) < Kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// overlaps is the share of a document taken from its source.
var overlaps = [Kinds]float64{0, 1, 0.9, 0.8, 0.6, 0.3, 1.0 / pieces}

// Truth describes a document without making it.
type Truth struct {
	Kind    Kind
	Sources []uint64 // earlier Unique documents; one, or those of a mosaic
	Overlap float64  // share of the document's clauses that the first source has
	backing [pieces]uint64
}

const (
	// Nothing is planted before there is enough to repeat, and no mosaic among
	// so few documents that two would have most sources in common.
	firstCopy   = 2000
	firstMosaic = 5000

	// Half of the sources lie at most so far back, the others anywhere.
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

// Clauses is how many clauses a Unique document has. Of those of one or two, a few in ten
// million are of one template and alike but for its words.
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

// kind draws what document n is from h.
func (g *Generator) kind(n, h uint64) Kind {
	if n < firstCopy || g.cfg.Duplicates == 0 {
		return Unique
	}
	// Of a hundred duplicates; behind them two quotations and a mosaic. Those
	// are kept, and of more of them some sources' clauses would be in eight kept
	// documents and evidence no longer.
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

// source draws a source of document n that is fit for t.Kind: unique, long enough
// to be cut up, and for a mosaic another than the i before and of their language.
func (g *Generator) source(n, h, back uint64, t *Truth, i int) uint64 {
	window, least := n, uint64(1)
	switch {
	case h>>40&1 == 0:
		window = min(back, n)
	case t.Kind >= Near60:
		// Neither the first nor the last quarter: else the earliest documents
		// would be the source of many that are kept.
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
		// Of a very long document only much longer clauses are chosen, with
		// which those of the other sources could not be compared.
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
