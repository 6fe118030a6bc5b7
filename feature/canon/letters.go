package canon

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/fold"
	"github.com/firstseen/firstseen/feature/canon/vector"
)

// letterCode spreads a character over the bytes that stand for it: 2^32 over the golden ratio.
const letterCode = 0x9E3779B1

// isLetter is 1 for the bytes of ASCII letters and digits of a canonical form.
var isLetter = func() (is [utf8.RuneSelf]uint8) {
	for b := range is {
		if 'a' <= b && b <= 'z' || '0' <= b && b <= '9' {
			is[b] = 1
		}
	}
	return is
}()

// AppendLetters is like AppendUnits, for letters. A letter is a byte: of ASCII itself, of another
// character a hash. Wide characters, Han, kana and Hangul, have three. Letters are folded (see
// package fold). Spaces, symbols in ASCII and marks that fold away have none.
func (s *Scanner) AppendLetters(dst []byte) []byte {
	for _, p := range s.spans {
		dst = s.appendLetters(dst, s.buf[p.start:p.end])
	}
	return dst
}

// Letters returns the number of letters of the piece.
func (s *Scanner) Letters() int { return len(s.appendLetters(nil, s.Form())) }

func (s *Scanner) appendLetters(dst, form []byte) []byte {
	at := len(dst)
	dst = slices.Grow(dst, len(form)+8)[:at+len(form)+8] // no character has more letters than bytes
	for i := 0; i < len(form); {
		if i+16 < len(form) && form[i+1]|form[i+16] < utf8.RuneSelf {
			read, written := vector.Letters(dst[at:], form[i:])
			i, at = i+read, at+written
		}
		for ; i < len(form) && form[i] < utf8.RuneSelf; i++ {
			dst[at] = form[i]
			at += int(isLetter[form[i]])
		}
		for i+4 <= len(form) && isHan(binary.LittleEndian.Uint32(form[i:])) {
			r := rune(form[i]&0xF)<<12 | rune(form[i+1]&0x3F)<<6 | rune(form[i+2]&0x3F)
			binary.LittleEndian.PutUint32(dst[at:], uint32(fold.Rune(r))*letterCode>>8)
			i, at = i+3, at+3
		}
		if i < len(form) && form[i] >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(form[i:])
			code := s.tables.letters(r)
			binary.LittleEndian.PutUint32(dst[at:], uint32(code))
			i, at = i+size, at+int(code>>32)
		}
	}
	return dst[:at]
}

// letters returns the letters of a character of a canonical form in the low bytes, and their number
// in the high half.
func (t *tables) letters(r rune) uint64 {
	f := fold.Rune(r)
	code := uint64(uint32(f) * letterCode)
	switch {
	case f == 0:
		return 0
	case f < utf8.RuneSelf:
		return uint64(f) | uint64(isLetter[f])<<32
	case t.of(f).width() == 2:
		return code>>8 | 3<<32
	}
	return code>>24 | 1<<32
}
