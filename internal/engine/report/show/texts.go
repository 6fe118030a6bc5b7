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

// Add adds a document with its line of the report, or nil, and its group for a map by inputs or
// fields. Documents come in the order of the inputs. The first with the id of a source is taken for
// the source.
func (t *Texts) Add(id, text []byte, l *lines.Line, group string) {
	t.totals.count(l, int64(len(text)))
	t.d.course.document(l != nil && !l.Kept)
	if g := t.d.groups; g.fromInputs() {
		from := g.number(visible.Line(group))
		if g.meet(id, from); l != nil {
			t.d.place(l, from, func() uint16 { return g.source(*l.Of) })
		}
	}
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

// Close replaces the totals and the map of the report by those of the inputs.
func (t *Texts) Close() { t.d.Totals, t.d.Map = t.totals.list(), t.d.groups.chart() }

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

// Sides returns both texts as rows of marked parts, or nil if they were not read.
func (e *Example) Sides() (rows []textdiff.Row) {
	if !e.read || e.text == "" {
		return nil
	}
	room := sideRunes
	for _, row := range textdiff.Rows(e.text, e.other) {
		if room <= 0 {
			cut := []textdiff.Part{{Text: "…"}}
			return append(rows, textdiff.Row{Left: cut, Right: cut})
		}
		room -= max(fold(row.Left), fold(row.Right))
		rows = append(rows, row)
	}
	return rows
}

// fold shortens long stretches in their middle, and cuts the white space around. It returns the
// number of characters left.
func fold(parts []textdiff.Part) (runes int) {
	for i, p := range parts {
		if i == 0 {
			p.Text = strings.TrimLeft(p.Text, " \t\r\n")
		}
		if i == len(parts)-1 {
			p.Text = strings.TrimRight(p.Text, " \t\r\n")
		}
		most := sharedRunes
		if p.Only {
			most = onlyRunes
		}
		text := []rune(p.Text)
		if len(text) > most {
			text = []rune(string(text[:most/2]) + " … " + string(text[len(text)-most/2:]))
		}
		runes += len(text)
		parts[i].Text = visibleLines(string(text))
	}
	return runes
}

// visibleLines makes every line visible, and keeps line ends.
func visibleLines(text string) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = visible.Line(strings.TrimSuffix(all[i], "\r"))
	}
	return strings.Join(all, "\n")
}
