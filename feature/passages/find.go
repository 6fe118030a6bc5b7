package passages

import (
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/feature/units"
)

const (
	// maxRead is how many earlier texts are read for a document.
	maxRead = 8
	// ShortText is of how many picks a text, of about 150 words, is so short that one pick in common
	// is worth a reading.
	ShortText = 8
	// leftLeast and leftShare say when hardly anything of a text is its own.
	leftLeast = 50
	leftShare = 10
)

// A Candidate is an earlier document that holds picks of a text.
type Candidate struct {
	Document int // a lower number is earlier
	List     List
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

// Found is what a text has in common with earlier ones.
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
	earlier *units.Text
	ranked  []ranked
	read    [][]byte
}

// ranked is a candidate with its chains.
type ranked struct {
	Candidate
	chains  []Chain
	longest int // words of the longest chain
	picks   int // of the chain with most
	text    []byte
	isRead  bool
}

// NewFinder returns a Finder of passages of least words or more.
func NewFinder(least int) *Finder {
	return &Finder{least: least, text: units.New(), earlier: units.New()}
}

// Read returns the text of an earlier document, or ok false if it cannot be had. It may use buf.
type Read func(document int, buf []byte) (text []byte, ok bool, err error)

// Find finds the passages of a text whose picks are own. It reads the texts of a few candidates.
func (f *Finder) Find(text []byte, own List, candidates []Candidate, read Read) (Found, error) {
	f.rank(own, candidates)
	if len(f.ranked) == 0 {
		return Found{}, nil
	}
	f.text.Read(text)
	found := Found{Units: f.text.Len(), Left: f.text.Len()}
	var stretches []Stretch
	for i := range f.ranked {
		r := &f.ranked[i]
		if len(f.read) <= i {
			f.read = append(f.read, nil)
		}
		var err error
		if r.text, r.isRead, err = read(r.Document, f.read[i][:0]); err != nil {
			return found, err
		}
		if !r.isRead {
			stretches = AppendInner(stretches, i, r.chains, f.least)
			continue
		}
		f.read[i] = r.text
		f.earlier.Read(r.text)
		stretches = AppendRead(stretches, f.text, f.earlier, i, r.chains, f.least)
	}
	// Ties go to the earliest document.
	order := f.byDocument()
	for i := range stretches {
		stretches[i].Document = order[stretches[i].Document]
	}
	f.place(&found, Cover(stretches), order)
	return found, nil
}

// rank keeps the candidates worth a reading, those with the longest chains first.
func (f *Finder) rank(own List, candidates []Candidate) {
	f.ranked = f.ranked[:0]
	for _, c := range candidates {
		r := ranked{Candidate: c}
		for _, chain := range f.chainer.Chains(own, c.List) {
			r.longest, r.picks = max(r.longest, chain.Words), max(r.picks, chain.Picks)
		}
		if r.picks > 1 || r.picks == 1 && own.Len() < ShortText {
			r.chains = slices.Clone(f.chainer.chains)
			f.ranked = append(f.ranked, r)
		}
	}
	slices.SortFunc(f.ranked, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.longest, a.longest), cmp.Compare(a.Document, b.Document))
	})
	f.ranked = f.ranked[:min(len(f.ranked), maxRead)]
}

// byDocument returns for each ranked candidate its place among them by document.
func (f *Finder) byDocument() []int {
	places := make([]int, len(f.ranked))
	for i := range f.ranked {
		for j := range f.ranked {
			if f.ranked[j].Document < f.ranked[i].Document {
				places[i]++
			}
		}
	}
	return places
}

// place turns stretches into passages, and measures the text. order is byDocument.
func (f *Finder) place(found *Found, cover []Stretch, order []int) {
	of := make([]int, len(order)) // the candidate in each place
	for i, place := range order {
		of[place] = i
	}
	open := -1
	for _, s := range cover {
		r := &f.ranked[of[s.Document]]
		p := Passage{Document: r.Document, Units: s.To - s.From, Inner: s.Inner}
		p.Start, p.End = f.text.Points(f.text.Range(s.From, s.To))
		if !s.Inner {
			if open != s.Document {
				f.earlier.Read(r.text)
				open = s.Document
			}
			p.OfStart, p.OfEnd = f.earlier.Points(f.earlier.Range(s.Of, s.Of+s.To-s.From))
		}
		found.Passages = append(found.Passages, p)
		found.Covered += p.Units
		from, to := f.text.Segments(s.From, s.To)
		found.Left -= to - from
	}
	found.Consumed = len(cover) > 0 && (found.Left < leftLeast || leftShare*found.Left < found.Units) &&
		slices.ContainsFunc(found.Passages, func(p Passage) bool { return p.Units >= leftLeast })
}
