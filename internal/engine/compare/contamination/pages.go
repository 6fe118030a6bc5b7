package contamination

import (
	"fmt"
	"iter"

	"github.com/firstseen/firstseen/corpus"
)

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
