// Package fold unifies what writers of one language spell in two ways: traditional Chinese and
// simplified, and letters with and without the marks that readers leave out. It is for comparing
// texts in canonical form, not for showing them. Exact copies are compared without it.
//
// These fold:
//
//   - a traditional Chinese character to its simplified one;
//   - a Latin or Greek letter to the one without accents, also đ, ł, ø, ħ, ŧ and ı; ё to е;
//   - Arabic tashkeel, Hebrew niqqud, tatweel and combining accents are left out, and so are the
//     hamza and madda on a letter.
//
// The vowel signs of Indic scripts and Thai, the sound marks of kana and the breve of й stay, since
// they distinguish words.
//
// The pairs of Chinese characters are those of TSCharacters.txt in OpenCC
// (https://github.com/BYVoid/OpenCC), Apache License 2.0, from the package
// opencc-python-reimplemented 0.1.7. Of several simplified characters, the first that differs
// counts. 著 folds to 着, which OpenCC leaves to its phrases.
package fold

import (
	_ "embed"
	"encoding/binary"
	"slices"
)

// packed has the folded runes, ascending: uvarint distance from the previous one, and uvarint of
// the rune it folds to. Like the tables of package canon, it is frozen. A new one changes
// fingerprints.
//
//go:generate go test -run TestTableIsGenerated -update
//go:embed fold.bin
var packed string

// table has the folded form of each rune below its length. All such forms are below it, too.
var table [1 << 16]uint16

// beyond has the runes above table that fold, ascending.
var beyond []pair

type pair struct{ from, to rune }

func init() { // 50 microseconds
	for r := range table {
		table[r] = uint16(r)
	}
	from := rune(0)
	for d := []byte(packed); len(d) > 0; {
		step, n := binary.Uvarint(d)
		to, m := binary.Uvarint(d[n:])
		d = d[n+m:]
		from += rune(step)
		if int(from) < len(table) {
			table[from] = uint16(to)
		} else {
			beyond = append(beyond, pair{from, rune(to)})
		}
	}
}

// Rune returns the rune that r folds to, or 0 if it is left out. Rune(Rune(r)) is Rune(r).
func Rune(r rune) rune {
	if uint32(r) < uint32(len(table)) {
		return rune(table[r])
	}
	return fromBeyond(r)
}

func fromBeyond(r rune) rune {
	i, found := slices.BinarySearchFunc(beyond, r, func(p pair, r rune) int { return int(p.from) - int(r) })
	if found {
		return beyond[i].to
	}
	return r
}
