package feature

import (
	"encoding/binary"
	"unicode/utf8"
)

// units counts the words of a canonical form of that width in which there are
// so many CJK characters and spaces. Each of those is a word, and so is every stretch of
// others that take any room, between spaces or CJK characters: "two words" has
// 2, "中文" 2, "用linux的" 3. It is a rule that needs no dictionary, and near
// enough for a weight. Nearly all forms are all of one sort, which costs little.
func (t *tables) units(form []byte, width, cjk, spaces int) int {
	switch {
	case width == 2*cjk:
		return cjk
	case width == len(form): // all ASCII; others have fewer columns than bytes
		return spaces + 1
	}
	return cjk + t.stretches(form)
}

// stretches counts the words of a form that are not CJK characters.
func (t *tables) stretches(form []byte) (n int) {
	within := 0 // 1 if the last character was part of a stretch
	for i := 0; i < len(form); {
		if b := form[i]; b < utf8.RuneSelf {
			other := 0
			if b != ' ' {
				other = 1
			}
			n += other &^ within
			within = other
			i++
			continue
		}
		if i+4 <= len(form) && isHan(binary.LittleEndian.Uint32(form[i:])) {
			within = 0
			i += 3
			continue
		}
		r, size := utf8.DecodeRune(form[i:])
		switch c := t.of(r); {
		case c.isCJK():
			within = 0
		case columns(r) > 0:
			n += 1 &^ within
			within = 1
		}
		i += size
	}
	return n
}
