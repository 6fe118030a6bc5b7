package similarity

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/firstseen/firstseen/feature/canon"
)

const (
	// A run has leastRun letters, and one more for each time that the earlier text doubles from
	// plainRuns letters on, since a longer text has more runs by chance. So a tenth to a fifth of an
	// unrelated English text stands in one of 3,000 to 1,000,000 letters. By runs of eight in all,
	// it would be a tenth to nine tenths. Longer runs than these lose scans and edited sentences.
	leastRun  = 8
	plainRuns = 4096
	maxRun    = 24 // a run is compared as three words of eight letters

	// stride is the number of letters from one earlier run in the table to the next. Filling the
	// table takes most of the time.
	stride = 2
)

// runIn returns the length of the runs to look for in an earlier text of that many letters.
func runIn(letters int) int { return min(leastRun+bits.Len(uint(letters/plainRuns)), maxRun) }

// Stands returns the share, 0 to 1, of the later text's letters that stand in the earlier one: those
// of runs of letters that the earlier one has too, wherever they are. Letters are folded, without
// spaces, as in the sketches (canon.Scanner.AppendLetters). So a wrong letter takes a few letters
// with it, and new text all of its own. What comes twice counts twice. A text without letters has
// none there.
//
// Unlike the sketches it compares all letters. It takes linear time, and 10 to 18 bytes for each letter
// of the earlier text.
func Stands(later, earlier []byte) float64 {
	f := finders.Get().(*finder)
	defer finders.Put(f)
	f.later, f.earlier = f.letters(f.later[:0], later), f.letters(f.earlier[:0], earlier)
	if len(f.later) == 0 {
		return 0
	}
	return float64(f.count(runIn(len(f.earlier)))) / float64(len(f.later))
}

// A finder finds the runs of letters that two texts have in common. It is used again.
type finder struct {
	scanner        *canon.Scanner
	later, earlier []byte   // letters
	table          []uint32 // places of runs by their hashes, from 1; open addressing
}

var finders = sync.Pool{New: func() any {
	f := &finder{scanner: canon.NewScanner()}
	f.scanner.CountUnits()
	return f
}}

// letters appends the letters of a text to dst.
func (f *finder) letters(dst, text []byte) []byte {
	f.scanner.Reset(text)
	pieces := 0
	for {
		step := f.scanner.Next()
		if step == canon.Piece {
			if pieces++; pieces%canon.Together > 0 {
				continue
			}
		}
		dst = f.scanner.AppendLetters(dst)
		f.scanner.ForgetSegments()
		if step == canon.End {
			return dst
		}
	}
}

// count returns the number of later letters in stretches of n letters or more that are among the
// earlier ones. Of a stretch of exactly n letters, it finds one in stride. Of a longer one it may lose
// the first and the last letter, if the earlier text has parts of it more than once.
func (f *finder) count(n int) (letters int) {
	x, y := f.later, f.earlier
	f.reset(len(y) / stride)
	for i := 0; i+n <= len(y); i += stride {
		if slot, at := f.find(y[i:], n); at < 0 {
			f.table[slot] = uint32(i + 1)
		}
	}
	end := 0 // of the letters counted
	for i := 0; i+n <= len(x); i++ {
		_, at := f.find(x[i:], n)
		if at < 0 {
			continue
		}
		first, next := i, i+n
		for ; first > end && first-i+at > 0 && x[first-1] == y[first-1-i+at]; first-- {
		}
		for ; next < len(x) && next-i+at < len(y) && x[next] == y[next-i+at]; next++ {
		}
		letters += next - max(first, end)
		i, end = next-n, next // the runs before are found
	}
	return letters
}

// reset empties the table for that many runs. At most a quarter of the slots are taken, so a search
// mostly ends at once.
func (f *finder) reset(runs int) {
	f.table = slices.Grow(f.table[:0], 4<<bits.Len(uint(runs)))[:4<<bits.Len(uint(runs))]
	clear(f.table)
}

// find returns the place of an earlier run in the table that is equal to the first n letters of run, or
// -1 and the slot for it.
func (f *finder) find(run []byte, n int) (slot, at int) {
	y := f.earlier
	first, middle, last := load(run), load(run[n/2-4:]), load(run[n-8:])
	high, low := bits.Mul64(first^factors[0], last^factors[1])
	mask := uint64(len(f.table) - 1)
	for slot := (high ^ low ^ middle*factors[2]) >> 32 & mask; ; slot = (slot + 1) & mask {
		at := int(f.table[slot]) - 1
		if at < 0 || load(y[at:]) == first && load(y[at+n-8:]) == last && load(y[at+n/2-4:]) == middle {
			return int(slot), at
		}
	}
}

func load(letters []byte) uint64 { return binary.LittleEndian.Uint64(letters) }
