package docmap

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// FuzzTaken reads arbitrary lists of dead documents, batches and removed documents with valid
// checksums. Refusals are damage, and accepted lists can be packed again.
func FuzzTaken(f *testing.F) {
	some := []tombstone{{1, 3, 90}, {7, 7, 90}, {80, 90, 90}}
	value, _ := encodeTombstones(some, seedDead)
	f.Add(uint32(1), value[:len(value)-8])
	spans := encodeSpans("name", []span{{1, 5, "name"}, {9, 9, "name"}})
	f.Add(uint32(1), spans[:len(spans)-8])
	f.Add(uint32(0), []byte("\x05\x01a\x02id"))
	f.Fuzz(func(t *testing.T, first uint32, body []byte) {
		if len(body) > 1<<12 {
			return
		}
		const docs = 100
		sum := func(seed uint64) []byte {
			return binary.LittleEndian.AppendUint64(slices.Clone(body), xxh3.HashSeed(body, seed))
		}
		var g tombstones
		if err := g.loadList(binKey(uint64(first)), sum(seedDead+uint64(first)), docs); err == nil {
			if g.dead.n > docs || uint32(len(g.old)) > g.dead.n {
				t.Fatalf("%d of %d documents, %v", g.dead, docs, g.old)
			}
		} else if !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		list, err := decodeSpans("name", sum(xxh3.HashStringSeed("name", seedBatch)), docs)
		if err == nil && string(encodeSpans("name", list)) != string(sum(xxh3.HashStringSeed("name", seedBatch))) {
			t.Fatalf("%v is packed otherwise", list)
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		if _, err := removedEntries(body); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	})
}
