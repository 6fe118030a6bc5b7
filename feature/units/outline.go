package units

import (
	"bytes"
	"slices"
	"sort"

	"github.com/firstseen/firstseen/feature/canon"
)

// An Outline is a text as the lower halves of its words' hashes (canon.HashUnit), which a scan finds
// several times faster than their forms. A Reader reads the few words that matter. Places has the
// first word, and others about canon.BetweenPlaces apart.
type Outline struct {
	Text   []byte
	Hashes []uint32
	Places []canon.Place
}

// An Outliner makes Outlines. It is not safe for concurrent use.
type Outliner struct {
	scanner *canon.Scanner
	words   []uint64
	hashes  []uint32
}

// NewOutliner returns an Outliner.
func NewOutliner() *Outliner {
	o := &Outliner{scanner: canon.NewScanner()}
	o.scanner.KeepLong()
	o.scanner.KeepPlaces(canon.BetweenPlaces)
	o.scanner.OnlyWords()
	return o
}

// Read returns the outline of the first words of a text, at least so many if it has them, valid
// until the next call.
func (o *Outliner) Read(text []byte, words int) *Outline {
	s := o.scanner
	o.hashes = o.hashes[:0]
	s.Reset(text)
	for step := s.Next(); ; step = s.Next() {
		if step == canon.Piece {
			continue
		}
		o.words = s.AppendUnits(o.words[:0])
		for _, hash := range o.words {
			o.hashes = append(o.hashes, uint32(hash))
		}
		places := s.Places()
		if step == canon.End {
			return &Outline{text, o.hashes, places}
		}
		if n := sort.Search(len(places), func(i int) bool { return places[i].Word >= words }); n < len(places) {
			return &Outline{text[:places[n].At], o.hashes[:places[n].Word], places[:n]}
		}
	}
}

// longHashes is the number of hashes above which an Outliner gives away its memory, and copies none.
const longHashes = 128 << 10

// Keep is Read, for an outline to be kept. It keeps the text, or a copy of what it needs of it.
func (o *Outliner) Keep(text []byte, words int) *Outline {
	x := o.Read(text, words)
	if x.Places = slices.Clone(x.Places); len(x.Text) < len(text) {
		x.Text = bytes.Clone(x.Text)
	}
	if len(x.Hashes) > longHashes {
		o.hashes = nil
	} else {
		x.Hashes = slices.Clone(x.Hashes)
	}
	return x
}

// Clone returns a copy of an outline and its text.
func (o *Outline) Clone() *Outline {
	return &Outline{bytes.Clone(o.Text), slices.Clone(o.Hashes), slices.Clone(o.Places)}
}

// Bytes returns the memory that an outline takes.
func (o *Outline) Bytes() int {
	const hash, place = 4, 16
	return len(o.Text) + hash*len(o.Hashes) + place*len(o.Places)
}

// block returns the number of the last place at or before the i-th word.
func (o *Outline) block(i int) int {
	return sort.Search(len(o.Places), func(p int) bool { return o.Places[p].Word > i }) - 1
}

// start returns a place by its number; the one after the last is the end of the text.
func (o *Outline) start(block int) canon.Place {
	if block < len(o.Places) {
		return o.Places[block]
	}
	return canon.Place{Word: len(o.Hashes), At: len(o.Text)}
}

// A Reader reads words of outlined texts. It is not safe for concurrent use.
type Reader struct {
	part         Text
	of           *Outline
	from, behind int // the blocks of it in part
	forms        bool
	first        int // the first word in part
}

// NewReader returns a Reader.
func NewReader() *Reader { return &Reader{part: *New()} }

// load reads the blocks from one up to another, unless they are among those read last.
func (r *Reader) load(o *Outline, from, behind int, forms bool) {
	if r.of != o {
		r.part.counted = position{}
	} else if r.from <= from && behind <= r.behind && (r.forms || !forms) {
		return
	}
	r.of, r.from, r.behind, r.forms, r.first = o, from, behind, forms, o.start(from).Word
	r.part.readPart(o.Text, o.start(from).At, o.start(behind).At, forms)
}

// to reads the block of the i-th word and returns the word's number in part.
func (r *Reader) to(o *Outline, i int) int {
	block := o.block(i)
	r.load(o, block, block+1, false)
	return i - r.first
}

// together is the number of blocks that are faster read together than by their ends.
const together = 6

// ends reads the blocks of the words from first to behind if they are few.
func (r *Reader) ends(o *Outline, first, behind int) {
	if from, to := o.block(first), o.block(behind-1); to-from < together {
		r.load(o, from, to+1, false)
	}
}

// Range returns the byte range of the words from first to behind, exclusive, at least one.
func (r *Reader) Range(o *Outline, first, behind int) (start, end int) {
	r.ends(o, first, behind)
	start = r.part.locate(r.to(o, first)).Start
	return start, r.part.locate(r.to(o, behind-1)).End
}

// RangeLike is Range for words that have the forms of others, which stand in the text like. If the
// same bytes follow here, only the beginning is read: what comes behind a word does not move its end,
// or its form were another.
func (r *Reader) RangeLike(o *Outline, first, behind int, like []byte) (start, end int) {
	start = r.part.locate(r.to(o, first)).Start
	end = start + len(like)
	if bytes.HasPrefix(o.Text[start:], like) {
		return start, end
	}
	return r.Range(o, first, behind)
}

// Points converts the result of Range to code points. An invalid UTF-8 byte counts as one.
func (r *Reader) Points(start, end int) (from, to int) { return r.part.Points(start, end) }

// Segments returns the byte range of the words from first to behind, as Range does, and the words of
// whole segments among them, as that of Text does.
func (r *Reader) Segments(o *Outline, first, behind int) (start, end, from, to int) {
	r.ends(o, first, min(behind+1, len(o.Hashes)))
	at := r.to(o, first)
	start = r.part.locate(at).Start
	p := sort.Search(len(r.part.pieces), func(p int) bool { return r.part.pieces[p].first >= at })
	from = r.first + r.part.pieces[p].first
	end = r.part.locate(r.to(o, behind-1)).End
	switch {
	case from > behind:
		return start, end, behind, behind
	case behind == len(o.Hashes):
		return start, end, from, behind
	}
	at = r.to(o, behind)
	return start, end, from, r.first + r.part.pieces[r.part.pieceOf(at)].first
}

// Forms returns a text with the words from first to behind, exclusive, of an outline, and the number
// of the first word among its words. It is valid until the next call.
func (r *Reader) Forms(o *Outline, first, behind int) (part *Text, at int) {
	r.load(o, o.block(first), o.block(behind-1)+1, true)
	return &r.part, first - r.first
}
