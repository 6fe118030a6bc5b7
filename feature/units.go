package feature

import (
	"encoding/binary"
	"unicode/utf8"
)

// units counts the words of the piece under way, of that width. A CJK character
// is a word, and so is every stretch of others that take any room, between
// spaces or CJK characters: "two words" has 2, "中文" 2, "用linux的" 3. It is a
// rule that needs no dictionary, and near enough for a weight. Nearly all pieces
// are all of one sort, and what was counted while copying says it.
func (e *Extractor) units(width int) int {
	switch {
	case width == 2*e.cjk:
		return e.cjk
	case e.cjk == 0 && !e.loose:
		return e.spaces + 1
	}
	return e.tables.countWords(e.buf[e.seg:e.w])
}

// countWords counts the words of a canonical form.
func (t *tables) countWords(form []byte) int {
	var words wordCounter
	for i := 0; i < len(form); {
		switch {
		case form[i] < utf8.RuneSelf:
			words.add(rune(form[i]), plain|1<<widthShift)
			i++
		case i+4 <= len(form) && isHan(binary.LittleEndian.Uint32(form[i:])):
			words.add(0, plainCJK)
			i += 3
		default:
			r, size := utf8.DecodeRune(form[i:])
			words.add(r, t.of(r).standing())
			i += size
		}
	}
	return words.n
}

// A wordCounter counts words rune by rune.
type wordCounter struct {
	n      int
	within bool // the last rune with any width is in a stretch of others
}

func (w *wordCounter) add(r rune, c class) {
	switch {
	case r == ' ':
		w.within = false
	case c.isCJK():
		w.n++
		w.within = false
	case c.width() > 0 && !w.within:
		w.n++
		w.within = true
	}
}
