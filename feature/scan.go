package feature

import "unicode/utf8"

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
			if last := e.buf[e.w-1]; last >= utf8.RuneSelf || last == ' ' && e.w > e.seg {
				if i = e.afterCJK(text, i, stop, c); i == stop {
					break
				}
			}
			var spaces int
			e.w, i, spaces = copyASCII(e.buf, text[:stop], e.w, i, &e.tables.ascii)
			e.spaces += spaces
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

// addSpace appends a space, if there is something it separates from what comes.
func (e *Extractor) addSpace() {
	if e.buf[e.w-1] != ' ' {
		e.buf[e.w] = ' '
		e.w++
		e.spaces++
	}
}

// dropSpace takes the space at the end of the piece back, if there is one.
func (e *Extractor) dropSpace() {
	if e.w > e.seg && e.buf[e.w-1] == ' ' {
		e.w--
		e.spaces--
	}
}

// tighten takes back a space that is mere layout before a rune of class c.
func (e *Extractor) tighten(c class) {
	if e.w > e.seg && e.buf[e.w-1] == ' ' && e.tables.layout(e.buf[e.seg:e.w-1], c) {
		e.dropSpace()
	}
}

// afterCJK makes ready to copy ASCII of class c at text[i:stop]: after a CJK
// character it goes past spaces, or takes back one, and returns where it came
// to. Whether spaces before a rune outside ASCII stay is known there.
func (e *Extractor) afterCJK(text []byte, i, stop int, c class) int {
	if c.kind() != space {
		e.tighten(c)
		return i
	}
	end := e.w
	if end > e.seg && e.buf[end-1] == ' ' { // white space outside ASCII
		end--
	}
	if e.buf[end-1] < utf8.RuneSelf || !e.tables.endsCJK(e.buf[e.seg:end]) {
		return i
	}
	n := i
	for n < stop && e.tables.ascii[text[n]].class.kind() == space {
		n++
	}
	if n < stop && text[n] >= utf8.RuneSelf {
		return i
	}
	e.dropSpace()
	return n
}

// write appends runes as core makes them, spaces in order.
func (e *Extractor) write(form []byte) {
	for i := 0; i < len(form); {
		r, size := utf8.DecodeRune(form[i:])
		if !isSpace(r) {
			e.addRune(form[i:i+size], e.tables.of(r).standing())
		} else {
			e.addSpace()
		}
		i += size
	}
}

// writeRune appends the form of a mapped rune or a symbol, whose bytes are text.
func (e *Extractor) writeRune(text []byte, r rune) {
	if form := e.tables.formOf(r); form != nil {
		text = form
	}
	e.write(text)
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
			if c.isCJK() {
				e.cjk--
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
		e.addSpace()
		return i + size
	case dot, comma, quote: // one that joins
		e.buf[e.w] = joinByte[c.kind()]
		e.w++
		return i + size
	}
	end := e.clusterEnd(text, i+size, stop)
	switch {
	case end > i+size || c.kind() == compound:
		e.combine(text[i:end])
	case c.kind() == mapped:
		e.write(e.tables.formOf(r))
	default:
		e.addRune(text[i:end], c)
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
