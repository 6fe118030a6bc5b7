package passages

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/feature/units"
)

const (
	// maxRead is how many earlier texts are read for a document, and one more for each readWords of its
	// words. Most documents need one or two; a manual in one file holds hundreds of pages.
	maxRead   = 32
	readWords = 1000
	// readBytes and readShare bound their bytes: that many, and so many times those of the document.
	readBytes = 16 << 20
	readShare = 4
	// ShortText is of how many picks a text, of about 150 words, is so short that one pick in common
	// is worth a reading.
	ShortText = 8
	// leftLeast and leftShare say when hardly anything of a text is its own.
	leftLeast = 50
	leftShare = 10
)

// A Candidate is an earlier document that holds picks of a text.
type Candidate struct {
	Document int // its number, from 1; a lower one is earlier. It stays that of this document.
	List     List
	Single   bool // one pick in common is worth a reading
}

// A Passage is a stretch of a text that stands in an earlier document. Places are code points.
type Passage struct {
	Start, End     int
	Document       int
	Of             string // the id of the document, for callers that have one
	OfStart, OfEnd int    // 0 if Inner
	Units          int    // words
	Inner          bool   // the earlier text was not read, and the passage may go on at both ends
}

// Found holds the passages that a text has in common with earlier ones.
type Found struct {
	Passages []Passage
	Units    int // words of the text
	Covered  int // of these, in passages
	Left     int // words outside what can be cut
	Consumed bool
}

// A Finder finds passages. It is not for concurrent use.
type Finder struct {
	least   int
	chainer Chainer
	text    *units.Text
	earlier []*earlierText // the one asked for last is the last

	chains    []Chain  // of the candidates
	ranked    []ranked // the candidates worth a reading
	stretches []Stretch
}

// ranked is a candidate with its chains.
type ranked struct {
	Candidate
	from, to int // its chains
	longest  int // words of the longest
	picks    int // of the one with most
}

// NewFinder returns a Finder of passages of least words or more.
func NewFinder(least int) *Finder {
	return &Finder{least: least, text: units.New()}
}

// Texts are the texts of candidates.
type Texts interface {
	// Read returns the text of a candidate, or ok false if it cannot be had. It may use buf.
	Read(document int, buf []byte) (text []byte, ok bool, err error)
	// Same reports whether a text is the one that the candidate was remembered by.
	Same(document int, text []byte) bool
}

// Find finds the passages of a text whose picks are own. It reads the texts of a few candidates, the
// one with the longest chain first. Those with no chain outside of the stretches found by then are
// left out.
func (f *Finder) Find(text []byte, own List, candidates []Candidate, texts Texts) (Found, error) {
	f.rank(own, candidates)
	if len(f.ranked) == 0 {
		return Found{}, nil
	}
	f.text.Read(text)
	found := Found{Units: f.text.Len(), Left: f.text.Len()}
	f.stretches = f.stretches[:0]
	read, most := 0, maxRead+f.text.Len()/readWords
	left := readBytes + readShare*len(text)
	for i := range f.ranked {
		if r := &f.ranked[i]; read < most && left > 0 && f.reachesOutside(r) {
			n, err := f.read(r, texts)
			if err != nil {
				return found, err
			}
			read, left = read+1, left-n
		}
	}
	return found, f.place(&found, Cover(f.stretches), texts)
}

// reachesOutside reports whether a candidate has a chain that is in none of the stretches found.
func (f *Finder) reachesOutside(r *ranked) bool {
	for _, c := range f.chains[r.from:r.to] {
		within := func(s Stretch) bool { return s.From <= c.From && c.From+c.Words <= s.To }
		if (c.Picks > 1 || r.Single) && !slices.ContainsFunc(f.stretches, within) {
			return true
		}
	}
	return false
}

// read reads the text of a candidate, of so many bytes, and appends its stretches.
func (f *Finder) read(r *ranked, texts Texts) (bytes int, err error) {
	e, err := f.open(r.Document, texts)
	if err != nil {
		return 0, err
	}
	chains, before := f.chains[r.from:r.to], len(f.stretches)
	ok := e.ok
	if ok {
		f.stretches, ok = AppendRead(f.stretches, f.text, e.text, r.Document, chains, f.least)
		ok = ok || texts.Same(r.Document, e.bytes)
	}
	if !ok {
		f.stretches = f.stretches[:before]
		for _, c := range chains {
			if c.Words >= f.least {
				f.stretches = append(f.stretches, Stretch{From: c.From, To: c.From + c.Words, Of: c.Of, Document: r.Document, Inner: true})
			}
		}
		return len(e.bytes), nil
	}
	for i := range f.stretches[before:] {
		f.stretches[before+i].locate(e.text)
	}
	return len(e.bytes), nil
}

// An earlierText is the text of an earlier document that was read for one of the last texts. Pages of
// one site share a frame, and have it from the same few documents.
type earlierText struct {
	document int
	bytes    []byte
	text     *units.Text
	ok       bool
}

const (
	// keptTexts is how many texts are kept.
	keptTexts = 16
	// keptBytes is how many bytes their texts have in all; their words take three times as many.
	keptBytes = 4 << 20
)

// open returns the text of an earlier document.
func (f *Finder) open(document int, texts Texts) (e *earlierText, err error) {
	at := slices.IndexFunc(f.earlier, func(e *earlierText) bool { return e.document == document })
	if at >= 0 {
		e = f.earlier[at]
		f.earlier = slices.Delete(f.earlier, at, at+1)
	} else {
		e = f.free()
		if e.bytes, e.ok, err = texts.Read(document, e.bytes[:0]); err != nil {
			return nil, err
		}
		if e.document = document; e.ok {
			e.text.Read(e.bytes)
		}
	}
	f.earlier = append(f.earlier, e)
	return e, nil
}

// free returns a text to read another into. It forgets those not asked for the longest time that are
// beyond the bounds.
func (f *Finder) free() *earlierText {
	bytes := 0
	for _, e := range f.earlier {
		bytes += len(e.bytes)
	}
	forget := func() *earlierText {
		e := f.earlier[0]
		f.earlier = slices.Delete(f.earlier, 0, 1)
		return e
	}
	for bytes > keptBytes {
		bytes -= len(forget().bytes)
	}
	if len(f.earlier) >= keptTexts {
		return forget()
	}
	return &earlierText{text: f.text.Another()}
}

// rank keeps the candidates worth a reading, those with the longest chains first.
func (f *Finder) rank(own List, candidates []Candidate) {
	f.ranked, f.chains = f.ranked[:0], f.chains[:0]
	if len(candidates) == 0 {
		return
	}
	f.chainer.Load(own)
	for _, c := range candidates {
		r := ranked{Candidate: c, from: len(f.chains)}
		f.chains = append(f.chains, f.chainer.Chains(c.List)...)
		r.to = len(f.chains)
		for _, chain := range f.chains[r.from:] {
			r.longest, r.picks = max(r.longest, chain.Words), max(r.picks, chain.Picks)
		}
		if r.picks > 1 || r.picks == 1 && c.Single {
			f.ranked = append(f.ranked, r)
		} else {
			f.chains = f.chains[:r.from]
		}
	}
	slices.SortFunc(f.ranked, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.longest, a.longest), cmp.Compare(a.Document, b.Document))
	})
}

// place turns stretches into passages, and measures the text.
func (f *Finder) place(found *Found, cover []Stretch, texts Texts) error {
	for i := range cover {
		s := &cover[i]
		if !s.Inner && s.OfEnd == 0 { // its beginning is the stretch's before
			e, err := f.open(s.Document, texts)
			if err != nil {
				return err
			}
			if s.Inner = !e.ok || s.Of+s.To-s.From > e.text.Len(); !s.Inner {
				s.locate(e.text)
			}
		}
		p := Passage{Document: s.Document, OfStart: s.OfStart, OfEnd: s.OfEnd, Units: s.To - s.From, Inner: s.Inner}
		p.Start, p.End = f.text.Points(f.text.Range(s.From, s.To))
		found.Passages = append(found.Passages, p)
		found.Covered += p.Units
		from, to := f.text.Segments(s.From, s.To)
		found.Left -= to - from
	}
	found.Consumed = len(cover) > 0 && (found.Left < leftLeast || leftShare*found.Left < found.Units) &&
		slices.ContainsFunc(found.Passages, func(p Passage) bool { return p.Units >= leftLeast })
	return nil
}

// A Stretch is a row of words of a text that stands in an earlier one.
type Stretch struct {
	From, To int  // its first word, and the one behind its last
	Of       int  // its first word in the earlier text
	Document int  // the earlier text: a lower number is earlier
	Inner    bool // the earlier text was not read: the stretch may go on at both ends
	// OfStart and OfEnd are its place in the earlier text, in code points; both 0 if not known.
	OfStart, OfEnd int
}

// locate finds the place of a stretch in the earlier text.
func (s *Stretch) locate(e *units.Text) {
	s.OfStart, s.OfEnd = e.Points(e.Range(s.Of, s.Of+s.To-s.From))
}

// manyChains is from how many chains between two texts on those within a stretch found before are
// left out: a sentence repeated in both has the product of its repetitions.
const manyChains = 256

// AppendRead appends the stretches of least words or more that the chains of d in e lead to. Both
// texts are compared form by form, the chains too. It reports whether all chains of several picks are
// in both: else e is hardly the text that was remembered.
func AppendRead(dst []Stretch, d, e *units.Text, document int, chains []Chain, least int) (_ []Stretch, faithful bool) {
	from, faithful := len(dst), true
	for _, c := range chains {
		if len(chains) > manyChains && slices.ContainsFunc(dst[from:], func(o Stretch) bool { return o.From <= c.From && c.From+c.Words <= o.To }) {
			continue
		}
		for done := 0; done < c.Words; {
			s, ok := around(d, e, c.From+done, c.Of+done)
			faithful = faithful && (ok && s.To >= c.From+c.Words || c.Picks == 1)
			if !ok || slices.ContainsFunc(dst[from:], func(o Stretch) bool { return o.From == s.From && o.Of == s.Of }) {
				done = max(done+1, s.To-c.From)
				continue
			}
			if done = s.To - c.From + 1; s.To-s.From >= least {
				s.Document = document
				dst = append(dst, s)
			}
		}
	}
	return dst, faithful
}

// around returns the longest stretch with the i-th word of d, if the j-th of e is the same.
func around(d, e *units.Text, i, j int) (Stretch, bool) {
	same := func(i, j int) bool {
		return i >= 0 && j >= 0 && i < d.Len() && j < e.Len() && bytes.Equal(d.Form(i), e.Form(j))
	}
	if !same(i, j) {
		return Stretch{}, false
	}
	from, to := 0, 1
	for same(i+from-1, j+from-1) {
		from--
	}
	for same(i+to, j+to) {
		to++
	}
	return Stretch{From: i + from, To: i + to, Of: j + from}, true
}

// Cover returns disjoint stretches, in order, that together have all words of the given ones. Of those
// that begin at or before the end so far, the one that ends last is next, without the words before
// that end. Of several the earliest document's is, in it the leftmost.
func Cover(stretches []Stretch) []Stretch {
	slices.SortFunc(stretches, func(a, b Stretch) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Of, b.Of))
	})
	var cover []Stretch
	end := 0
	for i := 0; i < len(stretches); {
		best, limit := stretches[i], max(end, stretches[i].From)
		for ; i < len(stretches) && stretches[i].From <= limit; i++ {
			s := stretches[i]
			if cmp.Or(cmp.Compare(best.To, s.To), cmp.Compare(s.Document, best.Document), cmp.Compare(s.Of-s.From, best.Of-best.From)) < 0 {
				best = s
			}
		}
		if best.To <= end {
			continue
		}
		if skip := end - best.From; skip > 0 {
			best.From, best.Of = end, best.Of+skip
			best.OfStart, best.OfEnd = 0, 0
		}
		cover, end = append(cover, best), best.To
	}
	return cover
}
