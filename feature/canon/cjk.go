package canon

import "unicode/utf8"

// IsCJK reports whether a word, as returned by NextUnit, is a CJK character.
func (s *Scanner) IsCJK(unit []byte) bool {
	r, _ := utf8.DecodeRune(unit)
	return s.tables.of(r).isCJK()
}
