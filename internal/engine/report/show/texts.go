package show

import (
	"regexp"
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
	partRunes = 400  // shown of a part of a text
	sideRunes = 6000 // shown of a text
	foldPairs = 4    // pairs alike in a row of which only the first and the last are shown
)

// Pairs returns both texts side by side, or nil if they were not read. Of many pairs alike in a row,
// one without text on either side stands for all but the first and the last.
func (e *Example) Pairs() (shown []textdiff.Pair) {
	if !e.read || e.text == "" {
		return nil
	}
	all, room := textdiff.Pairs(e.text, e.other), sideRunes
	for len(all) > 0 && room > 0 {
		n := 0
		for n < len(all) && all[n].Alike {
			n++
		}
		if n < foldPairs {
			n = max(n, 1)
			for _, p := range all[:n] {
				shown = append(shown, shorten(p, &room))
			}
		} else {
			shown = append(shown, shorten(all[0], &room), textdiff.Pair{Alike: true}, shorten(all[n-1], &room))
		}
		all = all[n:]
	}
	if len(all) > 0 {
		shown = append(shown, textdiff.Pair{})
	}
	return shown
}

var blankLines = regexp.MustCompile(`\n\s*\n`)

// shorten makes a pair visible, and cuts long parts in their middle.
func shorten(p textdiff.Pair, room *int) textdiff.Pair {
	for _, side := range [][]textdiff.Part{p.Left, p.Right} {
		for i := range side {
			text := []rune(side[i].Text)
			if len(text) > partRunes {
				text = []rune(string(text[:partRunes/2]) + " … " + string(text[len(text)-partRunes/2:]))
			}
			*room -= len(text)
			side[i].Text = visibleLines(string(text))
		}
	}
	return p
}

// visibleLines makes every line visible, and keeps line ends, but of blank lines.
func visibleLines(text string) string {
	all := strings.Split(blankLines.ReplaceAllString(text, "\n"), "\n")
	for i := range all {
		all[i] = visible.Line(strings.TrimSuffix(all[i], "\r"))
	}
	return strings.Join(all, "\n")
}
