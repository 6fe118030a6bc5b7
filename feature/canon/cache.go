package canon

// A formCache remembers the canonical form of short clusters and symbols.
// Texts that have any repeat the same few: the letters of a decomposed text,
// the arrows and rules of a manual. golang.org/x/text takes some 400 ns to find
// one anew, the cache 5.
type formCache [1024]cachedForm

type cachedForm struct {
	key  [2]uint64 // the cluster's bytes; none of them is 0
	n    uint8
	form [15]byte
}

// formOf returns the canonical form of a cluster without the treatment of white
// space, valid until the next call.
func (s *Scanner) formOf(text []byte) []byte {
	if len(text) > 16 {
		return s.folder.core(text)
	}
	var key [2]uint64
	for i, b := range text {
		key[i/8] |= uint64(b) << (i % 8 * 8)
	}
	slot := &s.cache[(key[0]^key[1]*0x9E3779B97F4A7C15)*0xBF58476D1CE4E5B9>>54]
	if slot.key == key {
		return slot.form[:slot.n]
	}
	form := s.folder.core(text)
	if len(form) <= len(slot.form) {
		slot.key, slot.n = key, uint8(len(form))
		copy(slot.form[:], form)
	}
	return form
}
