package passages

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/units"
)

const (
	// maxRead is the maximum number of earlier texts to read for a document, plus one per readWords
	// of its words. Most documents need one or two; a manual in one file has hundreds of pages.
	maxRead   = 32
	readWords = 1000
	// readBytes, plus readShare times the document's length, bounds the bytes to read.
	readBytes = 16 << 20
	readShare = 4
	// ShortText is the number of picks, about 150 words, below which one common pick suffices.
	ShortText = 8
	// leftLeast and leftShare decide when hardly anything of a text is its own.
	leftLeast = 50
	leftShare = 10
)

// A Candidate is an earlier document that holds picks of a text.
type Candidate struct {
	Document int // a number from 1, lower if earlier; it never changes
	List     List
	Single   bool // one common pick is worth a reading
}

// A Passage is a stretch of a text that occurs in an earlier document. Offsets are in code points.
type Passage struct {
	Start, End     int
	Document       int
	Of             string // the document's id, for callers that have one
	OfStart, OfEnd int    // 0 if Inner
	Units          int    // words
	Inner          bool   // the earlier text was not read, and the passage may extend further at both ends
}

// Found holds the passages that a text shares with earlier ones.
type Found struct {
	Passages []Passage
	Units    int // words of the text
	Covered  int // words in passages
	Left     int // words outside the segments that can be cut
	Consumed bool
}

// A Finder finds passages. It is not safe for concurrent use.
type Finder struct {
	least   int
	chainer Chainer
	text    *units.Outline
	reader  *units.Reader // of text
	earlier *units.Outliner
	there   *units.Reader // of earlier texts
	recent  *recent       // of all Finders

	chains    []Chain  // of all candidates
	ranked    []ranked // the candidates worth a reading
	stretches []Stretch
	parts     []Stretch // of one of them
	key       []byte
}

type ranked struct {
	Candidate
	from, to int // range in Finder.chains
	longest  int // words of the longest chain
	picks    int // of the chain with the most
}

// NewFinder returns a Finder of passages of least words or more.
func NewFinder(least int) *Finder {
	return newFinder(least, new(recent))
}

// Another returns a Finder for another goroutine, which shares the texts used last.
func (f *Finder) Another() *Finder { return newFinder(f.least, f.recent) }

func newFinder(least int, r *recent) *Finder {
	return &Finder{
		least: least, recent: r,
		reader: units.NewReader(), earlier: units.NewOutliner(), there: units.NewReader(),
	}
}

// Texts reads the texts of candidates.
type Texts interface {
	// Key appends a key of a candidate's text to dst, by which it is found again. It may be empty.
	Key(document int, dst []byte) []byte
	// Read returns the text of a candidate. ok is false if it is unavailable. Read may use buf.
	Read(document int, buf []byte) (text []byte, ok bool, err error)
	// Same reports whether text is the one that the candidate's list was made from.
	Same(document int, text []byte) bool
}

// Find returns the passages of a text with the picks own. It reads the texts of a few candidates,
// the one with the longest chain first. It skips those with all chains in stretches already found.
func (f *Finder) Find(text *units.Outline, own List, candidates []Candidate, texts Texts) (Found, error) {
	f.rank(own, candidates)
	if len(f.ranked) == 0 {
		return Found{}, nil
	}
	f.text = text
	n := len(text.Hashes)
	found := Found{Units: n, Left: n}
	f.stretches = f.stretches[:0]
	read, most := 0, maxRead+n/readWords
	left := readBytes + readShare*len(text.Text)
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

// reachesOutside reports whether a candidate has a chain outside all stretches found so far.
func (f *Finder) reachesOutside(r *ranked) bool {
	for _, c := range f.chains[r.from:r.to] {
		within := func(s Stretch) bool { return s.From <= c.From && c.From+c.Words <= s.To }
		if (c.Picks > 1 || r.Single) && !slices.ContainsFunc(f.stretches, within) {
			return true
		}
	}
	return false
}

func (f *Finder) read(r *ranked, texts Texts) (bytes int, err error) {
	// Words that extend a chain stand in both texts.
	e, err := f.open(r.Document, r.List.words()+len(f.text.Hashes), texts)
	if err != nil {
		return 0, err
	}
	chains, before := f.chains[r.from:r.to], len(f.stretches)
	ok := e.ok
	if ok {
		f.stretches, ok = AppendRead(f.stretches, f.text.Hashes, e.outline.Hashes, r.Document, chains, f.least)
		if !ok {
			if ok, err = e.same(r.Document, texts); err != nil {
				return 0, err
			}
		}
	}
	if !ok {
		f.stretches = f.stretches[:before]
		for _, c := range chains {
			if c.Words >= f.least {
				f.stretches = append(f.stretches, Stretch{From: c.From, To: c.From + c.Words, Of: c.Of, Document: r.Document, Inner: true})
			}
		}
		return e.size, nil
	}
	return e.size, nil
}

// moreWords are read beyond those wanted, for later documents.
const moreWords = 16 << 10

// open returns the first words of an earlier document, valid until the next call. Lists end after
// some 200,000 words, so the rest of a long text, if read, would fill the memory for nothing.
func (f *Finder) open(document, words int, texts Texts) (e *earlierText, err error) {
	f.key = texts.Key(document, f.key[:0])
	if e = f.recent.get(f.key); e == nil || e.ok && len(e.outline.Text) < e.size && len(e.outline.Hashes) < words {
		e = new(earlierText)
		var text []byte
		if text, e.ok, err = texts.Read(document, nil); err != nil {
			return nil, err
		}
		if e.size = len(text); e.ok {
			e.outline = f.earlier.Keep(text, words+moreWords)
		}
	}
	f.recent.put(f.key, e)
	return e, nil
}

// Keep keeps a text for a while, to be found by a key instead of being read.
func (f *Finder) Keep(key []byte, text *units.Outline) {
	f.recent.put(key, &earlierText{ok: true, size: len(text.Text), outline: text.Clone()})
}

// same reports whether an earlier text is the one that its list was made from.
func (e *earlierText) same(document int, texts Texts) (ok bool, err error) {
	whole, ok := e.outline.Text, true
	if len(whole) < e.size {
		whole, ok, err = texts.Read(document, nil)
	}
	return ok && texts.Same(document, whole), err
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

func (f *Finder) place(found *Found, cover []Stretch, texts Texts) error {
	for _, s := range cover {
		var of *units.Outline
		if behind := s.Of + s.To - s.From; !s.Inner {
			e, err := f.open(s.Document, behind, texts)
			if err != nil {
				return err
			}
			if s.Inner = !e.ok || behind > len(e.outline.Hashes); !s.Inner {
				of = e.outline
			}
		}
		if !f.add(found, s, of, false) {
			for _, same := range f.same(s, of) {
				f.add(found, same, of, true)
			}
		}
	}
	found.Consumed = len(cover) > 0 && (found.Left < leftLeast || leftShare*found.Left < found.Units) &&
		slices.ContainsFunc(found.Passages, func(p Passage) bool { return p.Units >= leftLeast })
	return nil
}

// add adds the passage of a stretch. of is nil for an inner one. It adds none if both texts have other
// letters, unless the words are known to be the same, not only their hashes.
func (f *Finder) add(found *Found, s Stretch, of *units.Outline, same bool) (added bool) {
	p := Passage{Document: s.Document, Units: s.To - s.From, Inner: s.Inner}
	start, end, first, behind := f.reader.Segments(f.text, s.From, s.To)
	if of != nil {
		own := f.text.Text[start:end]
		from, to := f.there.RangeLike(of, s.Of, s.Of+p.Units, own)
		if !same && !alike(own, of.Text[from:to]) {
			return false
		}
		p.OfStart, p.OfEnd = f.there.Points(from, to)
	}
	p.Start, p.End = f.reader.Points(start, end)
	found.Passages = append(found.Passages, p)
	found.Covered += p.Units
	found.Left -= behind - first
	return true
}

// alike reports whether two texts have the same letters, marks and digits in the same order, whatever
// stands between them, and in whichever case of ASCII. Texts with equal hashes of words then have the
// same words. Most texts with other punctuation or another layout are alike.
func alike(a, b []byte) bool {
	for {
		n := 0
		for n+8 <= min(len(a), len(b)) && binary.LittleEndian.Uint64(a[n:]) == binary.LittleEndian.Uint64(b[n:]) {
			n += 8
		}
		for back := max(n-utf8.UTFMax+1, 0); n > back && n < min(len(a), len(b)) && !(utf8.RuneStart(a[n]) && utf8.RuneStart(b[n])); {
			n--
		}
		var x, y rune
		x, a = letter(a[n:])
		if y, b = letter(b[n:]); x != y {
			return false
		}
		if x < 0 {
			return true
		}
	}
}

// between has the characters between words. A word has none of them, but points, commas and apostrophes.
var between = []*unicode.RangeTable{unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf}

// letter returns the first letter, mark or digit of a text, or the point or comma before a digit, and the
// text behind it. Letters of ASCII are in lower case. At the end it returns -1.
func letter(b []byte) (r rune, behind []byte) {
	for at, n := 0, 0; at < len(b); at += n {
		r, n = rune(b[at]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(b[at:])
		}
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r, b[at+n:]
		case 'A' <= r && r <= 'Z':
			return r | 0x20, b[at+n:]
		case r == '.' || r == ',' || r == '．' || r == '，':
			if next, _ := utf8.DecodeRune(b[at+n:]); unicode.IsDigit(next) {
				return r, b[at+n:]
			}
		case r >= utf8.RuneSelf && !unicode.In(r, between...):
			return r, b[at+n:]
		}
	}
	return -1, nil
}

// same returns the parts of a stretch, as long as a passage must be, whose words are the same in
// both texts. That is nearly always the stretch.
func (f *Finder) same(s Stretch, of *units.Outline) []Stretch {
	n := s.To - s.From
	own, i := f.reader.Forms(f.text, s.From, s.To)
	there, j := f.there.Forms(of, s.Of, s.Of+n)
	f.parts = f.parts[:0]
	for first, at := 0, 0; at <= n; at++ {
		if at < n && bytes.Equal(own.Form(i+at), there.Form(j+at)) {
			continue
		}
		if at-first >= min(f.least, n) {
			f.parts = append(f.parts, Stretch{From: s.From + first, To: s.From + at, Of: s.Of + first, Document: s.Document})
		}
		first = at + 1
	}
	return f.parts
}
