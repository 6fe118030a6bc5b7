package simhash

import (
	"encoding/binary"
	"slices"

	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/hamming"
	"github.com/firstseen/firstseen/feature/method"
)

// A memory has the fingerprints of all kept documents and finds those that are near.
type memory struct {
	index       *hamming.Index
	hash        digest.Hasher
	near        []uint64
	fingerprint []byte
}

// NewMemory returns an empty Memory. Every kept document takes some 33 bytes in it, with
// the default distance.
func (s Scheme) NewMemory() (method.Memory, error) {
	index, err := hamming.New(s.filled().Distance)
	return &memory{index: index, hash: digest.New(s.Key)}, err
}

// MemoryFor is about how many bytes a Memory of so many documents takes.
func (s Scheme) MemoryFor(documents uint64) uint64 {
	return hamming.BytesFor(documents, s.filled().Distance)
}

// Add implements method.Memory.
func (m *memory) Add(record []byte) error {
	_, fingerprint, err := parse(record)
	if err != nil || len(fingerprint) == 0 {
		return err
	}
	return m.index.Add(binary.LittleEndian.Uint64(fingerprint))
}

// Near implements method.Memory: it finds every near enough fingerprint.
func (m *memory) Near(dst []method.Feature, s *method.Sketch) []method.Feature {
	if len(s.Data) == 0 {
		return dst
	}
	m.near, _ = m.index.Find(m.near[:0], binary.LittleEndian.Uint64(s.Data))
	slices.Sort(m.near)
	for _, f := range slices.Compact(m.near) {
		m.fingerprint = binary.LittleEndian.AppendUint64(m.fingerprint[:0], f)
		dst = append(dst, feature(&m.hash, m.fingerprint))
	}
	return dst
}
