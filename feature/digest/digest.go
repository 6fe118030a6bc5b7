// Package digest hashes features and whole texts, under the secret of an index or
// without one. All methods have their keys from here, so that of one text all have the
// same fingerprint.
package digest

import (
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/dchest/siphash"
	"github.com/minio/highwayhash"
	"github.com/zeebo/xxh3"
)

// KeyBytes is the length of a secret.
const KeyBytes = 16

// WholeSeed sets the whole-text fingerprint apart from the keys of segments: a text of one segment
// does not get the same number twice.
const WholeSeed = 0x66697273747365ED

// wholeLabel begins the input from which the key of whole texts is derived. No canonical form has
// its first byte, so no segment's key gives that key away.
const wholeLabel = "\xffwhole text"

// Check reports a secret of a wrong length. nil is none.
func Check(key []byte) error {
	if key != nil && len(key) != KeyBytes {
		return fmt.Errorf("feature scheme: a key of %d bytes, want %d", len(key), KeyBytes)
	}
	return nil
}

// Name returns the hash's part of a scheme's name: "xxh3", or for a secret "siphash+highway" with
// eight hex digits that distinguish secrets without revealing them.
func Name(key []byte) string {
	if key == nil {
		return "xxh3"
	}
	k0, k1 := sipKey(key)
	return fmt.Sprintf("siphash+highway(%08x)", uint32(siphash.Hash(k0, k1, []byte("firstseen key id"))))
}

// sipKey splits a 16-byte key as SipHash's authors do, little-endian.
func sipKey(key []byte) (k0, k1 uint64) {
	return binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])
}

// A Hasher computes the fingerprints of a scheme. Features are short, and
// SipHash is the fastest keyed hash there; on whole texts HighwayHash is five
// times as fast. It is for one goroutine.
type Hasher struct {
	keyed    bool
	k0, k1   uint64 // of segments
	whole    []byte // key of whole texts
	stream   hash.Hash64
	streamed bool
}

// New returns a Hasher under a secret, or, with nil, without one.
func New(key []byte) (h Hasher) {
	if key == nil {
		h.stream = xxh3.NewSeed(WholeSeed)
		return h
	}
	h.keyed = true
	h.k0, h.k1 = sipKey(key)
	for i := range byte(highwayhash.Size / 8) {
		h.whole = binary.LittleEndian.AppendUint64(h.whole, siphash.Hash(h.k0, h.k1, append([]byte(wholeLabel), i)))
	}
	var err error
	if h.stream, err = highwayhash.New64(h.whole); err != nil {
		panic("feature/digest: " + err.Error()) // only for another length of the key
	}
	return h
}

// Order is the hash of a form without the secret.
func Order(form []byte) uint64 { return xxh3.Hash(form) }

// Key is the key of a form whose order is known.
func (h *Hasher) Key(form []byte, order uint64) uint64 {
	if h.keyed {
		return siphash.Hash(h.k0, h.k1, form)
	}
	return order
}

// Reset forgets the parts of a whole text.
func (h *Hasher) Reset() { h.streamed = false }

// Part takes any part of a whole text but the last.
func (h *Hasher) Part(p []byte) {
	if !h.streamed {
		h.stream.Reset()
		h.streamed = true
	}
	h.stream.Write(p)
}

// Text is the fingerprint of a whole text whose last part is p.
func (h *Hasher) Text(p []byte) uint64 {
	switch {
	case h.streamed:
		h.Part(p)
		return h.stream.Sum64()
	case h.keyed:
		return highwayhash.Sum64(p, h.whole)
	}
	return xxh3.HashSeed(p, WholeSeed)
}
