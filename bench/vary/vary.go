// Package vary makes labelled sets out of real articles. The same article is on pages of two web
// sites, scanned and read by a machine, or quoted by many before its copy comes. The same material
// and seed make the same set.
package vary

import (
	"math/rand/v2"
	"strings"
)

// An Article is a text from which others are made.
type Article struct {
	Title      string
	Paragraphs []string
}

// Material holds the texts for the sets of one language.
type Material struct {
	Language  string    // "en" or "zh"
	Articles  []Article // no two alike
	Sentences []string  // of other texts, no two the same
}

// A Set holds documents in the order of decision, and the pairs among them with one article.
type Set struct {
	Name  string
	Docs  []Doc
	Pairs []Pair
}

// A Doc is a document with the number of its article.
type Doc struct {
	ID, Text string
	Origin   int
}

// A Pair is two documents made of one article.
type Pair struct{ A, B, Label string }

func (s *Set) add(id, text string, origin int) {
	s.Docs = append(s.Docs, Doc{id, text, origin})
}

// source returns the random number generator of a set.
func source(seed uint64, name string) *rand.Rand {
	h := seed
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return rand.New(rand.NewPCG(seed, h))
}

// pool hands out sentences, each once until all were used.
type pool struct {
	sentences []string
	order     []int
	next      int
}

func newPool(sentences []string, rng *rand.Rand) *pool {
	return &pool{sentences: sentences, order: rng.Perm(len(sentences))}
}

func (p *pool) sentence() string {
	s := p.sentences[p.order[p.next%len(p.order)]]
	p.next++
	return s
}

// text returns a paragraph of at least this many bytes.
func (p *pool) text(bytes int, space string) string {
	var b strings.Builder
	for b.Len() < bytes {
		if b.Len() > 0 {
			b.WriteString(space)
		}
		b.WriteString(p.sentence())
	}
	return b.String()
}

// space returns the separator of sentences.
func (m *Material) space() string {
	if m.Language == "zh" {
		return ""
	}
	return " "
}

// Text returns the article alone, with a blank line between paragraphs.
func (a *Article) Text() string {
	return a.Title + "\n\n" + strings.Join(a.Paragraphs, "\n\n")
}
