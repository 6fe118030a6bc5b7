package dedup

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/feature/passages"
)

// A kept document is also stored under its picks, and its record has the list of its picks. The
// picks of a later document find those with which it may share a passage. Passages are found after
// the verdict and do not affect it. See docs/design.md, "Passages".

// maxLists is the maximum number of earlier documents' lists to read for a document, plus one per
// listPicks of its picks.
const (
	maxLists  = 64
	listPicks = 16
)

// A PassageFinder completes the result of a document to be kept: it finds passages that occur in
// the candidates, which are in order of arrival. Its findings must depend only on its arguments and
// the texts. It is called concurrently, in any order. An error ends the run. The candidates are
// valid during the call.
type PassageFinder func(doc *Document, candidates []PassageCandidate, r *Result) error

// A PassageCandidate is an earlier document that holds picks of a later one.
type PassageCandidate struct {
	Num    uint32
	ID     []byte
	Record Record
	// Single: one common pick is worth a reading.
	Single bool
}

// remembered returns the picks under which a document is stored.
func remembered(doc *Document) []uint64 {
	return doc.Sketch.Picks[:min(len(doc.Sketch.Picks), passages.MaxPicks)]
}

// picking is a goroutine's state for finding candidates by picks.
type picking struct {
	seen       []bool
	answers    answers
	full       []bool   // for each pick, whether it has MaxHolders holders
	rare       []bool   // for each pick, whether one document holds it
	pairs      []uint64 // document<<32 | pick
	picked     []pickedBy
	records    records
	candidates []PassageCandidate
}

// A pickedBy is a document with the number of its shared picks.
type pickedBy struct {
	num    uint32
	picks  int
	single bool
}

// findPassages completes the result of document i, kept under the number own. If decided alone, it
// may then be removed.
func (m *member) findPassages(i int, own uint32) error {
	g, p := m.parallel, &m.picking
	doc := &g.group.docs[i]
	if g.d.cfg.Passages == nil || g.state[i] != kept {
		return nil
	}
	picks := doc.Sketch.Picks
	p.seen = slices.Grow(p.seen[:0], len(picks))[:len(picks)]
	test, n := (*bloomstore.Filter).Test, len(remembered(&doc.Document))
	g.d.testFilter(picks[n:], p.seen[n:], test)
	if m.addsPicks() {
		test = (*bloomstore.Filter).TestAndAdd
	}
	g.d.testFilter(picks[:n], p.seen[:n], test)
	for n, repeats := range g.group.picksOf(i) {
		p.seen[n] = p.seen[n] || repeats
	}
	err := p.answers.lookupSeen(m.table, picks, p.seen)
	if err == nil {
		p.choose(own, len(picks))
		err = p.read(m.table)
	}
	if err == nil {
		err = g.d.cfg.Passages(&doc.Document, p.candidates, &g.results[i])
	}
	if err != nil {
		return fmt.Errorf("finding passages of document %q: %w", doc.ID, err)
	}
	if r := &g.results[i]; g.store == nil && r.Consumed && g.d.cfg.Rules.RemoveConsumed {
		r.Kept = false
		g.publish(i)
	}
	return nil
}

// addsPicks reports whether findPassages adds a document's picks to the filter too: it is decided alone,
// and stays whatever is found.
func (m *member) addsPicks() bool {
	g := m.parallel
	return g.d.cfg.Passages != nil && g.store == nil && g.purpose == deciding && !g.d.cfg.Rules.RemoveConsumed
}

// choose selects the documents before own that can have a chain of two picks. One pick suffices for
// a short text, or if no other document holds it: a stretch of 50 to 90 words often has only one.
func (p *picking) choose(own uint32, picks int) {
	short := picks < passages.ShortText
	p.full = slices.Grow(p.full[:0], picks)[:picks]
	p.rare = slices.Grow(p.rare[:0], picks)[:picks]
	clear(p.full)
	clear(p.rare)
	p.pairs, p.picked = p.pairs[:0], p.picked[:0]
	for a, at := range p.answers.asked {
		docs := p.answers.of(a)
		for len(docs) > 0 && docs[len(docs)-1] >= own { // added with the group
			docs = docs[:len(docs)-1]
		}
		p.full[at], p.rare[at] = len(docs) == MaxHolders, len(docs) == 1
		for _, num := range named(docs) {
			p.pairs = append(p.pairs, uint64(num)<<32|uint64(at))
		}
	}
	slices.Sort(p.pairs)
	for from, to := 0, 0; from < len(p.pairs); from = to {
		for to = from; to < len(p.pairs) && p.pairs[to]>>32 == p.pairs[from]>>32; to++ {
		}
		pairs := p.pairs[from:to]
		single := short || slices.ContainsFunc(pairs, func(pair uint64) bool { return p.rare[uint32(pair)] })
		if single || p.chained(pairs) {
			p.picked = append(p.picked, pickedBy{uint32(pairs[0] >> 32), len(pairs), single})
		}
	}
	if most := maxLists + len(p.full)/listPicks; len(p.picked) > most {
		slices.SortFunc(p.picked, func(a, b pickedBy) int { return cmp.Or(cmp.Compare(b.picks, a.picks), cmp.Compare(a.num, b.num)) })
		p.picked = p.picked[:most]
		slices.SortFunc(p.picked, func(a, b pickedBy) int { return cmp.Compare(a.num, b.num) })
	}
}

// chained reports whether the document of these pairs can hold two adjacent picks. It is named for
// both, or for one next to a pick with the maximum number of holders.
func (p *picking) chained(pairs []uint64) bool {
	holds := func(pick int) bool { return pick >= 0 && pick < len(p.full) && p.full[pick] }
	for i, pair := range pairs {
		at := int(uint32(pair))
		if holds(at-1) || holds(at+1) || i > 0 && int(uint32(pairs[i-1])) == at-1 {
			return true
		}
	}
	return false
}

func (p *picking) read(ask Asker) error {
	p.records.nums = p.records.nums[:0]
	for _, d := range p.picked {
		p.records.nums = append(p.records.nums, d.num)
	}
	if err := p.records.read(ask); err != nil {
		return err
	}
	p.candidates = p.candidates[:0]
	for i, num := range p.records.nums {
		p.candidates = append(p.candidates, PassageCandidate{num, p.records.ids[i], p.records.all[i], p.picked[i].single})
	}
	return nil
}

// findAllPassages is step 4. It does not change table or filter.
func (g *parallel) findAllPassages() error {
	if g.d.cfg.Passages == nil {
		return nil
	}
	if err := g.share(); err != nil {
		return err
	}
	const chunk = 4
	return g.each(g.group.Len(), chunk, func(m *member, i int) error {
		return m.findPassages(i, g.number[i])
	})
}
