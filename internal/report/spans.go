package report

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// Spans returns the passages of a document that its source has too, or all its sources if it has
// several. Each has its first character and the one behind its last, counted in code points from 0,
// in the order of the text. They are the shared segments; at most as many are known as features are
// chosen. For an exact copy the span is all of the text. If the filter alone decided, the spans are
// unknown, and there are none. The result is not nil.
func Spans(r *dedup.Result, set *feature.Set, text []byte) [][2]int {
	if r.Exact {
		return [][2]int{{0, utf8.RuneCount(text)}}
	}
	var passages [][2]int // in bytes
	for _, i := range r.SharedSegments {
		f := &set.Features[i]
		whole := text[f.Start:f.End]
		inner := bytes.TrimSpace(whole)
		start := int(f.Start) + bytes.Index(whole, inner)
		passages = append(passages, [2]int{start, start + len(inner)})
	}
	slices.SortFunc(passages, func(a, b [2]int) int { return a[0] - b[0] })
	return inCharacters(passages, text)
}

// inCharacters turns places in bytes, ascending, into those in characters.
func inCharacters(passages [][2]int, text []byte) [][2]int {
	spans := make([][2]int, 0, len(passages))
	at, chars := 0, 0
	count := func(to int) int {
		chars += utf8.RuneCount(text[at:to])
		at = to
		return chars
	}
	for _, p := range passages {
		if p[0] < at { // no two segments overlap; features of another method may
			at, chars = 0, 0
		}
		spans = append(spans, [2]int{count(p[0]), count(p[1])})
	}
	return spans
}
