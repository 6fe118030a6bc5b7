package contamination

import (
	"slices"

	"github.com/firstseen/firstseen/feature/units"
)

const (
	// Share is the least share of an item's words that a page must hold, Stretch of them in a row.
	Share = 0.5
	// Stretch is the number of consecutive words for which Share suffices.
	Stretch = 8
	// Most is the share to exceed without such a stretch. An item with fewer than Stretch words of
	// its own must always exceed it.
	Most = 0.75
)

// A Hit is an item that stands in a page.
type Hit struct {
	Item    string  // the item's id
	Number  uint32  // of the item, since ids can repeat
	Repeats int     // further items of the same words
	Share   float64 // of the item's own words
	Units   int     // number of words in its longest stretch in the page
	From    int     // offset of that stretch, in bytes of the page
	To      int
	Start   int // the same in code points
	End     int
}

// A Searcher looks for items in pages. It is not safe for concurrent use. Several may share items.
type Searcher struct {
	items  *Items
	reader *reader
	runs   []uint32 // number of runs met of each item
	met    []uint32 // items with such runs
	found  []uint32 // those of met with enough runs
}

// NewSearcher returns a Searcher for x, which must be Ready.
func (x *Items) NewSearcher() *Searcher {
	return &Searcher{items: x, reader: newReader(), runs: make([]uint32, len(x.all))}
}

// Append appends the items that stand in a page to dst, in the order they were added.
func (s *Searcher) Append(dst []Hit, page []byte) []Hit {
	s.meet(page)
	if len(s.found) == 0 {
		return dst
	}
	for i, m := range s.compare(s.reader.words(page)) {
		if !m.stands(s.reader.text) {
			continue
		}
		h := Hit{Item: m.item.id, Number: s.found[i], Repeats: m.item.again, Share: m.share(), Units: m.longest}
		h.From, h.To = s.reader.text.Range(m.end-m.longest, m.end)
		h.Start, h.End = s.reader.text.Points(h.From, h.To)
		dst = append(dst, h)
	}
	return dst
}

// meet sets s.found to the items that have enough runs in a page.
func (s *Searcher) meet(page []byte) {
	for _, n := range s.met {
		s.runs[n] = 0
	}
	s.met, s.found = s.met[:0], s.found[:0]
	s.reader.quickRuns(page, func(run uint64) {
		for _, k := range s.items.holders(run) {
			if s.runs[k.item]++; s.runs[k.item] == 1 {
				s.met = append(s.met, k.item)
			}
		}
	})
	for _, n := range s.met {
		// A run holds at most Run words of the item's own.
		if float64(s.runs[n]*Run) >= Share*float64(s.items.all[n].own) {
			s.found = append(s.found, n)
		}
	}
	slices.Sort(s.found)
}

// A match records the parts of an item found in a page.
type match struct {
	item    *item
	held    []bool // for each word of the item, whether the page holds it
	longest int    // number of words in the longest stretch
	end     int    // index of the page's word after that stretch

	series []series // of the item
	in     int      // of series, the one that ends at the page's run last
	runs   int      // number of its runs that the page has there
	last   int
}

// compare returns the matches of the found items in a page with these words.
func (s *Searcher) compare(page []word) []match {
	matches := make([]match, len(s.found))
	holders := map[uint64][]int{} // the matches of the items with a run
	for i, n := range s.found {
		it := &s.items.all[n]
		matches[i] = match{item: it, held: make([]bool, len(it.words)), series: seriesOf(it.words)}
		for run := range matches[i].series[0].next {
			holders[run] = append(holders[run], i)
		}
	}
	met := map[uint64]bool{}
	for at, run := range runsOf(page) {
		for _, i := range holders[run] {
			matches[i].follow(run, at)
			met[run] = true
		}
	}
	for _, m := range matches {
		for at, run := range runsOf(m.item.words) {
			for i := range Run {
				m.held[at+i] = m.held[at+i] || met[run]
			}
		}
	}
	return matches
}

// follow extends the longest stretch that ends before the page's run at at.
func (m *match) follow(run uint64, at int) {
	if m.last != at-1 {
		m.in, m.runs = 0, 0
	}
	to, ok := m.series[m.in].next[run]
	for ; !ok; to, ok = m.series[m.in].next[run] {
		m.in = m.series[m.in].end
		m.runs = m.series[m.in].runs
	}
	m.in, m.runs, m.last = to, m.runs+1, at
	if n := m.runs + Run - 1; n > m.longest {
		m.longest, m.end = n, at+Run
	}
}

// share returns the share held of the item's own words, or of all words if it has too few.
func (m *match) share() float64 {
	held, of := 0, m.item.own
	all := of < Stretch
	if all {
		of = len(m.held)
	}
	for i, is := range m.held {
		if is && (all || m.item.isOwn[i]) {
			held++
		}
	}
	return float64(held) / float64(of)
}

// stands reports whether the item stands in the page. An item of fewer words than Stretch must be
// there whole, between separators.
func (m *match) stands(page *units.Text) bool {
	if n := len(m.item.words); n < Stretch {
		return m.longest == n && page.Begins(m.end-n) && page.Begins(m.end)
	}
	share := m.share()
	return share > Most || m.item.own >= Stretch && m.longest >= Stretch && share >= Share
}
