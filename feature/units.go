package feature

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// units counts the words of a canonical form of that width: every CJK character
// is one and, where others take room too, so is every stretch between spaces. "two words" has 2, "中文" 2, "用 linux 的" 6: a rule that
// needs no dictionary, and near enough for a weight.
func (t *tables) units(form []byte, width int) int {
	if len(form) == 0 {
		return 0
	}
	if width == len(form) { // every character that is not ASCII is narrower than its bytes
		return bytes.Count(form, oneSpace) + 1
	}
	cjk := t.countCJK(form)
	if width == 2*cjk {
		return cjk
	}
	return cjk + bytes.Count(form, oneSpace) + 1
}

var oneSpace = []byte{' '}

func (t *tables) countCJK(form []byte) (n int) {
	for i := 0; i < len(form); {
		if i+4 <= len(form) && isHan(binary.LittleEndian.Uint32(form[i:])) {
			n++
			i += 3
			continue
		}
		if form[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(form[i:])
		if t.of(r).isCJK() {
			n++
		}
		i += size
	}
	return n
}
