package canon

import (
	"encoding/binary"
	"unicode/utf8"
)

// gap goes past the separators at text[i:] and all else that cannot begin a segment: white space,
// ignorable runes, marks. Marks belong to the separator before them as they do in its precomposed
// form (U+2260 is "=" and U+0338). Symbols become words of the canonical text; gap stops early if
// that text is to be handed over.
func (s *Scanner) gap(text []byte, i int) int {
	for i < len(text) && s.w <= flushAt {
		if b := text[i]; b < utf8.RuneSelf {
			if s.tables.ascii[b].gap == content {
				return i
			}
			i = s.gapASCII(text, i)
			continue
		}
		if i+4 <= len(text) && isHan(binary.LittleEndian.Uint32(text[i:])) {
			return i
		}
		switch c, size := s.tables.at(text, i); {
		case c.kind() == symbol:
			end := s.skipMarks(text, i+size)
			s.symbol(text[i:min(end, i+maxSymbol)])
			i = end
		case c.separates() || c.blank() || c.isMark():
			i += size
		default:
			return i
		}
	}
	return i
}

// gapASCII is gap as far as ASCII goes. In code every third byte comes here; one
// branch, whether there is another, is hard to foresee.
func (s *Scanner) gapASCII(text []byte, i int) int {
	w, from := s.w, i
	for i < len(text) {
		a := s.tables.ascii[text[i]]
		if a.gap == content {
			break
		}
		s.buf[w], s.buf[w+1] = text[i], ' '
		w, i = w+int(a.gap), i+1
		if w > flushAt {
			break
		}
	}
	s.begin(w)
	if i > from && s.tables.ascii[text[i-1]].gap == gapSymbol {
		if end := s.skipMarks(text, i); end > i { // the symbol has marks
			s.begin(w - gapSymbol)
			s.symbol(text[i-1 : min(end, i-1+maxSymbol)])
			i = end
		}
	}
	return i
}

// symbol adds a symbol with its marks, in canonical form, to the canonical text.
func (s *Scanner) symbol(text []byte) {
	if r, size := utf8.DecodeRune(text); size == len(text) {
		s.writeRune(text, r)
	} else {
		for !utf8.Valid(text) { // the limit is within a mark
			text = text[:len(text)-1]
		}
		s.write(s.formOf(text))
	}
	s.dropSpace()
	if s.w > s.seg {
		s.apart = true
		s.space()
	}
	s.begin(s.seg)
}

// skipMarks goes past marks and ignorable runes.
func (s *Scanner) skipMarks(text []byte, i int) int {
	for i < len(text) && text[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(text[i:])
		if c := s.tables.of(r); !c.isMark() && c.kind() != ignorable {
			break
		}
		i += size
	}
	return i
}
