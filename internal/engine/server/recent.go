package server

import (
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/report"
)

const (
	// pageMemory bounds the memory for the page: lastTexts, the removals and one explanation.
	pageMemory = 48 << 20
	// lastTexts is the most bytes of the texts of kept documents, with their ids and 256 bytes each.
	lastTexts    = 16 << 20
	lastRemovals = 50
	maxShown     = 64 << 10 // bytes of a text
)

// recent holds what the page shows of the documents decided lately. A document that is forgotten
// leaves it too. It is safe for concurrent use.
type recent struct {
	mu       sync.Mutex
	minutes  [60]minute // by the minute, modulo 60
	removals []removal  // the latest last
	texts    map[uint32]*kept
	numbers  map[string][]uint32 // of texts, by id
	order    []uint32            // numbers, the oldest first; some are not in texts any more
	bytes    int
}

// minute counts the documents decided in a minute. The JSON form is a contract.
type minute struct {
	Time    int64  `json:"time"` // its beginning, Unix seconds
	Kept    uint64 `json:"kept"`
	Removed uint64 `json:"removed"`
	Again   uint64 `json:"again"`
}

// removal is a removed document. The JSON form is a contract.
type removal struct {
	Time  int64        `json:"time"` // of its decision, Unix seconds
	ID    string       `json:"id"`
	Of    string       `json:"of"`
	Exact bool         `json:"exact"`
	Score report.Share `json:"score"`
	text  shown
	num   uint32 // of the earlier document
	batch string // of the earlier document
}

// kept is a kept document whose text is in memory.
type kept struct {
	id, batch string
	text      shown
}

func (k *kept) size() int { return len(k.id) + len(k.batch) + len(k.text.text) + 256 }

// shown is a text, or its beginning.
type shown struct {
	text string
	cut  bool
}

func beginning(text []byte) shown {
	if len(text) <= maxShown {
		return shown{string(text), false}
	}
	n := maxShown
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return shown{string(text[:n]), true}
}

// decided notes the decision about a document. number is that of a kept one, 0 if it is not stored,
// and batch that of the earlier document.
func (p *recent) decided(s *apply.Step, r *dedup.Result, number uint32, batch string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().Unix()
	m := &p.minutes[now/60%60]
	if m.Time != now/60*60 {
		*m = minute{Time: now / 60 * 60}
	}
	switch {
	case r.Again:
		m.Again++
	case r.Kept:
		m.Kept++
		if number > 0 {
			p.keep(number, &kept{s.ID, s.Batch, beginning(s.Text)})
		}
	default:
		m.Removed++
		if len(p.removals) == lastRemovals {
			p.removals = slices.Delete(p.removals, 0, 1)
		}
		p.removals = append(p.removals, removal{
			Time: now, ID: s.ID, Of: r.Of.ID, Exact: r.Exact, Score: report.Share(r.Score),
			text: beginning(s.Text), num: r.Of.Num, batch: batch,
		})
	}
}

// keep adds the text of the document of that number. The oldest texts make room.
func (p *recent) keep(number uint32, k *kept) {
	if p.texts == nil {
		p.texts, p.numbers = map[uint32]*kept{}, map[string][]uint32{}
	}
	p.texts[number], p.numbers[k.id] = k, append(p.numbers[k.id], number)
	p.order = append(p.order, number)
	for p.bytes += k.size(); p.bytes > lastTexts; p.order = p.order[1:] {
		p.drop(p.order[0])
	}
	if len(p.order) > 2*len(p.texts)+100 {
		p.order = slices.DeleteFunc(p.order, func(n uint32) bool { return p.texts[n] == nil })
	}
}

// drop removes a text, if it is there.
func (p *recent) drop(number uint32) {
	k := p.texts[number]
	if k == nil {
		return
	}
	p.bytes -= k.size()
	delete(p.texts, number)
	same := p.numbers[k.id]
	if same = slices.DeleteFunc(same, func(n uint32) bool { return n == number }); len(same) > 0 {
		p.numbers[k.id] = same
	} else {
		delete(p.numbers, k.id)
	}
}

// forget drops what belongs to the documents that a step takes back, and to their copies.
func (p *recent) forget(s *apply.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancelled := s.Kind == journal.Cancelled
	if cancelled {
		for number, k := range p.texts {
			if k.batch == s.ID {
				p.drop(number)
			}
		}
	} else {
		for _, number := range slices.Clone(p.numbers[s.ID]) {
			p.drop(number)
		}
	}
	p.removals = slices.DeleteFunc(p.removals, func(r removal) bool {
		return cancelled && r.batch == s.ID || !cancelled && (r.ID == s.ID || r.Of == s.ID)
	})
}

// textOf returns the text of a kept document, by its number.
func (p *recent) textOf(number uint32) (shown, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.texts[number]; k != nil {
		return k.text, true
	}
	return shown{}, false
}

// removed returns the latest removal of an id, if there is one.
func (p *recent) removed(id string) (removal, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range slices.Backward(p.removals) {
		if r.ID == id {
			return r, true
		}
	}
	return removal{}, false
}

// lately is the answer of /v1/recent. The JSON form is a contract.
type lately struct {
	Since    int64     `json:"since"`    // start of the server, Unix seconds
	Minutes  []minute  `json:"minutes"`  // of the last hour, the oldest first; without those that have no document
	Removals []removal `json:"removals"` // the latest first
	Texts    int       `json:"texts"`    // number of kept documents whose texts can be shown
	Free     uint64    `json:"free_bytes"`
}

func (p *recent) lately(now time.Time) *lately {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &lately{Since: started.Unix(), Minutes: []minute{}, Removals: slices.Clone(p.removals), Texts: len(p.texts)}
	for _, m := range p.minutes {
		if m.Time > now.Unix()-3600 {
			l.Minutes = append(l.Minutes, m)
		}
	}
	slices.SortFunc(l.Minutes, func(a, b minute) int { return int(a.Time - b.Time) })
	slices.Reverse(l.Removals)
	if l.Removals == nil {
		l.Removals = []removal{}
	}
	return l
}
