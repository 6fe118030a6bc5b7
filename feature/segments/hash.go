package segments

import (
	"encoding/binary"
	"hash"

	"github.com/dchest/siphash"
	"github.com/minio/highwayhash"
	"github.com/zeebo/xxh3"
)

// wholeSeed sets the whole-text fingerprint apart from the keys of segments: a
// text that is one segment does not get the same number twice.
const wholeSeed = 0x66697273747365ED

// wholeLabel begins what the key of whole texts is derived from. No canonical
// form has its first byte, so that no segment's key gives that key away.
const wholeLabel = "\xffwhole text"

// joint stands between the parts of a whole text.
var joint = []byte{' '}

// A hasher computes the fingerprints of a scheme. Segments are short, and
// SipHash is the fastest keyed hash there; on whole texts HighwayHash is five
// times as fast.
type hasher struct {
	keyed    bool
	k0, k1   uint64 // of segments
	whole    []byte // key of whole texts
	stream   hash.Hash64
	streamed bool
}

func newHasher(key []byte) (h hasher) {
	if key == nil {
		h.stream = xxh3.NewSeed(wholeSeed)
		return h
	}
	h.keyed = true
	h.k0, h.k1 = sipKey(key)
	for i := range byte(highwayhash.Size / 8) {
		h.whole = binary.LittleEndian.AppendUint64(h.whole, siphash.Hash(h.k0, h.k1, append([]byte(wholeLabel), i)))
	}
	var err error
	if h.stream, err = highwayhash.New64(h.whole); err != nil {
		panic("feature: " + err.Error()) // only for another length of the key
	}
	return h
}

// order is the number by which segments of one width are put in order.
func order(form []byte) uint64 { return xxh3.Hash(form) }

// segment is the key of a canonical form whose order is known.
func (h *hasher) segment(form []byte, order uint64) uint64 {
	if h.keyed {
		return siphash.Hash(h.k0, h.k1, form)
	}
	return order
}

// reset forgets the parts of a whole text.
func (h *hasher) reset() { h.streamed = false }

// part takes a part of a whole text that is not the last. Parts are joined by
// spaces.
func (h *hasher) part(p []byte) {
	if h.streamed {
		h.stream.Write(joint)
	} else {
		h.stream.Reset()
		h.streamed = true
	}
	h.stream.Write(p)
}

// text is the fingerprint of a whole text whose last part is p.
func (h *hasher) text(p []byte) uint64 {
	switch {
	case h.streamed:
		if len(p) > 0 {
			h.part(p)
		}
		return h.stream.Sum64()
	case h.keyed:
		return highwayhash.Sum64(p, h.whole)
	}
	return xxh3.HashSeed(p, wholeSeed)
}
