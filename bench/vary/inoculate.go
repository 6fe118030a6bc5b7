package vary

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// ownText is the length of the other text on a quoting page, in lengths of the article: enough to
// be kept.
const ownText = 3

// Inoculated returns a set in which each article is followed by pages that quote it whole, and then
// by its pair. The pair is a copy with a tenth of the sentences, at least one, rewritten.
func Inoculated(m *Material, articles, quoting int, seed uint64) *Set {
	s := &Set{Name: fmt.Sprintf("inoculation_%s_%d", m.Language, quoting)}
	rng := source(seed, s.Name)
	others := newPool(m.Sentences, rng)
	for i := range articles {
		a := &m.Articles[i]
		id := fmt.Sprintf("%s-%03d", s.Name, i)
		s.add(id, a.Text(), i)
		for q := range quoting {
			s.add(fmt.Sprintf("%s-quote%d", id, q), quote(a, others, m.space()), i)
		}
		s.add(id+"-copy", rewritten(a, others, rng, m.space()), i)
		s.Pairs = append(s.Pairs, Pair{id, id + "-copy", fmt.Sprintf("quoted:%d", quoting)})
	}
	return s
}

// quote returns a page of other text with the article in its middle.
func quote(a *Article, others *pool, space string) string {
	text := a.Text()
	half := ownText * len(text) / 2
	return others.text(half, space) + "\n\n" + text + "\n\n" + others.text(half, space)
}

// rewritten returns the article with one sentence in ten replaced.
func rewritten(a *Article, others *pool, rng *rand.Rand, space string) string {
	var paragraphs [][]string
	var where [][2]int // of each sentence: paragraph, place in it
	for p, paragraph := range a.Paragraphs {
		paragraphs = append(paragraphs, Sentences(paragraph))
		for i := range paragraphs[p] {
			where = append(where, [2]int{p, i})
		}
	}
	rng.Shuffle(len(where), func(i, j int) { where[i], where[j] = where[j], where[i] })
	for _, at := range where[:min(len(where), max(1, len(where)/10))] {
		paragraphs[at[0]][at[1]] = others.sentence()
	}
	out := []string{a.Title}
	for _, p := range paragraphs {
		out = append(out, strings.Join(p, space))
	}
	return strings.Join(out, "\n\n")
}
