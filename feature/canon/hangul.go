package canon

import "unicode/utf8"

// The composition of Hangul, by section 3.12 of the Unicode Standard. A leading consonant and a
// vowel form a syllable, to which a final consonant may be added.
const (
	leadBase     = 0x1100
	vowelBase    = 0x1161
	finalBase    = 0x11A7 // one before the first
	syllableBase = 0xAC00
	leads        = 19
	vowels       = 21
	finals       = 28 // including none
)

// combine appends the form of a cluster of several characters, or of one that may combine.
func (s *Scanner) combine(text []byte) {
	r, size := utf8.DecodeRune(text)
	alone := s.tables.of(r).kind() == compound && !s.tables.has(r, jamo)
	if alone || !s.tables.allJamo(text[size:]) {
		s.write(s.formOf(text))
		return
	}
	s.hangul(text)
}

// allJamo reports whether text has only Hangul vowels and final consonants.
func (t *tables) allJamo(text []byte) bool {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if !t.has(r, jamo) {
			return false
		}
		i += size
	}
	return true
}

// hangul appends the form of a character and following vowels and final consonants. Sighs (ㅠㅠㅠㅠ)
// have any length, and there are eleven thousand syllables: too many for the cache.
func (s *Scanner) hangul(text []byte) {
	var b [utf8.UTFMax]byte
	last := none // may compose with the next
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		form := s.tables.formOf(r, text[i:i+size])
		i += size
		next, n := utf8.DecodeRune(form)
		if n < len(form) { // only the first character can have such a form, which does not end in Hangul
			s.write(form)
			continue
		}
		if both := compose(last, next); both != none {
			last = both
			continue
		}
		if last != none {
			s.write(utf8.AppendRune(b[:0], last))
		}
		last = next
	}
	if last != none {
		s.write(utf8.AppendRune(b[:0], last))
	}
}

// compose returns the syllable that two characters form, or none.
func compose(a, b rune) rune {
	lead, vowel, final, syllable := a-leadBase, b-vowelBase, b-finalBase, a-syllableBase
	switch {
	case 0 <= lead && lead < leads && 0 <= vowel && vowel < vowels:
		return syllableBase + (lead*vowels+vowel)*finals
	case 0 <= syllable && syllable < leads*vowels*finals && syllable%finals == 0 && 0 < final && final < finals:
		return a + final
	}
	return none
}
