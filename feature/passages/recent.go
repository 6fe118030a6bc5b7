package passages

import (
	"cmp"
	"sync"

	"github.com/firstseen/firstseen/feature/units"
)

// An earlierText is the text of an earlier document, as far as its words were wanted. It never
// changes.
type earlierText struct {
	size    int            // of the whole text, in bytes
	outline *units.Outline // of its first words
	ok      bool
}

// recent holds the texts found or used last by their keys, for all goroutines: pages of one site share
// a frame with the same few documents, and with those just before. Once there are enough of them,
// those not used since the last time go.
type recent struct {
	mu           sync.Mutex
	fresh, stale map[string]*earlierText
	bytes        int // of fresh
}

const (
	freshBytes = 16 << 20 // of texts and the hashes of their words
	eachBytes  = 512      // of any text
)

// get returns the text of a document, or nil. A text that is used is put again.
func (r *recent) get(key []byte) *earlierText {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.fresh[string(key)], r.stale[string(key)])
}

func (r *recent) put(key []byte, e *earlierText) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(key) == 0 || r.fresh[string(key)] == e {
		return
	}
	bytes := eachBytes
	if e.ok {
		bytes += e.outline.Bytes()
	}
	if r.bytes += bytes; r.bytes > freshBytes || r.fresh == nil {
		r.fresh, r.stale, r.bytes = map[string]*earlierText{}, r.fresh, bytes
	}
	r.fresh[string(key)] = e
}
