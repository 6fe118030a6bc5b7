// Package contamination finds items of evaluations, such as questions, in pages of training text.
//
// Two texts share a run if the same five words follow one another in both, whatever their lines,
// case and punctuation. An item stands in a page if shared runs hold most of its words. This share
// ignores the length of the page and the distance between the parts found.
package contamination

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/bits-and-blooms/bitset"
	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/units"
)

const (
	// Run is the number of words in a run. Items of fewer words are not looked for.
	Run = 5
	// CommonIn is the most items that may hold a run for it to count. A run held by more is part of
	// the wording of a set, such as "Answer with the letter of".
	CommonIn = 8

	sieveBits = 16 // bits of the sieve for each run
)

// Items holds the texts to look for. A word takes about 60 bytes.
type Items struct {
	// Short counts the texts of fewer than Run words.
	Short int

	all    []item
	byText map[uint64]uint32 // number of the first item with these words
	keys   []key             // quick hashes of runs that few items hold, sorted
	sieve  *bitset.BitSet    // has a bit for each of these hashes: it rejects most runs of pages
	shift  int               // see bit
	reader *reader
}

// An item is a distinct text to look for.
type item struct {
	id    string
	again int // number of further texts with the same words
	words []word
	isOwn []bool // for each word: it is not plain, and few items hold one of its runs
	own   int    // number of words set in isOwn
}

// A key records that an item holds a run.
type key struct {
	run  uint64
	item uint32
}

// NewItems returns an empty set of items.
func NewItems() *Items {
	return &Items{byText: map[uint64]uint32{}, reader: newReader()}
}

// Len returns the number of distinct texts.
func (x *Items) Len() int { return len(x.all) }

// Add adds a text to look for. A text with the words of an earlier one counts as its repeat.
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

// Ready finds the runs that count. Add must not be called after it.
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
	width := max(bits.Len(uint(sieveBits*len(x.keys))), 6)
	x.sieve, x.shift = bitset.New(1<<width), 64-width
	for _, k := range x.keys {
		x.sieve.Set(x.bit(k.run))
	}
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
	if !x.sieve.Test(x.bit(run)) {
		return nil
	}
	from, _ := slices.BinarySearchFunc(x.keys, key{run: run}, compareKeys)
	to := from
	for to < len(x.keys) && x.keys[to].run == run {
		to++
	}
	return x.keys[from:to]
}

// bit returns the bit of a hash, by multiplication with the golden ratio (Knuth, vol. 3, 6.4).
func (x *Items) bit(run uint64) uint { return uint(run * 0x9E3779B97F4A7C15 >> x.shift) }

// turn is the number of bits by which the hash of a run is rotated for each word.
const turn = 13

// A reader splits texts into words. It is not safe for concurrent use.
type reader struct {
	scanner *canon.Scanner
	hashes  []uint64
	text    *units.Text
	read    []word
}

type word struct {
	hash  uint64 // of the canonical form
	plain bool   // a number or a single letter, which says little
}

func newReader() *reader {
	r := &reader{scanner: canon.NewScanner(), text: units.New()}
	r.scanner.CountUnits()
	return r
}

// quickRuns calls f with a hash of each run of text. For speed it reads only 16 bytes of a word.
func (r *reader) quickRuns(text []byte, f func(run uint64)) {
	r.hashes = append(r.hashes[:0], make([]uint64, Run)...)
	n, h := 0, uint64(0)
	for r.scanner.Reset(text); ; {
		step := r.scanner.Next()
		if step == canon.Piece {
			continue
		}
		r.hashes = r.scanner.AppendUnits(r.hashes[:Run])
		for i, unit := range r.hashes[Run:] {
			h = bits.RotateLeft64(h, turn) ^ unit ^ bits.RotateLeft64(r.hashes[i], turn*Run)
			if n++; n >= Run {
				f(h)
			}
		}
		copy(r.hashes[:Run], r.hashes[len(r.hashes)-Run:])
		if step == canon.End {
			return
		}
	}
}

// words returns the words of text, valid until the next call. r.text then locates them.
func (r *reader) words(text []byte) []word {
	r.text.Read(text)
	r.read = r.read[:0]
	for i := range r.text.Len() {
		form := r.text.Form(i)
		r.read = append(r.read, word{xxh3.Hash(form), isPlain(form)})
	}
	return r.read
}

// isPlain reports whether a word is a number or a single letter of an alphabet.
func isPlain(form []byte) bool {
	return len(form) < 3 && utf8.RuneCount(form) == 1 || len(bytes.Trim(form, "0123456789")) == 0
}

// runsOf yields the hash of each run of words, with the index of its first word.
func runsOf(words []word) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		h := uint64(0)
		for i, w := range words {
			h = bits.RotateLeft64(h, turn) ^ w.hash
			if i >= Run {
				h ^= bits.RotateLeft64(words[i-Run].hash, turn*Run)
			}
			if i >= Run-1 && !yield(i-Run+1, h) {
				return
			}
		}
	}
}
