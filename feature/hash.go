package feature

import (
	"hash"

	"github.com/dchest/siphash"
	"github.com/zeebo/xxh3"
)

// wholeSeed sets the whole-text fingerprint apart from the keys of segments: a
// text that is one segment does not get the same number twice.
const wholeSeed = 0x66697273747365ED

// joint stands between the parts of a whole text.
var joint = []byte{' '}

// A hasher computes the keys of a scheme.
type hasher struct {
	keyed    bool
	k0, k1   uint64       // of segments
	w0, w1   uint64       // of the whole text
	xxh      *xxh3.Hasher // whole texts in parts
	sip      hash.Hash64
	streamed bool
}

func newHasher(key []byte) hasher {
	if key == nil {
		return hasher{xxh: xxh3.NewSeed(wholeSeed)}
	}
	k0, k1 := sipKey(key)
	whole := make([]byte, len(key))
	for i, b := range key {
		whole[i] = b ^ 0xA5
	}
	w0, w1 := sipKey(whole)
	return hasher{keyed: true, k0: k0, k1: k1, w0: w0, w1: w1, sip: siphash.New(whole)}
}

// segment is the key of a canonical form.
func (h *hasher) segment(form []byte) uint64 {
	if h.keyed {
		return siphash.Hash(h.k0, h.k1, form)
	}
	return xxh3.Hash(form)
}

// reset forgets the parts of a whole text.
func (h *hasher) reset() { h.streamed = false }

// part takes a part of a whole text that is not the last. Parts are joined by
// spaces.
func (h *hasher) part(p []byte) {
	w := h.stream()
	switch {
	case !h.streamed && h.keyed:
		h.sip.Reset()
	case !h.streamed:
		h.xxh.Reset()
	default:
		w.Write(joint)
	}
	h.streamed = true
	w.Write(p)
}

// whole is the fingerprint of a text whose last part is p.
func (h *hasher) whole(p []byte) uint64 {
	if h.streamed {
		if len(p) > 0 {
			h.part(p)
		}
		return h.stream().Sum64()
	}
	if h.keyed {
		return siphash.Hash(h.w0, h.w1, p)
	}
	return xxh3.HashSeed(p, wholeSeed)
}

func (h *hasher) stream() hash.Hash64 {
	if h.keyed {
		return h.sip
	}
	return h.xxh
}
