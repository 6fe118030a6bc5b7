package passages

import (
	"cmp"
	"sync"

	"github.com/firstseen/firstseen/feature/units"
)

// An earlierText is the text of an earlier document, as far as its words were wanted. It never
// changes.
type earlierText struct {
	document int
	size     int            // of the whole text, in bytes
	outline  *units.Outline // of its first words
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
	freshBytes = 16 << 20 // of texts and the hashes of their words
	eachBytes  = 512      // of any text
)

// get returns the text of a document, or nil. A text that is used is put again.
func (r *recent) get(document int) *earlierText {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.fresh[document], r.stale[document])
}

func (r *recent) put(e *earlierText) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fresh[e.document] == e {
		return
	}
	bytes := eachBytes
	if e.ok {
		bytes += e.outline.Bytes()
	}
	if r.bytes += bytes; r.bytes > freshBytes || r.fresh == nil {
		r.fresh, r.stale, r.bytes = map[int]*earlierText{}, r.fresh, bytes
	}
	r.fresh[e.document] = e
}
