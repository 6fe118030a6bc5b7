package contamination

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/firstseen/firstseen/corpus"
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

// series stands for all series of runs that end at the same places of an item. These differ only in
// where they begin, so each but the longest is an end of it. The first, without runs, ends
// everywhere.
type series struct {
	next map[uint64]int // the series with one more run
	end  int            // the longest end that also stands elsewhere
	runs int            // of the longest
}

// seriesOf returns the series of an item's runs: the automaton of its parts (Blumer and others, "The
// smallest automaton recognizing the subwords of a text", 1985). There are at most two for each run,
// however often the item repeats it. Each takes some 250 bytes.
func seriesOf(words []word) []series {
	all := []series{{next: map[uint64]int{}, end: -1}}
	whole := 0
	for _, run := range runsOf(words) {
		before := whole
		whole = len(all)
		all = append(all, series{next: map[uint64]int{}, runs: all[before].runs + 1})
		before = extend(all, before, 0, run, whole)
		if before < 0 {
			continue
		}
		to := all[before].next[run]
		if all[to].runs > all[before].runs+1 { // its shorter ones now stand here, too
			shorter := series{next: maps.Clone(all[to].next), end: all[to].end, runs: all[before].runs + 1}
			all[to].end = len(all)
			all = append(all, shorter)
			extend(all, before, to, run, len(all)-1)
			to = len(all) - 1
		}
		all[whole].end = to
	}
	return all
}

// extend lets run lead to a new series, from the series at and its ends, as long as it led from
// there to old; 0 is nowhere. It returns the end from which it led elsewhere, or -1.
func extend(all []series, at, old int, run uint64, to int) int {
	for ; at >= 0 && all[at].next[run] == old; at = all[at].end {
		all[at].next[run] = to
	}
	return at
}

// Search searches pages for items, and counts what it finds.
type Search struct {
	items *Items
	pages int64           // with items
	found map[uint32]bool // numbers of items
}

// NewSearch returns a search for items.
func NewSearch(items *Items) *Search { return &Search{items: items, found: map[uint32]bool{}} }

// A PageHit is an item found in a page.
type PageHit struct {
	Hit
	Page string // id
	At   corpus.Place
	Text string
}

// NewReader returns a reader that finds the items in the pages of a block.
func (s *Search) NewReader() (corpus.Reader[[]PageHit], error) {
	searcher := s.items.NewSearcher()
	var found []Hit
	return func(_ *corpus.Block, pages iter.Seq[*corpus.Document], hits *[]PageHit) error {
		*hits = (*hits)[:0]
		for page := range pages {
			found = searcher.Append(found[:0], page.Text)
			for _, h := range found {
				*hits = append(*hits, PageHit{h, string(page.ID), page.At, string(page.Text[h.From:h.To])})
			}
		}
		return nil
	}, nil
}

// Emit counts the hits of a block, in order, and calls do with each.
func (s *Search) Emit(hits []PageHit, do func(*PageHit) error) error {
	for i := range hits {
		h := &hits[i]
		if i == 0 || h.At != hits[i-1].At {
			s.pages++
		}
		s.found[h.Number] = true
		if err := do(h); err != nil {
			return err
		}
	}
	return nil
}

// Summary says how many items were found in so many pages.
func (s *Search) Summary(pages int64) string {
	line := fmt.Sprintf("%d of %d items found in %d of %d pages", len(s.found), s.items.Len(), s.pages, pages)
	if s.items.Short > 0 {
		line += fmt.Sprintf("; %d with fewer than %d words not searched for", s.items.Short, Run)
	}
	return line
}
