// Package passages finds the stretches of a text that stand in an earlier one, word for word.
//
// A text is a row of words (see package units). Of every 38 runs of 13 words that follow one
// another, the one with the least hash is picked (winnowing: Schleimer, Wilkerson, Aiken, SIGMOD
// 2003). Two texts with 50 words in common therefore have a pick in common. The picks of a text are
// keys to find candidates by, and a list that is stored with it. Two lists show chains of common
// picks. Reading both texts then shows the exact ends of the stretches.
package passages

import "math/bits"

const (
	// Run is how many words a run has.
	Run = 13
	// Least is the default of the fewest words of a stretch.
	Least = 50
	// MaxWindow is the most runs of a window; one of them is picked.
	MaxWindow = Least - Run + 1

	turn     = 13                 // bits by which a run's hash is rotated for each word
	multiply = 0x9E3779B97F4A7C15 // of the hash of the words between two picks
)

// powers are those of multiply: for all distances of picks.
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
	Run uint64 // the hash of its words, without a secret
	Gap uint64 // the hash of the words from the pick before, or the beginning, to this one
}

// Window returns the runs of a window that finds stretches of least words or more.
func Window(least int) int { return min(least-Run+1, MaxWindow) }

// A Picker picks runs of texts. It is not for concurrent use.
type Picker struct {
	window int
	hashes []uint64 // of the last Run words, and of those that follow
	runs   []placed // after the last window-1 of those before
	words  int
	last   placed // the last run
	least  int    // number of the least run of the window
	picked int    // of the last pick, -1 for none
	before uint64 // its placed.prefix
	picks  []Pick
}

// A placed run is its hash, and that of all words before it.
type placed struct{ run, prefix uint64 }

// NewPicker returns a Picker for stretches of least words or more, at least Run+1.
func NewPicker(least int) *Picker {
	p := &Picker{window: Window(least)}
	p.Reset()
	return p
}

// Reset makes ready for the next text.
func (p *Picker) Reset() {
	p.hashes = append(p.hashes[:0], make([]uint64, Run)...)
	p.runs = append(p.runs[:0], make([]placed, p.window-1)...)
	p.words, p.last, p.least, p.picked, p.before = 0, placed{}, -1, -1, 0
	p.picks = p.picks[:0]
}

// Words takes the hashes of the next words of the text.
func (p *Picker) Words(hashes []uint64) {
	p.hashes = append(p.hashes[:Run], hashes...)
	p.runs = p.runs[:p.window-1]
	in := p.hashes[Run:]
	for i, word := range in {
		out := p.hashes[i]
		p.last.run = bits.RotateLeft64(p.last.run, turn) ^ word ^ bits.RotateLeft64(out, turn*Run%64)
		p.last.prefix = p.last.prefix*multiply + out
		if p.words++; p.words >= Run {
			p.runs = append(p.runs, p.last)
			p.pick(p.words - Run)
		}
	}
	copy(p.hashes[:Run], p.hashes[len(in):])
	copy(p.runs, p.runs[len(p.runs)-(p.window-1):])
}

// pick picks the least run of the window that ends with the run of that number, the last of runs.
func (p *Picker) pick(number int) {
	end := len(p.runs) - 1
	at := func(n int) placed { return p.runs[end-(number-n)] }
	switch {
	case p.least < 0 || p.least > number-p.window && p.last.run <= at(p.least).run:
		p.least = number
	case p.least <= number-p.window:
		p.least++
		for n := p.least + 1; n <= number; n++ {
			if at(n).run <= at(p.least).run {
				p.least = n
			}
		}
	}
	if number < p.window-1 || p.least == p.picked {
		return
	}
	least := at(p.least)
	p.picks = append(p.picks, Pick{
		At: uint32(p.least), Run: least.run,
		Gap: least.prefix - p.before*powers[p.least-max(p.picked, 0)],
	})
	p.picked, p.before = p.least, least.prefix
}

// Picks are those of the text, valid until the next.
func (p *Picker) Picks() []Pick { return p.picks }

// Len is how many words the text has.
func (p *Picker) Len() int { return p.words }
