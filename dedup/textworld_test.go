package dedup_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// A textWorld draws texts made of each other: copied, edited, cut, shuffled, quoted, under menus.
// The real extractor makes the sketches.
type textWorld struct {
	rng       *rand.Rand
	extractor *feature.Extractor
	scheme    feature.Scheme
	menus     [2][]string
	famous    []string   // sentences that many quote
	earlier   [][]string // sentences of each document
	posts     []string
	text      string // of the document drawn last
}

// secrets are possible keys of a scheme.
var secrets = [][]byte{nil, []byte("0123456789abcdef"), []byte("another secret!!")}

func newTextWorld(seed uint64, key []byte) *textWorld {
	rng := rand.New(rand.NewPCG(seed, 8))
	scheme := feature.Scheme{Segments: []int{6, 12, 50, 50}[rng.IntN(4)], Key: key}
	e, err := feature.NewExtractor(scheme)
	if err != nil {
		panic(err)
	}
	w := &textWorld{rng: rng, extractor: e, scheme: scheme}
	for i := range w.menus {
		for range 6 + rng.IntN(10) {
			w.menus[i] = append(w.menus[i], w.words(3+rng.IntN(4)))
		}
	}
	w.famous = w.fresh(6 + rng.IntN(10))
	return w
}

// words returns a sentence of n words, in English or Chinese.
func (w *textWorld) words(n int) string {
	var b strings.Builder
	chinese := w.rng.IntN(3) == 0
	for range n {
		if chinese {
			b.WriteRune('一' + rune(w.rng.IntN(9000)))
			b.WriteRune('一' + rune(w.rng.IntN(9000)))
			continue
		}
		fmt.Fprintf(&b, "w%x ", w.rng.IntN(3000))
	}
	return strings.TrimSpace(b.String())
}

func (w *textWorld) fresh(n int) (sentences []string) {
	for range n {
		sentences = append(sentences, w.words(3+w.rng.IntN(14)))
	}
	return sentences
}

// document draws a document and returns its sketch.
func (w *textWorld) document() *feature.Sketch {
	d := w.draw()
	w.earlier = append(w.earlier, d)
	w.text = strings.Join(d, ". ")
	return w.extract(w.text)
}

func (w *textWorld) extract(text string) *feature.Sketch {
	var s feature.Sketch
	w.extractor.Extract(&s, []byte(text))
	return &s
}

func (w *textWorld) draw() []string {
	if len(w.earlier) == 0 {
		return w.fresh(12)
	}
	old := slices.Clone(w.earlier[w.rng.IntN(len(w.earlier))])
	switch w.rng.IntN(24) {
	case 0:
		return old
	case 1:
		return w.edit(old, 1)
	case 2:
		return w.edit(old, 4)
	case 3: // truncated
		return old[:w.rng.IntN(len(old)+1)]
	case 4:
		w.rng.Shuffle(len(old), func(i, j int) { old[i], old[j] = old[j], old[i] })
		return old
	case 5: // a quotation, or a longer edition
		return append(old, w.fresh(w.rng.IntN(1+2*len(old)))...)
	case 6: // joined with another
		both := append(old, w.earlier[w.rng.IntN(len(w.earlier))]...)
		return both[:min(60, len(both))]
	case 7: // single words
		return []string{w.words(w.rng.IntN(30))}
	case 8, 9: // a page that quotes the famous sentences
		return append(w.fresh(2*len(w.famous)+w.rng.IntN(20)), w.famous...)
	case 10, 15: // the famous sentences, edited
		return w.edit(w.famous, 1+w.rng.IntN(5))
	case 11, 16: // an article under the other menu
		return w.underMenu(w.withoutMenu(old))
	case 12, 13:
		return w.underMenu(w.fresh(8 + w.rng.IntN(16)))
	case 18, 19, 20, 21, 22, 23:
		return []string{w.post()}
	}
	return w.fresh(1 + w.rng.IntN(60))
}

// post draws a post, or one drawn before with a change.
func (w *textWorld) post() string {
	if len(w.posts) == 0 || w.rng.IntN(4) == 0 {
		w.posts = append(w.posts, fmt.Sprint(w.words(8+w.rng.IntN(12)), " ", w.rng.IntN(100), " ", w.words(2+w.rng.IntN(4))))
		return w.posts[len(w.posts)-1]
	}
	words := strings.Fields(w.posts[w.rng.IntN(len(w.posts))])
	at := w.rng.IntN(len(words))
	switch w.rng.IntN(9) {
	case 0: // other numbers, if not of hexadecimal words
		words[at] = fmt.Sprint(w.rng.IntN(100))
	case 1:
		words[at] = "another"
	case 2:
		words = slices.Insert(words, at, "not")
	case 3:
		words = slices.Insert(words, at, "more")
	case 4: // edited
		words[at] = "another"
		words = slices.Insert(words, w.rng.IntN(len(words)), "more")
	case 5:
		words = append(words, "#tag", "https://example.org/"+fmt.Sprint(w.rng.IntN(100)))
	case 6:
		words = append(words[:at], "…")
	case 7:
		words = append(words, w.words(1+w.rng.IntN(12)))
	case 8:
		words = append([]string{"//@somebody:"}, words...)
	}
	return strings.Join(words, " ")
}

// edit changes one character in one of every so many sentences.
func (w *textWorld) edit(sentences []string, every int) []string {
	sentences = slices.Clone(sentences)
	for i := w.rng.IntN(every); i < len(sentences); i += every {
		words := []rune(sentences[i])
		if len(words) > 0 {
			words[w.rng.IntN(len(words))] = 'x'
		}
		sentences[i] = string(words)
	}
	return sentences
}

func (w *textWorld) underMenu(sentences []string) []string {
	return append(slices.Clone(w.menus[w.rng.IntN(2)]), sentences...)
}

func (w *textWorld) withoutMenu(sentences []string) []string {
	return slices.DeleteFunc(sentences, func(s string) bool {
		return slices.Contains(w.menus[0], s) || slices.Contains(w.menus[1], s)
	})
}

// A drawer is a world of either kind.
type drawer interface{ document() *feature.Sketch }

// A watch names the ways of rules 6 to 9 by which documents came to their verdicts.
type watch struct {
	threshold float64
	kept      []*feature.Sketch
	holders   map[uint64]int
}

// see returns the ways of a result, and stores the document if it is kept or counted.
func (w *watch) see(set *feature.Sketch, r *dedup.Result) (ways []string) {
	if r.Of.Num != 0 && !r.Exact && r.Estimated {
		ways = w.ways(set, r)
	}
	if r.Counted {
		ways = append(ways, "counted")
	}
	share := float64(r.Of.Weight) / float64(wholeOf(set))
	if r.Verdict == dedup.Duplicate && !r.Exact && !r.Estimated && share < w.threshold {
		ways = append(ways, "by words")
	}
	if r.Kept || r.Counted {
		w.kept = append(w.kept, set)
		for _, key := range keysOf(set) {
			w.holders[key]++
		}
	}
	return ways
}

func (w *watch) ways(set *feature.Sketch, r *dedup.Result) (ways []string) {
	of := w.kept[r.Of.Num-1]
	a, b := runsOf(set), runsOf(of)
	longer := r.Contained * a / max(a, b)
	share := float64(r.Of.Weight) / float64(wholeOf(set))
	switch {
	case b > 2*a && r.Verdict == dedup.Related:
		return []string{"sketches object beside a longer one"}
	case b > 2*a:
		return []string{"contained in a longer one"}
	case r.New.To > 0:
		return []string{"a new passage"}
	case r.Verdict == dedup.Related && share >= w.threshold:
		return []string{"sketches forbid what segments allow"}
	case r.Verdict == dedup.Related && r.Score == r.Contained:
		return []string{"related by what is contained"}
	case r.Verdict != dedup.Duplicate:
		return nil
	case r.Score != r.Contained && (r.Score > longer+1e-9 || r.Score < longer-1e-9):
		return []string{"a menu"}
	case longer < w.threshold:
		ways = append(ways, "contained")
	}
	switch {
	case share >= .2:
		return append(ways, "by a fifth")
	case w.runKeys(set, of) > 0:
		return append(ways, "by run keys")
	}
	return ways
}

var allWays = []string{
	"by a fifth", "by run keys", "a menu", "contained",
	"related by what is contained", "sketches forbid what segments allow",
	"contained in a longer one", "a new passage", "counted", "by words",
}

func (w *watch) runKeys(a, b *feature.Sketch) (n int) {
	for _, f := range a.Features[a.Parts():] {
		if w.holders[f.Key] < dedup.MaxHolders && slices.Contains(keysOf(b), f.Key) {
			n++
		}
	}
	return n
}

func runsOf(set *feature.Sketch) float64 {
	runs, _ := binary.Uvarint(set.Data)
	return float64(runs)
}

func wholeOf(set *feature.Sketch) (units uint64) {
	if !set.Truncated {
		return set.Units
	}
	for _, f := range set.Features {
		units += uint64(f.Units)
	}
	return units
}
