// Package digest hashes features and whole texts, with or without the secret of an index. All
// methods take their keys from here, so a text has the same fingerprint under each.
package digest

import (
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/dchest/siphash"
	"github.com/minio/highwayhash"
	"github.com/zeebo/xxh3"
)

// KeyBytes is the length of a secret in bytes.
const KeyBytes = 16

// WholeSeed separates whole-text fingerprints from segment keys, even for a text of one segment.
const WholeSeed = 0x66697273747365ED

// wholeLabel begins the input for deriving the key of whole texts. No canonical form starts with
// its first byte, so no segment's key reveals that key.
const wholeLabel = "\xffwhole text"

// Check returns an error for a secret of the wrong length. A nil key means no secret.
func Check(key []byte) error {
	if key != nil && len(key) != KeyBytes {
		return fmt.Errorf("feature scheme: a key of %d bytes, want %d", len(key), KeyBytes)
	}
	return nil
}

// Name returns the hash's part of a scheme's name: "xxh3", or "siphash+highway" with eight hex
// digits. The digits distinguish secrets without revealing them.
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

// A Hasher computes the fingerprints of a scheme. SipHash is the fastest keyed hash for short
// features. HighwayHash is five times as fast on whole texts. A Hasher is for one goroutine.
type Hasher struct {
	k0, k1   uint64 // for segments
	whole    []byte // the key for whole texts; nil without a secret
	stream   hash.Hash64
	streamed bool
}

// New returns a Hasher with a secret, or without one if key is nil.
func New(key []byte) (h Hasher) {
	if key == nil {
		h.stream = xxh3.NewSeed(WholeSeed)
		return h
	}
	h.k0, h.k1 = sipKey(key)
	for i := range byte(highwayhash.Size / 8) {
		h.whole = binary.LittleEndian.AppendUint64(h.whole, siphash.Hash(h.k0, h.k1, append([]byte(wholeLabel), i)))
	}
	h.stream, _ = highwayhash.New64(h.whole) // fails only for a key of another length
	return h
}

// Order returns the unkeyed hash of a form.
func Order(form []byte) uint64 { return xxh3.Hash(form) }

// Key returns the key of a form with the given Order.
func (h *Hasher) Key(form []byte, order uint64) uint64 {
	if h.whole != nil {
		return siphash.Hash(h.k0, h.k1, form)
	}
	return order
}

// Reset discards the parts of a whole text.
func (h *Hasher) Reset() { h.streamed = false }

// Part adds a part of a whole text, except the last.
func (h *Hasher) Part(p []byte) {
	if !h.streamed {
		h.stream.Reset()
		h.streamed = true
	}
	h.stream.Write(p)
}

// Text returns the fingerprint of a whole text with the last part p.
func (h *Hasher) Text(p []byte) uint64 {
	switch {
	case h.streamed:
		h.Part(p)
		return h.stream.Sum64()
	case h.whole != nil:
		return highwayhash.Sum64(p, h.whole)
	}
	return xxh3.HashSeed(p, WholeSeed)
}
