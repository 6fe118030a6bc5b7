package html

import (
	"encoding/binary"
	"math/bits"
)

// classes of bytes for putWords.
const (
	visible = iota
	blank
	lineFeed
	perhapsBlank // the first byte of a no-break space
)

var classOf = [256]uint8{' ': blank, '\t': blank, '\r': lineFeed, '\f': blank, '\n': lineFeed, 0xc2: perhapsBlank}

// putWords appends text, white space as single spaces. Words a single space apart are taken at
// once: the search for their end takes eight bytes at a time.
func (d *document) putWords(s []byte) {
	for i := 0; i < len(s); {
		switch classOf[s[i]] {
		case lineFeed:
			d.space, d.lineSpace = true, true
			i++
			continue
		case blank:
			d.space = true
			i++
			continue
		case perhapsBlank:
			if i+1 < len(s) && s[i+1] == 0xa0 {
				d.space = true
				i += 2
				continue
			}
		}
		from := i
		for i += wordsEnd(s[i:]); i < len(s) && (classOf[s[i]] == visible || classOf[s[i]] == perhapsBlank && !(i+1 < len(s) && s[i+1] == 0xa0)); {
			i += 1 + wordsEnd(s[i+1:])
		}
		to := i
		if s[to-1] == ' ' {
			to--
		}
		if d.space || d.breaks > 0 || d.tab || len(d.text) == d.from {
			d.separate(s[from:to])
		}
		d.text = append(d.text, s[from:to]...)
		d.space = to < i
	}
}

// every is a byte eight times.
const every = 0x0101010101010101

// zeros returns a word with the high bit of each zero byte of x set. Bytes above a zero byte may
// have it set too (Hacker's Delight, 6-1).
func zeros(x uint64) uint64 { return (x - every) & ^x & (every << 7) }

// wordsEnd returns the index of the first byte that may end words a single space apart. That is a
// control character, the second of two spaces, or the first byte of a no-break space.
func wordsEnd(s []byte) int {
	space := uint64(0) // whether the last byte was one
	for i := 0; i < len(s); i += 8 {
		var x uint64
		if i+8 <= len(s) {
			x = binary.LittleEndian.Uint64(s[i:])
		} else {
			var last [8]byte
			copy(last[:], s[i:])
			x = binary.LittleEndian.Uint64(last[:])
		}
		spaces := zeros(x ^ every*' ')
		ends := (x-every*' ')&^x&(every<<7) | zeros(x^every*0xc2) | spaces&(spaces<<8|space)
		if ends != 0 {
			return min(i+bits.TrailingZeros64(ends)/8, len(s))
		}
		space = spaces >> 56
	}
	return len(s)
}
