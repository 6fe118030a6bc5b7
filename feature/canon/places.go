package canon

// A Place is where a piece of a text begins.
type Place struct {
	Word int // its first word, counted from that of the text
	At   int // its first byte
}

// placing keeps places.
type placing struct {
	only    bool // words are asked for, not pieces
	every   int  // the least distance of two places in bytes; 0 keeps none
	from    int  // where the next may be
	follows bool // the current piece follows a separator or the beginning
	places  []Place
	words   int // returned by AppendUnits
}

// BetweenPlaces is a useful distance of places: they are few, and little is read around a word.
const BetweenPlaces = 192

// KeepPlaces enables AppendUnits, which then keeps the places of pieces that begin at least every
// bytes apart. It applies to all later texts.
func (s *Scanner) KeepPlaces(every int) {
	s.CountUnits()
	s.placing.every = every
}

// OnlyWords makes Next skip pieces where it can, for all later texts.
func (s *Scanner) OnlyWords() { s.placing.only = true }

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
	last := c.starts[len(c.starts)-1]
	if s.placing.every > 0 && s.placing.from < c.in+int(last.In) {
		for _, from := range c.starts[:len(c.starts)-1] {
			at, out := c.in+int(from.In), uint32(c.out)+from.Out
			if at < s.placing.from || s.tables.begins[s.buf[out]] == 0 { // a symbol
				continue
			}
			if p.end = out - 1; p.end > p.start {
				s.addSpan(p)
			}
			s.placing.follows = true
			p = span{start: out, kind: simple, place: s.placing.next(at)}
		}
	}
	p.end = uint32(c.out) + last.Out - 1
	s.addSpan(p)
}
