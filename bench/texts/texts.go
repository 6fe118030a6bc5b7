// Package texts makes short documents that share nothing, and their copies, from a seed.
package texts

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Maker makes texts. It is for one goroutine.
type Maker struct {
	rng  *rand.Rand
	Made [][]string // the sentences of each original, in order
}

// New returns a maker whose texts follow from the seed.
func New(seed uint64) *Maker {
	return &Maker{rng: rand.New(rand.NewPCG(seed, 7))}
}

// sentence returns a sentence that no other call returns: nine or more numbers of 24 bits.
func (t *Maker) sentence() string {
	words := make([]string, 9+t.rng.IntN(8))
	for i := range words {
		words[i] = spell(t.rng.Uint64() >> 40)
	}
	return strings.Join(words, " ") + "."
}

// spell writes a number as a word of consonants and vowels.
func spell(n uint64) string {
	var b []byte
	for n > 0 {
		b = append(b, "bdfgklmnprstvz"[n%14], "aeiou"[n/14%5])
		n /= 70
	}
	return string(b)
}

// Unique returns a new document of a few sentences.
func (t *Maker) Unique() []string {
	doc := make([]string, 4+t.rng.IntN(24))
	for i := range doc {
		doc[i] = t.sentence()
	}
	t.Made = append(t.Made, doc)
	return doc
}

func (t *Maker) earlier() []string { return t.Made[t.rng.IntN(len(t.Made))] }

// Next returns a document of any kind: half are new; the others are exact copies, near copies,
// quotations and documents assembled from three.
func (t *Maker) Next() []string {
	if len(t.Made) < 10 {
		return t.Unique()
	}
	switch kind := t.rng.IntN(20); {
	case kind < 10:
		return t.Unique()
	case kind < 14:
		return t.earlier()
	case kind < 17:
		near := append([]string{}, t.earlier()...)
		near[t.rng.IntN(len(near))] = t.sentence()
		return near
	case kind < 18:
		return append(append([]string{}, t.Unique()...), t.earlier()[:4]...)
	}
	var mosaic []string
	for range 3 {
		mosaic = append(mosaic, t.earlier()[:4]...)
	}
	return mosaic
}

// Line returns a text as a line of JSON with its end.
func Line(id string, sentences []string) string {
	return fmt.Sprintf("{\"id\":%q,\"text\":%q}\n", id, strings.Join(sentences, " "))
}
