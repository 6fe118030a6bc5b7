package show

import (
	"strings"

	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/compare/textdiff"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// maxText is the most bytes of a text to compare.
const maxText = 64 << 10

// Texts adds the inputs to a digest: the sizes of texts to the totals, and both texts to examples.
type Texts struct {
	d       *Digest
	totals  totals
	byPlace map[string][]*Example // examples by their place
	byID    map[string][]*Example // examples by the id of their source
}

// ReadTexts prepares the digest for the documents of the report's inputs.
func (d *Digest) ReadTexts() *Texts {
	t := &Texts{d: d, totals: totals{}, byPlace: map[string][]*Example{}, byID: map[string][]*Example{}}
	for i := range d.Examples {
		e := &d.Examples[i]
		t.byPlace[e.Where] = append(t.byPlace[e.Where], e)
		if e.Of != "" {
			t.byID[e.Of] = append(t.byID[e.Of], e)
		}
	}
	return t
}

// Add adds a document with its line of the report, or nil. Documents come in the order of the
// inputs. The first with the id of a source is taken for the source.
func (t *Texts) Add(id, text []byte, l *lines.Line) {
	t.totals.count(l, int64(len(text)))
	if examples := t.byID[string(id)]; examples != nil {
		delete(t.byID, string(id))
		for _, e := range examples {
			e.other, e.read = beginning(text), true
		}
	}
	if l != nil {
		for _, e := range t.byPlace[whereOf(l)] {
			e.text = beginning(text)
		}
	}
}

// Close replaces the totals of the report by those of the inputs.
func (t *Texts) Close() { t.d.Totals = t.totals.list() }

func whereOf(l *lines.Line) string { return l.File + ":" + l.Line.String() }

// beginning returns the first maxText bytes of a text, in whole characters.
func beginning(text []byte) string {
	if len(text) <= maxText {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:maxText]), "") + " …"
}

const (
	sharedRunes = 160  // shown of a shared stretch
	onlyRunes   = 400  // shown of a differing stretch
	sideRunes   = 4000 // shown of a text
)

// Sides returns both texts as marked parts, or nil if they were not read.
func (e *Example) Sides() [][]textdiff.Part {
	if !e.read || e.text == "" {
		return nil
	}
	left, right := textdiff.Parts(e.text, e.other)
	return [][]textdiff.Part{folded(left), folded(right)}
}

// folded shortens long stretches in their middle, and a long text at its end.
func folded(parts []textdiff.Part) (shown []textdiff.Part) {
	room := sideRunes
	for _, p := range parts {
		if room <= 0 {
			return append(shown, textdiff.Part{Text: "…"})
		}
		most := sharedRunes
		if p.Only {
			most = onlyRunes
		}
		text := []rune(p.Text)
		room -= min(len(text), most)
		if len(text) > most {
			text = []rune(string(text[:most/2]) + " … " + string(text[len(text)-most/2:]))
		}
		p.Text = visibleLines(string(text))
		shown = append(shown, p)
	}
	return shown
}

// visibleLines makes every line visible, and keeps line ends.
func visibleLines(text string) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = visible.Line(strings.TrimSuffix(all[i], "\r"))
	}
	return strings.Join(all, "\n")
}
