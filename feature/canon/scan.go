package canon

import "unicode/utf8"

// scan appends the canonical form of the segment beginning at start, from i on. It returns its
// position, and whether it stopped at a separator. Otherwise it stopped at the end of the text or
// at maxRun bytes.
//
// Tight loops copy ASCII words and runs of plain runes, which make up nearly all of most texts. The
// rest goes by clusters: a character with the following ones that may combine with it.
func (s *Scanner) scan(text []byte, start, i int) (int, bool) {
	stop := min(len(text), start+maxRun)
	for i < stop {
		var c class
		size := 1
		if b := text[i]; b >= utf8.RuneSelf {
			if i, c, size = s.copyPlain(text, i, stop); size == 0 {
				continue
			}
		} else if c = s.tables.ascii[b].class; !c.separates() {
			if last := s.buf[s.w-1]; last >= utf8.RuneSelf || last == ' ' && s.w > s.seg {
				if i = s.afterCJK(text, i, stop, c); i == stop {
					break
				}
			}
			s.w, i = copyASCII(s.buf, text[:stop], s.w, i, &s.tables.ascii)
			continue
		}
		switch {
		case size == 1 && s.isSoft(text[i], i):
			s.addSpace()
			i++
		case !c.separates():
			i = s.cluster(text, s.back(text, start, i, c), stop)
		case i > start && c.kind() <= quote && s.joins(text, i, size, c):
			s.buf[s.w] = joinByte[c.kind()]
			s.w++
			i += size
		default:
			return i, true
		}
	}
	return i, false
}

// addSpace appends a space unless one is already there.
func (s *Scanner) addSpace() {
	if s.buf[s.w-1] != ' ' {
		s.buf[s.w] = ' '
		s.w++
	}
}

func (s *Scanner) dropSpace() {
	if s.w > s.seg && s.buf[s.w-1] == ' ' {
		s.w--
	}
}

// tighten removes a space of mere layout before a rune of class c.
func (s *Scanner) tighten(c class) {
	if s.w > s.seg && s.buf[s.w-1] == ' ' && s.tables.layout(s.buf[s.seg:s.w-1], c) {
		s.dropSpace()
	}
}

// afterCJK prepares for copying ASCII of class c at text[i:stop]. After a CJK character it skips
// spaces or removes one. It returns its position. Spaces before a rune outside ASCII are left to
// the code for that rune.
func (s *Scanner) afterCJK(text []byte, i, stop int, c class) int {
	if c.kind() != space {
		s.tighten(c)
		return i
	}
	end := s.w
	if end > s.seg && s.buf[end-1] == ' ' { // white space outside ASCII
		end--
	}
	if s.buf[end-1] < utf8.RuneSelf || !s.tables.endsCJK(s.buf[s.seg:end]) {
		return i
	}
	n := i
	for n < stop && s.tables.ascii[text[n]].class.kind() == space {
		n++
	}
	if n < stop && text[n] >= utf8.RuneSelf {
		return i
	}
	s.dropSpace()
	return n
}

// write appends runes from core, and normalizes their spaces.
func (s *Scanner) write(form []byte) {
	for i := 0; i < len(form); {
		r, size := utf8.DecodeRune(form[i:])
		if !isSpace(r) {
			s.addRune(form[i:i+size], s.tables.of(r).standing())
		} else {
			s.addSpace()
		}
		i += size
	}
}

// back returns the start of the cluster that includes the rune at i. Only a compound rune belongs
// to an earlier cluster. back then removes the earlier rune, which was copied unchanged.
func (s *Scanner) back(text []byte, start, i int, c class) int {
	if c.kind() != compound {
		return i
	}
	for j := i; j > start; {
		r, size := utf8.DecodeLastRune(text[start:j])
		j -= size
		switch c := s.tables.of(r); c.kind() {
		case ignorable:
		case space, dot, comma, quote, punct: // nothing combines with these
			return i
		default:
			s.w -= size
			if r >= utf8.RuneSelf {
				s.wider -= c.width() - size
			}
			if c.isCJK() {
				s.cjk--
			}
			return j
		}
	}
	return i
}

// cluster appends the canonical form of the cluster at i and returns its end. A cluster is a
// character with the compound ones after it, white space, or an ignorable rune. It ends at or
// before stop.
func (s *Scanner) cluster(text []byte, i, stop int) int {
	r, size := utf8.DecodeRune(text[i:])
	c := s.tables.of(r)
	switch c.kind() {
	case ignorable:
		return i + size
	case space, punct: // a soft line end
		s.addSpace()
		return i + size
	case dot, comma, quote: // joins a number or a word
		s.buf[s.w] = joinByte[c.kind()]
		s.w++
		return i + size
	}
	end := s.clusterEnd(text, i+size, stop)
	switch {
	case end > i+size || c.kind() == compound:
		s.combine(text[i:end])
	case c.kind() == mapped:
		s.write(s.tables.formOf(r, text[i:end]))
	default:
		s.addRune(text[i:end], c)
	}
	return end
}

// clusterEnd skips the compound runes at text[i:stop]. Ignorable runes belong to the cluster if a
// compound one follows.
func (s *Scanner) clusterEnd(text []byte, i, stop int) int {
	end := i
	for i < stop && text[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(text[i:])
		c := s.tables.of(r)
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
