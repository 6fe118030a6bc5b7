package dedup_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/dedup"
)

// testStore checks a store against the contract of dedup.Store. open returns a new, empty store for
// each part. A store with a Close method is closed at the end, and must have Closed. A store that
// passes gives the same verdicts as any other. Durability is not part of the contract.
func testStore(t *testing.T, open func(t *testing.T) dedup.Store) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			defer closeQuietly(s)
			if err := c.check(s); err != nil {
				t.Error(err)
			}
		})
	}
}

func closeQuietly(s dedup.Store) {
	if c, ok := s.(interface{ Close() error }); ok {
		_ = c.Close() // tested by its own check
	}
}

// A check is a part of the suite. It returns the faults of an empty store.
type check struct {
	name  string
	check func(s dedup.Store) error
}

var checks = []check{
	{"an empty store", empty},
	{"numbers", batches([]doc{{id: "a"}}, []doc{{id: "b"}, {id: "c"}, {id: "d"}}, []doc{{id: "e"}})},
	{"records", batches(longAndShort[:2], longAndShort[2:])},
	{"records are copies", recordsAreCopies},
	{"ids that are empty or equal", batches([]doc{
		{data: "1", keys: keys{1}},
		{id: "same", data: "2", keys: keys{2}},
		{data: "3", keys: keys{3}},
		{id: "same", data: "4", keys: keys{4}},
	})},
	{"keys without holders", unknownKeys},
	{"a key twice in a document", batches([]doc{{id: "a", keys: keys{5, 6, 5, 5, 6}}}, []doc{{id: "b", keys: keys{6, 6}}})},
	{"the earliest holders", batches(slices.Collect(slices.Chunk(commonKey(3*dedup.MaxHolders), 1))...)},
	{"holders within a batch", batches(commonKey(2 * dedup.MaxHolders))},
	{"documents without keys", batches(
		[]doc{{id: "a", data: "without"}},
		[]doc{{id: "b", data: "with", keys: keys{0}}, {id: "c"}},
	)},
	{"documents that only count", batches(onlyCounting(), []doc{{id: "a", data: "b", keys: keys{1, 105, 7}}})},
	{"extreme keys", batches([]doc{{id: "a", keys: extreme}, {id: "b", keys: extreme}})},
	{"empty batches", emptyBatches},
	{"slices used again", slicesReused},
	{"batches equal single calls", batches(ofAnySize(randomDocs(rand.New(rand.NewPCG(2, 0)), 120))...)},
	{"a large look-up", batches([]doc{{id: "large", keys: manyKeys(5000)}})},
	{"many documents", batches(slices.Collect(slices.Chunk(randomDocs(rand.New(rand.NewPCG(3, 0)), 2000), 50))...)},
	{"several readers", severalReaders},
	{"a closed store", closed},
}

type keys = []uint64

var longAndShort = []doc{
	{id: "short", data: "x"},
	{id: "https://example.org/\x00\xff", data: "\x00\x01\x02\xff"},
	{id: strings.Repeat("long", 10_000), data: "y"},
	{id: "z", data: strings.Repeat("data", 10_000)},
	{id: "no data"},
	{id: "data?", data: "id"},
}

var extreme = keys{0, 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}

// commonKey returns documents. Every second has a common key, and every sixteenth a rare one.
func commonKey(n int) []doc {
	const common, rare = 1 << 63, 1<<63 + 1
	docs := make([]doc, n)
	for i := range docs {
		docs[i] = doc{id: fmt.Sprint(i), keys: keys{uint64(i)}}
		if i%2 == 1 {
			docs[i].keys = append(docs[i].keys, common, common)
		}
		if i%16 == 15 {
			docs[i].keys = append(docs[i].keys, rare)
		}
	}
	return docs
}

func onlyCounting() []doc {
	docs := make([]doc, 12)
	for i := range docs {
		docs[i] = doc{data: "data", keys: keys{1, uint64(i/2) + 100}, counts: i%3 > 0}
	}
	return docs
}

// manyKeys returns n keys, as many as a batch of documents has.
func manyKeys(n int) keys {
	many := make(keys, n)
	for i := range many {
		many[i] = uint64(i+1) * 0x9e3779b97f4a7c15
	}
	return many
}

// randomDocs returns random documents: most keys are uniform, as hashes are, some common.
func randomDocs(r *rand.Rand, n int) []doc {
	docs := make([]doc, n)
	for i := range docs {
		docs[i] = doc{id: fmt.Sprint("doc ", i), data: fmt.Sprint(r.Uint64())}
		for range r.IntN(60) {
			k := r.Uint64()
			if r.IntN(5) == 0 {
				k = k % 50 * 0x9e3779b97f4a7c15
			}
			docs[i].keys = append(docs[i].keys, k)
		}
	}
	return docs
}

// ofAnySize cuts documents into batches of random sizes.
func ofAnySize(docs []doc) (cut [][]doc) {
	for r := rand.New(rand.NewPCG(4, 0)); len(docs) > 0; {
		n := min(len(docs), 1+r.IntN(4)*r.IntN(6))
		cut, docs = append(cut, docs[:n]), docs[n:]
	}
	return cut
}
