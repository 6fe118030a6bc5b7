package gen

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// tables holds the parts of documents, drawn from the seed.
type tables struct {
	english, chinese language
}

// language holds one language's tables.
type language struct {
	templates []template
	words     [4096]uint64 // for the holes, eight bytes each
	marks     [32]mark
	stop      string
	menus     [sites]string
}

// template is a clause with three holes.
type template struct {
	text  [maxTemplate]byte
	size  uint8
	width uint8 // columns of its one segment
	short bool  // holes have 6 bytes, not 8
	holes [3]uint8
}

// mark separates two clauses.
type mark struct {
	text string
	ends bool // ends a sentence
}

const (
	maxTemplate   = 180
	templateCount = 8192 // 1.6 MB per language
	vocabulary    = 5000
)

func (t *tables) of(chinese bool) *language {
	if chinese {
		return &t.chinese
	}
	return &t.english
}

func newTables(seed uint64) *tables {
	rng := rand.New(rand.NewPCG(seed, 0x67656e))
	t := &tables{}
	t.english.fill(rng, englishWords(rng), " ", englishLeads, englishMarks)
	t.chinese.fill(rng, chineseWords(rng), "", chineseLeads, chineseMarks)
	t.english.stop, t.chinese.stop = ".", "。"
	for i := range t.english.words {
		t.english.words[i] = englishRare(i)
	}
	first, second := chineseRunes(rng, 64), chineseRunes(rng, 64)
	for i := range t.chinese.words {
		t.chinese.words[i] = pack(string(first[i&63]) + string(second[i>>6]))
	}
	return t
}

func pack(s string) (x uint64) {
	for i := range len(s) {
		x |= uint64(s[i]) << (8 * i)
	}
	return x
}

// fill draws templates and menus from the words.
func (l *language) fill(rng *rand.Rand, words []string, space string, leads []string, marks string) {
	pick := newZipf(len(words))
	l.templates = make([]template, templateCount)
	for i := range l.templates {
		t := &l.templates[i]
		for !t.draw(rng, words, pick, space, leads) {
		}
	}
	names := strings.Fields(marks)
	for i := range l.marks {
		text := strings.ReplaceAll(names[rng.IntN(len(names))], "_", " ")
		l.marks[i] = mark{text, strings.ContainsAny(text, ".?!。？！")}
	}
	for i := range l.menus {
		var items []string
		for range 5 + rng.IntN(4) {
			items = append(items, words[rng.IntN(200)])
		}
		l.menus[i] = strings.Join(items, " | ")
	}
}

// draw draws a template, or returns false if it is too long.
func (t *template) draw(rng *rand.Rand, words []string, pick zipf, space string, leads []string) bool {
	*t = template{short: space == "" || rng.IntN(3) == 0}
	hole := strings.Repeat("#", 8)
	if t.short {
		hole = hole[:6]
	}
	// 3 to 12 words beside the holes; few templates have many.
	count := 3 + min(rng.IntN(10), rng.IntN(12))
	parts := make([]string, 0, 20)
	for range count {
		parts = append(parts, words[pick.draw(rng)])
	}
	for range 3 {
		parts = slices.Insert(parts, rng.IntN(len(parts)+1), hole)
	}
	text := strings.Join(parts, space)
	if rng.IntN(16) == 0 {
		text = leads[rng.IntN(len(leads))] + text
	}
	if len(text) > maxTemplate {
		return false
	}
	t.size = uint8(copy(t.text[:], text))
	t.width = uint8(columns(strings.Join(parts, space)))
	if space == "" {
		t.width -= 6 // three holes of 6 bytes are two characters each
	}
	at := 0
	for i := range t.holes {
		at += strings.Index(text[at:], hole)
		t.holes[i] = uint8(at)
		at += len(hole)
	}
	return true
}

func columns(s string) int {
	wide := (len(s) - utf8.RuneCountInString(s)) / 2 // all non-ASCII characters have three bytes
	return utf8.RuneCountInString(s) + wide
}

// zipf draws ranks by Zipf's law: rank r with a probability of about 1/r.
type zipf struct{ n float64 }

func newZipf(n int) zipf { return zipf{float64(n)} }

func (z zipf) draw(rng *rand.Rand) int {
	return int(math.Pow(z.n, rng.Float64())) - 1
}
