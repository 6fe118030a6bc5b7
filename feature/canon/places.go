package canon

// A Place is where a piece of a text begins.
type Place struct {
	Word int // its first word, counted from that of the text
	At   int // its first byte
}

// placing keeps places.
type placing struct {
	every   int  // the least distance of two places in bytes; 0 keeps none
	from    int  // where the next may be
	follows bool // the current piece follows a separator or the beginning
	places  []Place
	words   int // returned by AppendUnits
}

// KeepPlaces makes a Scanner read words alone, and keep the places of pieces that begin at least
// every bytes apart, for all later texts. Next then skips pieces where it can. Call it before Reset.
func (s *Scanner) KeepPlaces(every int) {
	s.CountUnits()
	s.KeepLong()
	s.placing.every = every
}

// Places returns the places kept since Reset among the words that AppendUnits returned. The first
// piece has one. They are valid until Reset.
func (s *Scanner) Places() []Place { return s.placing.places }

// ResetAt starts a text at a place, up to another one or its end. Pieces and words are those that
// follow from the whole text.
func (s *Scanner) ResetAt(text []byte, at, end int) {
	s.Reset(text[:end])
	s.at = at
	s.lines.resetAt(text, at, end)
}

func (p *placing) reset() { p.from, p.places, p.words = 0, p.places[:0], 0 }

// next returns 1 + the start of a piece if its place is to be kept, else 0.
func (p *placing) next(start int) int {
	if p.every == 0 || start < p.from || !p.follows {
		return 0
	}
	p.from = start + p.every
	return start + 1
}

// addCopied adds the span of the copied pieces, or several that begin at places.
func (s *Scanner) addCopied() {
	c, p := &s.copied, span{start: uint32(s.copied.out), kind: simple}
	last := len(c.starts) - 1
	for i := 0; s.placing.every > 0 && i < last; i++ {
		at, out := c.in+int(c.starts[i].In), uint32(c.out)+c.starts[i].Out
		if at < s.placing.from || s.tables.begins[s.buf[out]] == 0 { // a symbol
			continue
		}
		if p.end = out - 1; p.end > p.start {
			s.addSpan(p)
		}
		s.placing.follows = true
		p = span{start: out, kind: simple, place: s.placing.next(at)}
	}
	p.end = uint32(c.out) + c.starts[last].Out - 1
	s.addSpan(p)
}
