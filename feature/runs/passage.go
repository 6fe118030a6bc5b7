package runs

import (
	"encoding/binary"
	"slices"

	"github.com/firstseen/firstseen/feature/method"
)

// The limits for finding the new text of a document, seen from another's sketch (docs/design.md,
// rule 13). A bin holds if the other document has its least run too. Edits all over thin those bins
// out evenly; a passage missing entirely from the other leaves a gap.
const (
	window     = 10 // neighbours in the order of places
	newAtMost  = 2  // of these hold in a new window
	leastBins  = 24 // of a stretch that counts
	newShare   = 4  // one part in so many of the document is more than that
	placeBytes = 4
)

// AppendPlaces appends the place of the least run of each bin. For every bin that has one, it
// appends the number of the run's first word, u32, lowest bin first. Only the document under
// judgement needs it.
func (m *Maker) AppendPlaces(dst []byte) []byte {
	for bin, least := range m.least {
		if least != none {
			dst = binary.LittleEndian.AppendUint32(dst, m.places[bin])
		}
	}
	return dst
}

// Places are the bins of a document in the order of its text. It is made to be used again.
type Places struct {
	sorted [Bins]uint64 // place<<8 | bin
	n      int
	runs   uint64
}

// Sort reads the places that AppendPlaces wrote for a document with that sketch and number of
// runs. It reports whether their number fits the sketch.
func (p *Places) Sort(s *Sketch, b []byte, runs uint64) bool {
	if p.n, p.runs = 0, runs; len(b) != placeBytes*s.size() {
		return false
	}
	for bin := range uint64(Bins) {
		if s.at(int(bin)) != 0 {
			p.sorted[p.n] = uint64(binary.LittleEndian.Uint32(b[placeBytes*p.n:]))<<8 | bin
			p.n++
		}
	}
	slices.Sort(p.sorted[:p.n])
	return true
}

// New finds the longest passage of s new beside t, and long enough to count. p belongs to
// the sketch s.
func (p *Places) New(s, t *Sketch) (longest method.Passage) {
	var held [Bins + 1]uint8 // how many of the bins before each hold
	for i := range p.n {
		held[i+1] = held[i]
		if bin := int(p.sorted[i] & 0xff); s.at(bin) == t.at(bin) {
			held[i+1]++
		}
	}
	isNew := func(i int) bool { return i+window <= p.n && held[i+window]-held[i] <= newAtMost }
	for first := 0; first < p.n; first++ {
		if !isNew(first) {
			continue
		}
		end := first + window
		for next := first + 1; next < end; next++ {
			if isNew(next) {
				end = next + window
			}
		}
		if from, to := p.edge(first), p.edge(end); end-first >= leastBins && newShare*(to-from) > 2*p.runs && to-from > longest.To-longest.From {
			longest = method.Passage{From: from, To: to}
		}
		first = end - 1
	}
	return p.words(longest)
}

// edge returns the place, in half runs, at which a stretch begins with the i-th bin, or ends before
// it. It lies between the bin's run and the one before, or at the beginning or end of the text.
func (p *Places) edge(i int) uint64 {
	switch i {
	case 0:
		return 0
	case p.n:
		return 2 * p.runs
	}
	return p.sorted[i-1]>>8 + p.sorted[i]>>8 + 1
}

// words are those that a passage in half runs is about: a run's middle is its third word.
func (p *Places) words(halves method.Passage) method.Passage {
	if halves.To == 0 {
		return halves // none
	}
	w := method.Passage{From: (halves.From + Width) / 2, To: (halves.To + Width) / 2, Of: p.runs + Width - 1}
	if halves.From == 0 {
		w.From = 0
	}
	if halves.To == 2*p.runs {
		w.To = w.Of
	}
	return w
}
