package canon

import (
	"math/bits"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

// feeds goes through the line feeds of a text.
type feeds struct {
	text []byte
	high int // the text from here on, as far as it was looked at, is ASCII
	// from and to is what masks are of: a bit for each byte, the lowest first. The bits of
	// those gone through are cleared, and before masks[at] there are none.
	from, to int
	at       int
	masks    [window / vector.Block]uint64
}

func (f *feeds) reset(text []byte) {
	f.text, f.high, f.from, f.to, f.at = text, 0, 0, 0, 0
}

// next returns the place of the next line feed, or the length of the text where there is
// none.
func (f *feeds) next() int {
	for {
		for blocks := (f.to - f.from + vector.Block - 1) / vector.Block; f.at < blocks; f.at++ {
			if mask := &f.masks[f.at]; *mask != 0 {
				i := bits.TrailingZeros64(*mask)
				*mask &= *mask - 1
				return f.from + f.at*vector.Block + i
			}
		}
		if f.to == len(f.text) {
			return f.to
		}
		f.from, f.at = f.to, 0
		f.to = min(f.from+window, len(f.text))
		if high := vector.Feeds(f.masks[:], f.text[f.from:f.to]); high > 0 {
			f.high = f.from + high
		}
	}
}
