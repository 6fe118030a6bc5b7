// Package contamination finds the items of evaluations, such as questions, in pages of training
// text.
//
// Two texts share a run if the same five words follow one another in both, however lines, case and
// punctuation differ. An item stands in a page if most of its words do, in shared runs. The share is
// the item's: neither the length of the page nor the distance between the found parts counts.
package contamination

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"
)

const (
	// Run is how many words a run has. Items of fewer words are not looked for.
	Run = 5
	// CommonIn is how many items may hold a run for it to count. A run held by more is the wording
	// of a whole set, such as "Answer with the letter of".
	CommonIn = 8

	sieveBits = 16 // of the sieve for each run
)

// Items are the texts to look for. A word takes about 60 bytes.
type Items struct {
	// Short counts the texts of fewer than Run words.
	Short int

	all    []item
	byText map[uint64]uint32 // number of the first item with these words
	keys   []key             // quick hashes of runs that few items hold, sorted
	sieve  sieve             // of these hashes
	reader *reader
}

// An item is a distinct text to look for.
type item struct {
	id    string
	again int // further texts of the same words
	words []word
	isOwn []bool // for each word: it says something, and few items hold one of its runs
	own   int    // how many do
}

// A key says that an item holds a run.
type key struct {
	run  uint64
	item uint32
}

// NewItems returns no items.
func NewItems() *Items {
	return &Items{byText: map[uint64]uint32{}, reader: newReader()}
}

// Len is how many distinct texts are looked for.
func (x *Items) Len() int { return len(x.all) }

// Add adds a text to look for. A text of the same words as an earlier one counts as that one again.
func (x *Items) Add(id string, text []byte) {
	words := x.reader.words(text)
	if len(words) < Run {
		x.Short++
		return
	}
	var hashes []byte
	for _, w := range words {
		hashes = binary.LittleEndian.AppendUint64(hashes, w.hash)
	}
	whole := xxh3.Hash(hashes)
	if n, ok := x.byText[whole]; ok {
		x.all[n].again++
		return
	}
	n := uint32(len(x.all))
	x.byText[whole] = n
	x.all = append(x.all, item{id: id, words: slices.Clone(words), isOwn: make([]bool, len(words))})
	x.reader.quickRuns(text, func(run uint64) { x.keys = append(x.keys, key{run, n}) })
}

// Ready ends the adding: it finds the runs that count.
func (x *Items) Ready() {
	var exact []key
	for n := range x.all {
		for _, run := range runsOf(x.all[n].words) {
			exact = append(exact, key{run, uint32(n)})
		}
	}
	exact = uncommon(exact)
	for n := range x.all {
		it := &x.all[n]
		for at, run := range runsOf(it.words) {
			if _, ok := slices.BinarySearchFunc(exact, key{run, uint32(n)}, compareKeys); ok {
				for i := range Run {
					it.isOwn[at+i] = true
				}
			}
		}
		for i := range it.isOwn {
			if it.isOwn[i] = it.isOwn[i] && !it.words[i].plain; it.isOwn[i] {
				it.own++
			}
		}
	}
	x.keys = uncommon(x.keys)
	x.sieve = newSieve(x.keys)
	x.byText = nil
}

// uncommon returns the distinct keys of runs that at most CommonIn items hold, sorted.
func uncommon(keys []key) []key {
	slices.SortFunc(keys, compareKeys)
	keys = slices.Compact(keys)
	kept := keys[:0]
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && keys[to].run == keys[from].run {
			to++
		}
		if to-from <= CommonIn {
			kept = append(kept, keys[from:to]...)
		}
		from = to
	}
	return slices.Clip(kept)
}

func compareKeys(a, b key) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.item, b.item)) }

// holders returns the keys of a run.
func (x *Items) holders(run uint64) []key {
	if !x.sieve.has(run) {
		return nil
	}
	from, _ := slices.BinarySearchFunc(x.keys, key{run: run}, compareKeys)
	to := from
	for to < len(x.keys) && x.keys[to].run == run {
		to++
	}
	return x.keys[from:to]
}

// A sieve has a bit for every hash: most runs of pages end here.
type sieve struct {
	bits  []uint64
	shift int
}

func newSieve(keys []key) sieve {
	width := max(bits.Len(uint(sieveBits*len(keys))), 6)
	s := sieve{bits: make([]uint64, 1<<(width-6)), shift: 64 - width}
	for _, k := range keys {
		at := s.at(k.run)
		s.bits[at/64] |= 1 << (at % 64)
	}
	return s
}

// at is the place of a hash, by multiplication with the golden ratio (Knuth, vol. 3, 6.4).
func (s *sieve) at(run uint64) uint64 { return run * 0x9E3779B97F4A7C15 >> s.shift }

func (s *sieve) has(run uint64) bool {
	at := s.at(run)
	return s.bits[at/64]>>(at%64)&1 != 0
}
