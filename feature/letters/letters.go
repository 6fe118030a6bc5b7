// Package letters measures how alike two texts are by their runs of seven letters. A wrong letter
// changes seven runs, where it would change five runs of five words, so scanned, mistyped and edited
// copies keep most of their runs.
//
// A [Maker] gets the letters of a text from canon.Scanner.AppendLetters: without spaces, marks and
// the difference of scripts, and three for a wide character. It makes a sketch: the least hash in
// each of 128 bins (one-permutation min-hash: Li, Owen, Zhang, "One Permutation Hashing", NIPS 2012),
// the place of each in the text, the number of distinct runs, and key runs for look-ups.
//
// docs/canonical.md, "Runs", has the rules. Nothing here uses a secret.
package letters

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/firstseen/firstseen/feature/canon"
)

const (
	// Run is the number of letters in a run, KeyRun in a key run: about one English word and a half
	// and three, or two Han characters and a third and five.
	Run    = 7
	KeyRun = 2 * Run

	// Bins is the number of minima in a sketch.
	Bins = 128

	// MaxKeys is the maximum number of key runs.
	MaxKeys = 8
)

const (
	// none is the value of a bin without a run. A run with this hash fills no bin.
	none = ^uint32(0)

	cells     = 1 << 14 // of the bitmap for counting distinct hashes
	cellShift = 32 - 14

	// counted is the largest number of letters whose runs are all counted. Of longer texts, the
	// runs with the least hashes are, a half, a quarter and so on: 2,048 to 4,096. The standard error
	// is below 2.2%.
	counted = 4096

	// together is the number of letters to process at once: enough to make the calls cheap, and few
	// enough to lower the limit of hashes that can matter soon.
	together = 1024

	room = together + KeyRun + 2*block // hashes at once, with those that the vector loops write beyond
)

// A Maker makes sketches. It is not safe for concurrent use. It allocates nothing once its buffers
// exist: 16 KiB, more after a long piece without punctuation.
type Maker struct {
	letters []byte // not yet processed
	before  int    // letters before these
	hashes  [room]uint32
	masks   [room / block]uint32

	least  [Bins]uint32 // the least hash of each bin
	places [Bins]uint32 // the letter at which the first run with that hash begins
	limit  uint32       // no larger hash can be the least of its bin

	seen   [cells / 64]uint64 // a bit for each cell hit by a counted run
	sample uint32             // runs with larger hashes are not counted
	halved int                // one run in 1<<halved is counted

	keys []key // the key runs with the least ranks, ascending
}

// A key is a key run: its rank, and a hash of 64 bits.
type key struct {
	rank uint32
	hash uint64
}

// NewMaker returns a Maker.
func NewMaker() *Maker {
	return &Maker{letters: make([]byte, 0, 16<<10), keys: make([]key, 0, MaxKeys+1)}
}

// Reset prepares for a text of that many bytes.
func (m *Maker) Reset(size int) {
	m.letters, m.before = m.letters[:0], 0
	for i := range m.least {
		m.least[i] = none
	}
	m.limit = none
	clear(m.seen[:])
	m.halved = bits.Len(uint(size) / counted)
	m.sample = none >> m.halved
	m.keys = m.keys[:0]
}

// Segments takes the letters of the latest segments of a scanner that counts units.
func (m *Maker) Segments(s *canon.Scanner) {
	m.letters = s.AppendLetters(m.letters)
	rest := slices.Grow(m.letters, block+ahead)
	for len(rest) >= together+KeyRun-1 {
		m.process(rest, together, together)
		m.before += together
		rest = rest[together:]
	}
	m.letters = m.letters[:copy(m.letters, rest)]
}

// Finish processes the last letters. It must follow the last call of Segments, and precede those of
// Distinct, Bin and AppendKeys. Letters and Runs do not need it.
func (m *Maker) Finish() {
	n := len(m.letters)
	m.letters = slices.Grow(m.letters, block+ahead)
	m.process(m.letters, max(n-(Run-1), 0), max(n-(KeyRun-1), 0))
}

// Letters returns the number of letters of the text.
func (m *Maker) Letters() int { return m.before + len(m.letters) }

// Runs returns the number of runs in the text, including repeated ones.
func (m *Maker) Runs() int { return max(m.Letters()-(Run-1), 0) }

// process takes the first runs and key runs of some letters, behind which the vector loops may read.
func (m *Maker) process(text []byte, runs, keys int) {
	if runs == 0 {
		return
	}
	text = text[:len(text)+block+ahead]
	hashRuns(m.hashes[:], m.masks[:], text, max(runs, keys+Run), max(m.limit, m.sample))
	if m.limit == none {
		m.addAll(runs)
	} else {
		m.addMarked(runs)
	}
	if keys > 0 {
		m.addKeys(text, keys)
	}
	m.limit = slices.Max(m.least[:])
}

// addAll takes all n runs: the first of a text, of which most are the least of their bins so far.
func (m *Maker) addAll(n int) {
	for i, h := range m.hashes[:n] {
		bin := h % Bins
		least, at := m.least[bin], m.places[bin]
		if h < least { // without a branch, which would be unpredictable
			at = uint32(m.before + i)
		}
		m.least[bin], m.places[bin] = min(least, h), at
		m.count(h)
	}
}

// addMarked takes the marked ones of n runs.
func (m *Maker) addMarked(n int) {
	for b, mask := range m.marked(n) {
		for ; mask != 0; mask &= mask - 1 {
			at := b*block + bits.TrailingZeros32(mask)
			h := m.hashes[at]
			if bin := h % Bins; h < m.least[bin] {
				m.least[bin], m.places[bin] = h, uint32(m.before+at)
			}
			m.count(h)
		}
	}
}

// marked returns the masks of n runs, without the bits beyond.
func (m *Maker) marked(n int) []uint32 {
	masks := m.masks[:(n+block-1)/block]
	if over := len(masks)*block - n; over > 0 {
		masks[len(masks)-1] &= ^uint32(0) >> over
	}
	return masks
}

// count counts a run if its hash is in the sample.
func (m *Maker) count(h uint32) {
	_, over := bits.Sub32(m.sample, h, 0)
	cell := (h * mulKey) >> cellShift
	m.seen[cell/64] |= uint64(1-over) << (cell % 64)
}

// addKeys takes n key runs. At the start of a text it looks at those that are probably among the
// least, and at all if these are too few, as in a text that repeats a word.
func (m *Maker) addKeys(text []byte, n int) {
	limit := none
	if len(m.keys) == MaxKeys {
		limit = m.keys[MaxKeys-1].rank
	} else if len(m.keys) == 0 && n > 8*MaxKeys {
		m.addKeysUpTo(text, n, none/uint32(n)*(4*MaxKeys))
		if len(m.keys) == MaxKeys {
			return
		}
	}
	m.addKeysUpTo(text, n, limit)
}

func (m *Maker) addKeysUpTo(text []byte, n int, limit uint32) {
	markKeyRuns(m.masks[:], m.hashes[:], n, limit)
	for b, mask := range m.marked(n) {
		for ; mask != 0; mask &= mask - 1 {
			at := b*block + bits.TrailingZeros32(mask)
			m.addKey(key{hashKeyRun(m.hashes[at], m.hashes[at+Run]), HashKey(text[at:])})
		}
	}
}

// HashKey returns a 64-bit hash of the first KeyRun letters. It is linear before the last step, but
// that does not matter: no two texts can agree by forged runs.
func HashKey(letters []byte) uint64 {
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(letters)^0x9e3779b97f4a7c15, binary.LittleEndian.Uint64(letters[KeyRun-8:])^0x243f6a8885a308d3)
	return hi ^ lo
}

// addKey inserts a key run unless it is there or too large.
func (m *Maker) addKey(k key) {
	at := len(m.keys)
	for ; at > 0 && (m.keys[at-1].rank > k.rank || m.keys[at-1].rank == k.rank && m.keys[at-1].hash > k.hash); at-- {
	}
	if at == MaxKeys || at > 0 && m.keys[at-1] == k {
		return
	}
	m.keys = slices.Insert(m.keys, at, k)[:min(len(m.keys)+1, MaxKeys)]
}

// AppendKeys appends the hashes of the up to n key runs with the least ranks. Texts with most runs in
// common have most of these in common.
func (m *Maker) AppendKeys(dst []uint64, n int) []uint64 {
	for _, k := range m.keys[:min(n, len(m.keys))] {
		dst = append(dst, k.hash)
	}
	return dst
}

// Distinct estimates the number of distinct runs by linear counting (Whang, Vander-Zanden, Taylor,
// ACM TODS 15, 1990): runs fall into random cells, and the number of empty cells gives the estimate.
// It is at least 1 if there is a run.
func (m *Maker) Distinct() int {
	empty := cells
	for _, word := range m.seen {
		empty -= bits.OnesCount64(word)
	}
	if empty == 0 {
		return m.Runs()
	}
	return min(max(int(drawn()[empty])<<m.halved, 1), m.Runs())
}

// drawn maps each number of empty cells to the expected number of distinct runs. With k cells empty,
// filling one more takes cells/k runs. Integer arithmetic is exact everywhere.
var drawn = sync.OnceValue(func() *[cells + 1]uint32 {
	var n [cells + 1]uint32
	sum := uint64(0) // in units of 2^-32
	for k := cells; k > 0; k-- {
		n[k] = uint32((sum + 1<<31) >> 32)
		sum += cells << 32 / uint64(k)
	}
	return &n
})

// Bin returns the number of a bin, 1 to 15, or 0 if it has no run, and the letter at which its run
// begins. Two different runs have equal numbers once in 15.
func (m *Maker) Bin(bin int) (number uint64, place uint32) {
	h := m.least[bin]
	if h == none {
		return 0, 0
	}
	return uint64(1 + (h*mulLow>>16)*15>>16), m.places[bin]
}
