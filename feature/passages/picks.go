// Package passages finds the stretches of a text that occur in an earlier one, word for word.
//
// A text is a sequence of words (see package units). Of every 38 consecutive runs of 13 words, the
// one with the least hash is picked (winnowing: Schleimer, Wilkerson, Aiken, SIGMOD 2003). So two
// texts with 50 consecutive words in common have a pick in common. The picks serve as keys to find
// candidates, and a list of them is stored with the text. Comparing two lists yields chains of
// common picks. Reading both texts then yields the exact ends of the stretches.
package passages

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/firstseen/firstseen/internal/base/fields"
)

const (
	// Run is the number of words in a run.
	Run = 13
	// Least is the default minimum length of a stretch in words.
	Least = 50
	// MaxPicks is the maximum number of picks stored for a document, enough for about 200,000 words.
	// Later documents do not find the rest.
	MaxPicks = 10_000
	// MaxWindow is the maximum number of runs in a window. One of them is picked.
	MaxWindow = Least - Run + 1

	turn     = 13                 // bits by which a run's hash rotates per word
	multiply = 0x9E3779B97F4A7C15 // multiplier for the hash of the words between two picks
)

// powers has the powers of multiply for all distances between picks.
var powers = func() (p [MaxWindow + 1]uint64) {
	p[0] = 1
	for i := range MaxWindow {
		p[i+1] = p[i] * multiply
	}
	return p
}()

// A Pick is a picked run.
type Pick struct {
	At  uint32 // its first word
	Run uint64 // the unkeyed hash of its words
	Gap uint64 // the hash of the words from the previous pick, or the beginning, to this one
}

// Window returns the number of runs in a window that finds stretches of least words or more.
func Window(least int) int { return min(least-Run+1, MaxWindow) }

// A Picker picks runs of texts. It is not safe for concurrent use.
type Picker struct {
	window int
	hashes []uint64 // of the previous Run words and of those that follow
	runs   []uint64 // the previous window-1 runs and those that follow
	sums   []uint64 // for each of them, the hash of all words before it
	words  int
	run    uint64 // the last run
	sum    uint64 // of the words before it
	least  int    // number of the least run in the window, or -1
	lowest uint64 // that run
	picked int    // number of the last pick, or -1
	before uint64 // sum of the last pick
	picks  []Pick
}

// NewPicker returns a Picker for stretches of least words or more. least must be at least Run+1.
func NewPicker(least int) *Picker {
	p := &Picker{window: Window(least)}
	p.Reset()
	return p
}

// Reset prepares for the next text.
func (p *Picker) Reset() {
	p.hashes = append(p.hashes[:0], make([]uint64, Run)...)
	p.runs = append(p.runs[:0], make([]uint64, p.window-1)...)
	p.sums = append(p.sums[:0], p.runs...)
	p.words, p.run, p.sum, p.least, p.picked, p.before = 0, 0, 0, -1, -1, 0
	p.picks = p.picks[:0]
}

// Words adds the hashes of the next words.
func (p *Picker) Words(hashes []uint64) {
	p.hashes = append(p.hashes[:Run], hashes...)
	n, kept := len(hashes), p.window-1
	p.runs, p.sums = slices.Grow(p.runs[:kept], n)[:kept+n], slices.Grow(p.sums[:kept], n)[:kept+n]
	run, sum := p.run, p.sum
	runs, sums, outs := p.runs[kept:][:n], p.sums[kept:][:n], p.hashes[:n]
	for i, word := range p.hashes[Run:][:n] {
		out := outs[i]
		run = bits.RotateLeft64(run, turn) ^ word ^ bits.RotateLeft64(out, turn*Run%64)
		sum = sum*multiply + out
		runs[i], sums[i] = run, sum
	}
	p.run, p.sum = run, sum
	p.choose(p.words - Run + 1)
	p.words += n
	copy(p.hashes[:Run], p.hashes[n:])
	copy(p.runs, p.runs[n:])
	copy(p.sums, p.sums[n:])
}

// choose picks the least runs of the windows that end with a new run. The first has the number next.
// The loop over runs that change nothing is short: it takes most of the time.
func (p *Picker) choose(next int) {
	base := next - (p.window - 1) // the number of p.runs[0]
	end := base + len(p.runs)
	for next = max(next, 0); ; next++ {
		leaves := p.least + p.window
		if p.least < 0 {
			next = min(end, leaves)
		} else {
			next += higher(p.runs[next-base:min(end, leaves)-base], p.lowest)
		}
		switch {
		case next >= end:
			return
		case next == leaves:
			p.leave(p.runs[next-base-(p.window-1) : next-base+1])
		default:
			p.least, p.lowest = next, p.runs[next-base]
		}
		sum := p.sums[p.least-base]
		p.picks = append(p.picks, Pick{
			At: uint32(p.least), Run: p.lowest,
			Gap: sum - p.before*powers[p.least-max(p.picked, 0)],
		})
		p.picked, p.before = p.least, sum
	}
}

// higher returns the number of runs before the first that is not above lowest.
func higher(runs []uint64, lowest uint64) int {
	for i, run := range runs {
		if run <= lowest {
			return i
		}
	}
	return len(runs)
}

// leave finds the least run of a window that the least before has left, the last among equals. Four
// minima at a time do not wait for each other.
func (p *Picker) leave(window []uint64) {
	a := window[len(window)-1]
	b, c, d := a, a, a
	for w := window; len(w) >= 4; w = w[4:] {
		a, b, c, d = min(a, w[0]), min(b, w[1]), min(c, w[2]), min(d, w[3])
	}
	for _, run := range window[len(window)&^3:] {
		a = min(a, run)
	}
	at, lowest := len(window)-1, min(a, b, c, d)
	for window[at] != lowest {
		at--
	}
	p.least, p.lowest = p.least+1+at, lowest
}

// Picks returns the picks of the text, valid until the next Reset.
func (p *Picker) Picks() []Pick { return p.picks }

// Len returns the number of words in the text.
func (p *Picker) Len() int { return p.words }

// A List has four bytes per pick. The lowest 6 bits count the words since the previous pick or the
// beginning. Then follow 16 bits of the pick's key and 10 bits of the hash of these words.
type List []byte

const (
	// EntryBytes is the length of an entry of a List.
	EntryBytes = 4

	distanceBits = 6
	keyBits      = 16
	gapBits      = 10
)

// AppendList appends the list of picks with the given keys to dst.
func AppendList(dst []byte, picks []Pick, keys []uint64) List {
	before := uint32(0)
	for i, p := range picks {
		entry := p.At - before | uint32(keys[i]&(1<<keyBits-1))<<distanceBits | uint32(p.Gap>>(64-gapBits))<<(distanceBits+keyBits)
		dst = binary.LittleEndian.AppendUint32(dst, entry)
		before = p.At
	}
	return dst
}

// Len returns the number of picks in the list.
func (l List) Len() int { return len(l) / EntryBytes }

// words returns the number of words up to the end of the last pick.
func (l List) words() int {
	words := Run
	for i := range l.Len() {
		words += distanceOf(l.entry(i))
	}
	return words
}

func (l List) entry(i int) uint32 { return binary.LittleEndian.Uint32(l[EntryBytes*i:]) }

// distanceOf returns the words since the previous pick.
func distanceOf(entry uint32) int { return int(entry & (1<<distanceBits - 1)) }

func keyOf(entry uint32) uint32 { return entry >> distanceBits & (1<<keyBits - 1) }

// A Chain is a sequence of picks that two lists have in common, at equal distances and with the
// same words between them.
type Chain struct {
	From, Of int // the words at which it begins, here and in the other text
	Words    int // from there to the end of the last run
	Picks    int
}

// maxPlaces bounds the places at which one key may begin a chain. A text that repeats a sentence has
// thousands.
const maxPlaces = 32

// A Chainer finds chains of one list in others. It is reusable, but not safe for concurrent use.
type Chainer struct {
	own          List
	starts       []int
	first        []int32                   // for each key, 1 + its first entry
	has          [1 << keyBits / 64]uint64 // a bit for each key that has one, which the processor keeps near
	next         []int32                   // for each entry, 1 + the next with the same key
	reached      []int                     // for each entry, the step at which a chain last went on there
	step         int                       // one for each entry of all other lists
	open, goesOn []link
	chains       []Chain
}

// A link is a chain that ends at an entry of the own list.
type link struct {
	Chain
	entry int
}

// Load sets the own list.
func (c *Chainer) Load(d List) {
	if c.first == nil {
		c.first = make([]int32, 1<<keyBits)
	}
	for i := range c.own.Len() {
		key := keyOf(c.own.entry(i))
		c.first[key], c.has[key/64] = 0, 0
	}
	c.own = append(c.own[:0], d...)
	c.starts = c.starts[:0]
	at := 0
	for i := range d.Len() {
		at += distanceOf(d.entry(i))
		c.starts = append(c.starts, at)
	}
	c.next = slices.Grow(c.next[:0], d.Len())[:d.Len()]
	c.reached = slices.Grow(c.reached[:0], d.Len())[:d.Len()]
	clear(c.reached)
	for i := d.Len() - 1; i >= 0; i-- {
		key := keyOf(d.entry(i))
		c.next[i], c.first[key] = c.first[key], int32(i+1)
		c.has[key/64] |= 1 << (key % 64)
	}
}

// Chains returns the chains of the own list in e, the longest first, valid until the next call.
func (c *Chainer) Chains(e List) []Chain {
	c.chains, c.open = c.chains[:0], c.open[:0]
	at := 0
	for i := range e.Len() {
		c.step++
		entry := e.entry(i)
		distance := distanceOf(entry)
		at += distance
		key := keyOf(entry)
		begins := c.has[key/64]>>(key%64)&1 != 0
		if !begins && len(c.open) == 0 {
			continue
		}
		if len(c.open) == 1 && c.alone(c.open[0].entry+1, entry) {
			l := &c.open[0]
			l.entry, l.Words, l.Picks = l.entry+1, l.Words+distance, l.Picks+1
			continue
		}
		c.goesOn = c.goesOn[:0]
		for _, l := range c.open {
			if l.entry+1 < c.own.Len() && c.own.entry(l.entry+1) == entry {
				l.entry, l.Words, l.Picks = l.entry+1, l.Words+distance, l.Picks+1
				c.goesOn = append(c.goesOn, l)
				c.reached[l.entry] = c.step
			} else {
				c.chains = append(c.chains, l.Chain)
			}
		}
		if begins {
			c.begin(key, at)
		}
		c.open, c.goesOn = c.goesOn, c.open
	}
	for _, l := range c.open {
		c.chains = append(c.chains, l.Chain)
	}
	slices.SortFunc(c.chains, func(a, b Chain) int {
		return cmp.Or(cmp.Compare(b.Words, a.Words), cmp.Compare(a.From, b.From), cmp.Compare(a.Of, b.Of))
	})
	return c.chains
}

// alone reports whether the i-th entry of the own list is this one, and the only one with its key.
func (c *Chainer) alone(i int, entry uint32) bool {
	return i < c.own.Len() && c.own.entry(i) == entry && c.next[i] == 0 && c.first[keyOf(entry)] == int32(i+1)
}

// begin begins chains at the entries with a key, unless one went on there at this step.
func (c *Chainer) begin(key uint32, at int) {
	for p, places := c.first[key], 0; p != 0 && places < maxPlaces; p, places = c.next[p-1], places+1 {
		entry := int(p - 1)
		if c.reached[entry] != c.step {
			c.goesOn = append(c.goesOn, link{Chain{From: c.starts[entry], Of: at, Words: Run, Picks: 1}, entry})
		}
	}
}

// AppendField appends the field with a document's list of picks, up to MaxPicks.
func AppendField(added, list []byte) []byte {
	if len(list) == 0 {
		return added
	}
	return fields.Append(added, fields.TagPicks, list[:min(len(list), MaxPicks*EntryBytes)])
}
