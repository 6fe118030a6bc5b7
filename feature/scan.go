package feature

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// scan appends the canonical form of the segment that begins at start. It
// returns where the segment ends, and whether at a separator: if not, then at the
// end of the text or because it is too long.
//
// It works in two gears. Words in ASCII and runs of plain runes are copied by
// loops that know nothing else; they make up nearly all of most texts.
// Everything else goes one cluster at a time: a character with those after it
// that may combine with it.
func (e *Extractor) scan(text []byte, start int) (int, bool) {
	stop := min(len(text), start+maxRun)
	i := start
	for i < stop {
		var c class
		size := 1
		if b := text[i]; b >= utf8.RuneSelf {
			if i, c, size = e.copyPlain(text, i, stop); size == 0 {
				continue
			}
		} else if c = e.tables.ascii[b].class; !c.separates() {
			e.w, i = copyASCII(e.buf, text[:stop], e.w, i, &e.tables.ascii)
			continue
		}
		switch {
		case !c.separates():
			i = e.cluster(text, e.back(text, start, i, c), stop)
		case i > start && c.kind() <= quote && e.joins(text, i, size, c):
			e.buf[e.w] = joinByte[c.kind()]
			e.w++
			i += size
		default:
			return i, true
		}
	}
	return i, false
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// copyASCII copies letters, digits and spaces from text[i:] to buf[w:], letters
// lower-cased, a space after a space dropped. It returns where it came to in
// both: at a byte it does not know, or the end. Eight bytes at a time, as this
// is where English text spends its time; in each byte of the masks only the
// high bit counts.
func copyASCII(buf, text []byte, w, i int, ascii *[256]asciiByte) (int, int) {
	for {
		after := uint64(0) // high bit of the first byte: the last byte written is a space
		if buf[w-1] == ' ' {
			after = 0x80
		}
		for i+8 <= len(text) {
			x := binary.LittleEndian.Uint64(text[i:])
			y := x &^ highs
			up := y | 0x20*ones
			letter := (up + (0x80-'a')*ones) &^ (up + (0x7F-'z')*ones)
			digit := (y + (0x80-'0')*ones) &^ (y + (0x7F-'9')*ones)
			blank := ^((y ^ ' '*ones) + 0x7F*ones) & highs
			double := blank & (blank<<8 | after)
			bad := (^(letter | digit | blank) | double | x) & highs
			upper := letter &^ (x << 2) & highs
			binary.LittleEndian.PutUint64(buf[w:], x|upper>>2)
			if bad != 0 {
				n := bits.TrailingZeros64(bad) / 8
				w, i = w+n, i+n
				break
			}
			after = blank >> 56
			w, i = w+8, i+8
		}
		if i >= len(text) {
			return w, i
		}
		a := ascii[text[i]]
		switch a.class.kind() {
		case plain:
			buf[w] = a.lower
			w++
		case space:
			if buf[w-1] != ' ' {
				buf[w] = ' '
				w++
			}
			i = skipSpaces(text, i+1)
			continue
		default:
			return w, i
		}
		i++
	}
}

// skipSpaces goes past spaces, eight at a time: indentation, tables.
func skipSpaces(text []byte, i int) int {
	for i+8 <= len(text) {
		if x := binary.LittleEndian.Uint64(text[i:]) ^ ' '*ones; x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
		i += 8
	}
	for i < len(text) && text[i] == ' ' {
		i++
	}
	return i
}

// copyPlain copies plain runes outside ASCII from text[i:stop]. It returns where
// it came to and, if that is another rune outside ASCII, its class and length.
func (e *Extractor) copyPlain(text []byte, i, stop int) (int, class, int) {
	for i < stop && text[i] >= utf8.RuneSelf {
		if n := e.copyCJK(text[:stop], i); n > i {
			i = n
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		c := e.tables.of(r)
		if !c.isPlain() {
			return i, c, size
		}
		if c.isCJK() {
			e.w = e.tighten()
		}
		for _, b := range text[i : i+size] {
			e.buf[e.w] = b
			e.w++
		}
		e.wider += c.width() - size
		i += size
	}
	return i, plain, 0
}

// copyCJK copies plain CJK characters of three bytes from text[i:] and returns
// where they end. It stores up to two bytes more than it has. The block of Han
// that Chinese is written in needs no table; of it, two go at a time.
func (e *Extractor) copyCJK(text []byte, i int) int {
	if i+4 > len(text) || !e.isPlainCJK(binary.LittleEndian.Uint32(text[i:])) {
		return i
	}
	buf, w, start := e.buf, e.tighten(), i
	for i+8 <= len(text) {
		x := binary.LittleEndian.Uint64(text[i:])
		if !isHan(uint32(x)) || !isHan(uint32(x>>24)) {
			break
		}
		binary.LittleEndian.PutUint64(buf[w:], x)
		w, i = w+6, i+6
	}
	for i+4 <= len(text) {
		x := binary.LittleEndian.Uint32(text[i:])
		if !e.isPlainCJK(x) {
			break
		}
		binary.LittleEndian.PutUint32(buf[w:], x)
		w, i = w+3, i+3
	}
	e.w = w
	e.wider -= (i - start) / 3
	return i
}

// isHan reports whether the low three bytes of x are a rune from U+4E00 to
// U+9FFF, all of which are plain CJK.
func isHan(x uint32) bool {
	return x&0xC0C0F0 == 0x8080E0 && threeBytes(x)-0x4E00 < 0x5200
}

// isPlainCJK reports whether the low three bytes of x are a rune of that class.
func (e *Extractor) isPlainCJK(x uint32) bool {
	return x&0xC0C0F0 == 0x8080E0 && e.tables.class[threeBytes(x)] == plainCJK
}

// threeBytes is the rune whose three bytes of UTF-8 are the low ones of x.
func threeBytes(x uint32) uint32 {
	return x&0xF<<12 | x>>2&0xFC0 | x>>16&0x3F
}

// tighten takes back the space before a CJK character, if it follows another
// one, and returns where the character goes.
func (e *Extractor) tighten() int {
	if e.w > e.seg && e.buf[e.w-1] == ' ' && endsCJK(e.buf[e.seg:e.w-1]) {
		return e.w - 1
	}
	return e.w
}

// write appends runes as core makes them, spaces in order.
func (e *Extractor) write(form []byte) {
	for i := 0; i < len(form); {
		r, size := utf8.DecodeRune(form[i:])
		switch c := e.tables.of(r); {
		case r >= utf8.RuneSelf && c.isCJK():
			e.w = e.tighten()
			fallthrough
		case r >= utf8.RuneSelf && !isBlank(r):
			e.w += copy(e.buf[e.w:], form[i:i+size])
			e.wider += e.columns(r) - size
		case r < utf8.RuneSelf && r != ' ':
			e.buf[e.w] = form[i]
			e.w++
		case e.buf[e.w-1] != ' ':
			e.buf[e.w] = ' '
			e.w++
		}
		i += size
	}
}

// back returns where the cluster begins that the rune at i belongs to. Only a
// compound rune belongs to an earlier one, which then was copied already, as it
// stood, and is taken back.
func (e *Extractor) back(text []byte, start, i int, c class) int {
	if c.kind() != compound {
		return i
	}
	for j := i; j > start; {
		r, size := utf8.DecodeLastRune(text[start:j])
		j -= size
		switch c := e.tables.of(r); c.kind() {
		case ignorable:
		case space, dot, comma, quote: // nothing combines with these
			return i
		default:
			e.w -= size
			if r >= utf8.RuneSelf {
				e.wider -= c.width() - size
			}
			return j
		}
	}
	return i
}

// cluster appends the canonical form of one cluster, which begins at i, and
// returns where it ends: a character with the compound ones after it, or white
// space, or something to ignore. It looks no further than stop.
func (e *Extractor) cluster(text []byte, i, stop int) int {
	r, size := utf8.DecodeRune(text[i:])
	c := e.tables.of(r)
	switch c.kind() {
	case ignorable:
		return i + size
	case space:
		if e.buf[e.w-1] != ' ' {
			e.buf[e.w] = ' '
			e.w++
		}
		return i + size
	case dot, comma, quote: // one that joins
		e.buf[e.w] = joinByte[c.kind()]
		e.w++
		return i + size
	}
	end := e.clusterEnd(text, i+size, stop)
	switch {
	case end > i+size || c.kind() == compound:
		e.write(e.form(text[i:end]))
	case c.kind() == mapped:
		e.write(e.tables.forms[e.tables.form[r]])
	case size == 1:
		e.buf[e.w] = text[i]
		e.w++
	default:
		e.copyPlain(text, i, end)
	}
	return end
}

// clusterEnd goes past the compound runes at text[i:stop]; ignorable ones
// belong to the cluster when a compound one follows.
func (e *Extractor) clusterEnd(text []byte, i, stop int) int {
	end := i
	for i < stop && text[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(text[i:])
		c := e.tables.of(r)
		if !c.extends() {
			break
		}
		i += size
		if c.kind() == compound {
			end = i
		}
	}
	return end
}
