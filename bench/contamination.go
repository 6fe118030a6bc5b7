package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/engine/compare/contamination"
)

// plantings is the number of items planted each way, half of them of plantedShort words at most.
const (
	plantings    = 100
	plantedLeast = 12
	plantedShort = 32
)

// contaminated plants items of evaluations in pages, in nine ways, and counts those found. It also
// searches the unchanged pages. Items and pages are JSON lines with an ID and a text.
func contaminated(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("contamination", flag.ContinueOnError)
	seed := fs.Uint64("seed", 1, "of what is planted and edited")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() < 2 {
		return fmt.Errorf("want the items and at least one file of pages: contamination [-seed N] ITEMS PAGES")
	}
	items, err := readTexts(fs.Arg(0))
	if err != nil {
		return err
	}
	var pages []idText
	for _, name := range fs.Args()[1:] {
		more, err := readTexts(name)
		if err != nil {
			return err
		}
		pages = append(pages, more...)
	}
	sought := contamination.NewItems()
	for _, it := range items {
		sought.Add(it.ID, []byte(it.Text))
	}
	sought.Ready()
	s := sought.NewSearcher()

	p := newPlanter(*seed, items, pages)
	fmt.Fprintf(out, "| way | found of %d |\n|---|---:|\n", plantings)
	for _, way := range p.ways() {
		found := 0
		for range plantings {
			it := p.item()
			hits := s.Append(nil, []byte(p.plant(way.edit(it.Text))))
			if slices.ContainsFunc(hits, func(h contamination.Hit) bool { return p.sameText(h.Item, it) }) {
				found++
			}
		}
		fmt.Fprintf(out, "| %s | %d |\n", way.name, found)
	}
	inPages, hitItems := 0, map[string]int{}
	for _, page := range pages {
		if err := ctx.Err(); err != nil {
			return err
		}
		hits := s.Append(nil, []byte(page.Text))
		if len(hits) > 0 {
			inPages++
		}
		for _, h := range hits {
			hitItems[h.Item]++
			if hitItems[h.Item] == 1 {
				fmt.Fprintf(out, "\n%s in %s, share %.2f, %d words: %.80q", h.Item, page.ID, h.Share, h.Units, page.Text[h.From:h.To])
			}
		}
	}
	fmt.Fprintf(out, "\n\n%d of %d items stand in %d of %d pages as they are\n", len(hitItems), sought.Len(), inPages, len(pages))
	return nil
}

type idText struct{ ID, Text string }

func readTexts(name string) (texts []idText, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	dec := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	for {
		var t idText
		if err := dec.Decode(&t); err == io.EOF {
			return texts, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		texts = append(texts, t)
	}
}

// A planter edits items and plants them in pages.
type planter struct {
	*rand.Rand
	short, long []idText
	text        map[string]string // letters and digits of each item
	hosts       []string
	words       []string // of pages
}

func newPlanter(seed uint64, items, pages []idText) *planter {
	p := &planter{Rand: rand.New(rand.NewPCG(seed, 0)), text: map[string]string{}}
	words := units.New()
	for _, it := range items {
		p.text[it.ID] = letters(it.Text)
		words.Read([]byte(it.Text))
		switch n := words.Len(); {
		case n >= plantedLeast && n <= plantedShort:
			p.short = append(p.short, it)
		case n > plantedShort:
			p.long = append(p.long, it)
		}
	}
	for _, i := range p.Perm(len(pages))[:min(len(pages), 400)] {
		p.hosts = append(p.hosts, pages[i].Text)
	}
	for _, host := range p.hosts[:min(len(p.hosts), 100)] {
		for _, w := range split(host) {
			if w.isWord {
				p.words = append(p.words, w.text)
			}
		}
	}
	return p
}

// item draws an item, a short one half the time.
func (p *planter) item() idText {
	from := p.short
	if len(p.short) == 0 || len(p.long) > 0 && p.IntN(2) == 0 {
		from = p.long
	}
	return from[p.IntN(len(from))]
}

// sameText reports whether the item with that ID has the same letters as it.
func (p *planter) sameText(id string, it idText) bool { return p.text[id] == letters(it.Text) }

func letters(text string) string {
	words := units.New()
	words.Read([]byte(text))
	var b strings.Builder
	for i := range words.Len() {
		b.Write(words.Form(i))
	}
	return b.String()
}

// plant inserts a text after a line of a page.
func (p *planter) plant(text string) string {
	host := p.hosts[p.IntN(len(p.hosts))]
	at := p.IntN(len(host) + 1)
	if end := strings.IndexByte(host[at:], '\n'); end >= 0 {
		at += end
	} else {
		at = len(host)
	}
	return host[:at] + "\n\n" + text + "\n\n" + host[at:]
}

// A way changes an item before it is planted.
type way struct {
	name string
	edit func(text string) string
}

func (p *planter) ways() []way {
	edited := func(share float64) func(string) string {
		return func(text string) string { return p.edited(text, share) }
	}
	return []way{
		{"word for word", func(text string) string { return text }},
		{"other case and punctuation", p.restyled},
		{"in lines of 8 words", func(text string) string { return p.inLines(text, 0) }},
		{"in lines of 8 words, 80 others between", func(text string) string { return p.inLines(text, 80) }},
		{"one word edited", edited(0)},
		{"5% of the words edited", edited(.05)},
		{"5% edited, in lines, 80 others between", func(text string) string { return p.inLines(p.edited(text, .05), 80) }},
		{"10% edited", edited(.1)},
		{"the first 60%", func(text string) string {
			parts := split(text)
			return join(parts[:len(parts)*6/10])
		}},
	}
}

// A part is a word of a text, or the text between two words.
type part struct {
	text   string
	isWord bool
}

func split(text string) (parts []part) {
	words := units.New()
	words.Read([]byte(text))
	at := 0
	for i := range words.Len() {
		start, end := words.Range(i, i+1)
		if start < at {
			continue // a character that is several words
		}
		parts = append(parts, part{text[at:start], false}, part{text[start:end], true})
		at = end
	}
	return append(parts, part{text[at:], false})
}

func join(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// restyled changes case, and some punctuation.
func (p *planter) restyled(text string) string {
	if text = strings.ToUpper(text); p.IntN(2) == 0 {
		text = strings.ToLower(text)
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(",.;:?!，。？！、", r) && p.IntN(2) == 0 {
			return ' '
		}
		return r
	}, text)
}

// edited replaces, removes or adds a share of the words, at least one.
func (p *planter) edited(text string, share float64) string {
	parts := split(text)
	var words []int
	for i, w := range parts {
		if w.isWord {
			words = append(words, i)
		}
	}
	for _, k := range p.Perm(len(words))[:max(1, int(share*float64(len(words))+.5))] {
		other := p.words[p.IntN(len(p.words))]
		switch w := &parts[words[k]]; p.IntN(5) {
		case 0:
			w.text = ""
		case 1:
			w.text += " " + other
		default:
			w.text = other
		}
	}
	return join(parts)
}

// inLines breaks a text after each eighth word, and puts other words between the lines.
func (p *planter) inLines(text string, others int) string {
	var b strings.Builder
	n := 0
	for _, w := range split(text) {
		b.WriteString(w.text)
		if !w.isWord {
			continue
		}
		if n++; n%8 == 0 {
			b.WriteString("\n")
			for range others {
				b.WriteString(p.words[p.IntN(len(p.words))] + " ")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
