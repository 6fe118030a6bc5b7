package report

import (
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/internal/report/commonest"
)

// Commonest counts the segments repeated most by kept documents. Users want to see these in a
// corpus: menus, licences, mail footers.
//
// The counters are in parts, by the order of segments, which is the same for every secret. The
// counts of a part depend on its own segments alone, so several goroutines can count, each for
// other parts.
type Commonest struct {
	parts [CommonParts]commonest.Counters[uint64, commonNote]
}

// CommonParts is the number of parts.
const CommonParts = 8

// CommonPart is the part of a segment, by its order.
func CommonPart(order uint64) int { return int(order % CommonParts) }

// commonNote is a segment: its order, the same for every secret, and its text.
type commonNote struct {
	order uint64
	Text  string // "" until it is likely to be shown
}

const (
	maxCounters = 256 // of a part
	quoteAt     = 8
)

// Add counts a segment once more, by its key and order. It returns the place for the text if the
// text is wanted, else nil.
func (c *Commonest) Add(key, order uint64) (wantsText *commonNote) {
	part := &c.parts[CommonPart(order)]
	part.Most = maxCounters
	n := part.Add(key, commonNote{order: order})
	if n.Count-n.Over == quoteAt {
		return &n.Note
	}
	return nil
}

// CommonSegment is a segment that many kept documents hold.
type CommonSegment struct {
	Text string `json:"text"`
	// Documents is how many kept documents repeated it after the first. It may be too high, at most
	// by the least of all counters of its part.
	Documents uint64 `json:"documents"`
}

// Top returns the n commonest, the commonest first.
func (c *Commonest) Top(n int) []CommonSegment {
	var all []*commonest.Counter[uint64, commonNote]
	for i := range c.parts {
		for _, counter := range c.parts[i].All() {
			if counter.Note.Text != "" {
				all = append(all, counter)
			}
		}
	}
	slices.SortFunc(all, func(a, b *commonest.Counter[uint64, commonNote]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Note.order, b.Note.order))
	})
	common := []CommonSegment{}
	for _, q := range all[:min(n, len(all))] {
		common = append(common, CommonSegment{q.Note.Text, q.Count})
	}
	return common
}
