package passages

import (
	"sync"

	"github.com/firstseen/firstseen/feature/units"
)

// An earlierText is the text of an earlier document, as far as its words were wanted. It never
// changes.
type earlierText struct {
	document int
	bytes    []byte
	size     int // of the whole text, in bytes
	text     *units.Text
	ok       bool
}

// recent holds the texts used last, for all goroutines: pages of one site share a frame with the
// same few documents. Once there are enough of them, those not used since the last time go.
type recent struct {
	mu           sync.Mutex
	fresh, stale map[int]*earlierText
	bytes        int // of fresh
}

const (
	freshBytes = 16 << 20 // of texts and their words, which take three times as much
	eachBytes  = 512      // of any text
)

func (r *recent) get(document int) *earlierText {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.fresh[document]
	if e == nil && r.stale[document] != nil {
		e = r.stale[document]
		r.add(e)
	}
	return e
}

func (r *recent) put(e *earlierText) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(e)
}

func (r *recent) add(e *earlierText) {
	if r.bytes += 4*len(e.bytes) + eachBytes; r.bytes > freshBytes || r.fresh == nil {
		r.stale, r.fresh, r.bytes = r.fresh, map[int]*earlierText{}, 4*len(e.bytes)+eachBytes
	}
	r.fresh[e.document] = e
}
