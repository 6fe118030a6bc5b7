package naive

import (
	"strings"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// readings caches the slow canontest for rules that decide the same texts, not concurrently.
var readings = map[string]reading{}

type reading struct {
	pieces []canontest.Piece
	spaced string // words and pieces
	whole  string // the text of the whole fingerprint
}

func read(text string) reading {
	const most = 4096
	r, known := readings[text]
	if !known {
		if len(readings) >= most {
			clear(readings)
		}
		r.pieces, r.spaced, r.whole = canontest.Read(text)
		readings[text] = r
	}
	return r
}

// Terms returns the terms of a text: words, and pairs of adjacent CJK characters.
func Terms(text string) (terms []string) {
	for stretch := range strings.SplitSeq(read(text).spaced, " ") {
		units := units(stretch)
		for i, unit := range units {
			before := i > 0 && isCJK(units[i-1])
			after := i+1 < len(units) && isCJK(units[i+1])
			switch {
			case !isCJK(unit):
				terms = append(terms, unit)
			case before:
				terms = append(terms, units[i-1]+unit)
			case !after:
				terms = append(terms, unit)
			}
		}
	}
	return terms
}

func isCJK(unit string) bool {
	r, _ := utf8.DecodeRuneInString(unit)
	return canontest.CJK(r)
}

// scanner returns words, which does not change it.
var scanner = canon.NewScanner()

// units returns the words of canonical text.
func units(form string) (all []string) {
	for unit, rest := scanner.NextUnit([]byte(form)); unit != nil; unit, rest = scanner.NextUnit(rest) {
		all = append(all, string(unit))
	}
	return all
}

// wordsOfPieces returns the hashes of the words of a text's segments. A segment too long for one
// piece counts by its whole form.
func wordsOfPieces(text string, pieces []canontest.Piece) (words []uint64) {
	for i := 0; i < len(pieces); {
		form, end := pieces[i].Form, i+1
		for end < len(pieces) && !separated(text, pieces[end-1].End, pieces[end].Start) {
			end++
		}
		if end > i+1 {
			form = canontest.Canonical(text[pieces[i].Start:pieces[end-1].End])
		}
		for _, unit := range units(form) {
			words = append(words, canon.HashUnit([]byte(unit)))
		}
		i = end
	}
	return words
}

// separated reports whether more than white space in a line is between two pieces.
func separated(text string, from, to int) bool {
	return to > from && (strings.TrimSpace(text[from:to]) != "" || strings.ContainsAny(text[from:to], "\n\r\v\f\u0085\u2028\u2029"))
}
