package short

import (
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/fold"
)

const (
	// maxWords and maxLetters bound what one record holds. A text of MaxUnits units rarely has more: only
	// Korean, whose syllables are words here, and units that are no words, such as keys and encoded bytes.
	maxWords   = 256
	maxLetters = 2048
)

// A word is a character of a script without spaces, a Hangul syllable, or a stretch of other letters.
type word struct {
	hash       uint64
	start, end uint16 // in the letters
	kind       kind
}

type kind uint8

const (
	single kind = 1 << iota // one character that is a word
	digits                  // has a digit
)

// words are the folded words of a text in order.
type words struct {
	letters []rune // of all words, without spaces
	list    []word
	width   int  // columns
	open    bool // the last word may go on
	full    bool // letters or words were left out
	cut     bool // the text says that it goes on
}

func (w *words) reset() {
	w.letters, w.list, w.width, w.open, w.full, w.cut = w.letters[:0], w.list[:0], 0, false, false, false
}

// add adds a folded rune. A space ends a word.
func (w *words) add(r rune) {
	if r == ' ' {
		w.open = false
		return
	}
	if r == ellipsis {
		w.cut = true
		return
	}
	alone, open := isSingle(r), w.open
	at := len(w.letters)
	if at == maxLetters || (alone || !open) && len(w.list) == maxWords {
		w.full = true
		return
	}
	w.letters = append(w.letters, r)
	w.width += columns(r)
	w.open = !alone
	if alone {
		w.list = append(w.list, word{mix(0, uint64(r)), uint16(at), uint16(at + 1), single})
		return
	}
	if !open {
		w.list = append(w.list, word{start: uint16(at)})
	}
	last := &w.list[len(w.list)-1]
	last.end = uint16(at + 1)
	last.hash = mix(last.hash, uint64(r))
	if isDigit(r) {
		last.kind = digits
	}
}

// mix is a step of a hash of words or runs.
func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

func (w *words) text(x word) []rune { return w.letters[x.start:x.end] }

// isSingle reports whether a character is a word of its own: those of scripts without spaces, and Hangul,
// where writers do not agree on the spaces.
func isSingle(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r >= 0x2E80: // Han, kana, bopomofo, Yi, and Hangul
		return r < 0xA4D0 || 0xAC00 <= r && r < 0xD7A4 || 0xF900 <= r && r < 0xFB00 || 0x1B000 <= r && r < 0x1B300 || r >= 0x20000
	}
	return r < 0x10A0 || 0x1780 <= r && r < 0x1800 // Thai, Lao, Tibetan, Burmese, Khmer
}

func isDigit(r rune) bool {
	return '0' <= r && r <= '9' || utf8.RuneSelf <= r && r < 0x2E80 && unicode.IsDigit(r)
}

// columns returns the width of a letter.
func columns(r rune) int {
	if r >= 0x2E80 {
		return 2
	}
	return 1
}

// columns returns the width of a word. All letters of one are of one width but for a few.
func (w *words) columns(x word) int { return int(x.end-x.start) * columns(w.letters[x.start]) }

// span returns the width of words.
func (w *words) span(list []word) (n int) {
	for _, x := range list {
		n += w.columns(x)
	}
	return n
}

// ellipsis is in no canonical form.
const ellipsis = '…'

// A record holds the letters in order, with a space between two words that need it. Bytes below 0x80 stand
// for themselves. Others have a leading byte:
//
//	0x80 to 0xF6  and one byte: U+2E80 on, up to Yi
//	0xF7 to 0xFD  and one byte: U+0080 on, up to Syriac
//	0xFE          and two bytes: another character of the basic plane
//	0xFF          and three bytes: any other
const (
	hanFirst   = 0x2E80
	hanLead    = 0x80
	otherFirst = 0x80
	otherLead  = 0xF7
	planeLead  = 0xFE
	beyondLead = 0xFF
)

func (w *words) appendRecord(dst []byte) []byte {
	for i, x := range w.list {
		if i > 0 && (x.kind|w.list[i-1].kind)&single == 0 {
			dst = append(dst, ' ')
		}
		for _, r := range w.text(x) {
			dst = appendRune(dst, r)
		}
	}
	if w.cut {
		dst = appendRune(dst, ellipsis)
	}
	return dst
}

func appendRune(dst []byte, r rune) []byte {
	switch v := r - hanFirst; {
	case r < 0x80:
		return append(dst, byte(r))
	case 0 <= v && v < (otherLead-hanLead)<<8:
		return append(dst, byte(hanLead+v>>8), byte(v))
	case r < otherFirst+(planeLead-otherLead)<<8:
		v = r - otherFirst
		return append(dst, byte(otherLead+v>>8), byte(v))
	case r < 0x10000:
		return append(dst, planeLead, byte(r>>8), byte(r))
	}
	return append(dst, beyondLead, byte(r>>16), byte(r>>8), byte(r))
}

var errRecord = errors.New("the record of a short text is damaged; make the index anew")

// load reads a record.
func (w *words) load(record []byte) error {
	w.reset()
	for i := 0; i < len(record); {
		b := record[i]
		if b < 0x80 {
			w.add(rune(b))
			i++
			continue
		}
		n := 2
		if b >= planeLead {
			n = 3 + int(b-planeLead)
		}
		if i+n > len(record) {
			return errRecord
		}
		v := rune(0)
		for _, c := range record[i+1 : i+n] {
			v = v<<8 | rune(c)
		}
		switch {
		case b < otherLead:
			v += rune(b-hanLead)<<8 + hanFirst
		case b < planeLead:
			v += rune(b-otherLead)<<8 + otherFirst
		case !utf8.ValidRune(v):
			return errRecord
		}
		w.add(v)
		i += n
	}
	if w.full {
		return errRecord
	}
	return nil
}

// addForm adds the words of a canonical form. A dot in a number separates, so that 4.2 is not 42. Commas
// and apostrophes within words are left out.
func (w *words) addForm(form []byte) {
	for i := 0; i < len(form); {
		r, size := rune(form[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(form[i:])
			r = fold.Rune(r)
		}
		i += size
		switch r {
		case 0, ',', '\'':
		default:
			w.add(r)
		}
	}
	w.add(' ')
}
