package vary

import (
	"fmt"
	"html"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// A Plain is a plain text, as blocks.
type Plain []Block

// A Block is a paragraph, whose lines may be broken anywhere, or other lines that stay unchanged: a
// heading, a list, a table, verse, code.
type Block struct {
	Prose string // one line; empty for other blocks
	Lines string // with their ends
}

// PlainText splits a text at its empty lines.
func PlainText(text string) (blocks Plain) {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if part = strings.Trim(part, "\n"); part != "" {
			blocks = append(blocks, blockOf(part))
		}
	}
	return blocks
}

// shortProse is the minimum number of columns of a one-line paragraph.
const shortProse = 90

func blockOf(part string) Block {
	lines := strings.Split(part, "\n")
	joined := ""
	for i, line := range lines {
		if len(line) != len(strings.TrimLeft(line, " \t")) || !isRunning(line, i == 0) {
			return Block{Lines: part + "\n"}
		}
		joined = joinLines(joined, strings.TrimSpace(line))
	}
	if len(lines) == 1 && columns(joined) < shortProse {
		return Block{Lines: part + "\n"}
	}
	return Block{Prose: joined}
}

// isRunning reports whether a line is running text.
func isRunning(line string, first bool) bool {
	if first && strings.HasPrefix(line, "!") || strings.ContainsAny(line, "\t|{}<>\\") || strings.Contains(strings.TrimSpace(line), "   ") {
		return false
	}
	if r, _ := utf8.DecodeRuneInString(line); first && !unicode.IsLetter(r) || strings.ContainsRune("-*+#=~>:.", r) {
		return false
	}
	letters := 0
	for _, r := range line {
		if unicode.IsLetter(r) {
			letters += utf8.RuneLen(r)
		}
	}
	return letters*3 > len(line)*2 || strings.Contains(line, "，")
}

// joinLines joins two lines of a paragraph, without a space next to Han.
func joinLines(a, b string) string {
	last, _ := utf8.DecodeLastRuneInString(a)
	next, _ := utf8.DecodeRuneInString(b)
	if a == "" || columnsOf(last) == 2 || columnsOf(next) == 2 {
		return a + b
	}
	return a + " " + b
}

// ProseShare returns the share of paragraphs in a text, by bytes.
func (p Plain) ProseShare() float64 {
	prose, all := 0, 1
	for _, b := range p {
		prose += len(b.Prose)
		all += len(b.Prose) + len(b.Lines)
	}
	return float64(prose) / float64(all)
}

// Breaks describes how the lines of a text are broken.
type Breaks struct {
	Name     string
	Columns  int  // 0: a paragraph is a line
	CRLF     bool // lines end in CRLF
	Indented bool // lines of paragraphs begin with four spaces
	Divided  bool // words are hyphenated at line ends
	HTML     bool // the text is an HTML page
}

// broken lists the line breaks of the first and the second text of each pair.
var broken = [][2]Breaks{
	{{Name: "60", Columns: 60}, {Name: "72", Columns: 72}},
	{{Name: "72", Columns: 72}, {Name: "100", Columns: 100}},
	{{Name: "80", Columns: 80}, {Name: "none"}},
	{{Name: "none"}, {Name: "60", Columns: 60}},
	{{Name: "100", Columns: 100}, {Name: "80crlf", Columns: 80, CRLF: true}},
	{{Name: "72", Columns: 72}, {Name: "html", HTML: true}},
	{{Name: "html", HTML: true}, {Name: "80", Columns: 80}},
	{{Name: "76", Columns: 76}, {Name: "40", Columns: 40}},
	{{Name: "66indented", Columns: 66, Indented: true}, {Name: "200", Columns: 200}},
	{{Name: "72", Columns: 72}, {Name: "66divided", Columns: 66, Divided: true}},
}

// Rewrapped returns a set of texts, followed by the same with other line breaks and added words in
// random places of each.
func Rewrapped(language string, all []Plain, added int, seed uint64) *Set {
	s := &Set{Name: fmt.Sprintf("rewrap_%s_%d", language, added)}
	rng := source(seed, s.Name)
	for i, p := range all {
		first := broken[i%len(broken)][0]
		s.add(fmt.Sprintf("%s-%03d-%s", s.Name, i, first.Name), p.write(first, rng), i)
	}
	for i, p := range all {
		how := broken[i%len(broken)]
		id := fmt.Sprintf("%s-%03d-again-%s", s.Name, i, how[1].Name)
		s.add(id, p.withWords(added, rng).write(how[1], rng), i)
		s.Pairs = append(s.Pairs, Pair{s.Docs[i].ID, id, how[0].Name + ">" + how[1].Name})
	}
	return s
}

// withWords returns the text with n words added to its paragraphs, each from elsewhere in it.
func (p Plain) withWords(n int, rng *rand.Rand) Plain {
	p = slices.Clone(p)
	var prose []int
	for i := range p {
		if p[i].Prose != "" {
			prose = append(prose, i)
		}
	}
	for range n {
		from := unbroken(p[prose[rng.IntN(len(prose))]].Prose)
		b := &p[prose[rng.IntN(len(prose))]]
		at := unbroken(b.Prose)
		at = slices.Insert(at, rng.IntN(len(at)), from[rng.IntN(len(from))])
		b.Prose = strings.Join(at, "")
	}
	return p
}

// unbroken splits a line into words, with following spaces and punctuation, and Han characters.
func unbroken(line string) (parts []string) {
	from, wide := 0, false
	for i, r := range line {
		isWide := columnsOf(r) == 2 && unicode.IsLetter(r)
		last, _ := utf8.DecodeLastRuneInString(line[:i])
		if i > from && (isWide || wide && unicode.IsLetter(r) || last == ' ' && r != ' ') && !strings.ContainsRune("（《“‘【", last) {
			parts = append(parts, line[from:i])
			from = i
		}
		wide = isWide
	}
	return append(parts, line[from:])
}

// write writes the text with these line breaks.
func (p Plain) write(how Breaks, rng *rand.Rand) string {
	var b strings.Builder
	for _, block := range p {
		switch {
		case how.HTML && block.Prose != "":
			b.WriteString("<p>" + html.EscapeString(block.Prose) + "</p>\n")
		case how.HTML:
			b.WriteString("<pre>" + html.EscapeString(block.Lines) + "</pre>\n")
		case block.Prose != "":
			how.paragraph(&b, block.Prose, rng)
			b.WriteByte('\n')
		default:
			b.WriteString(block.Lines + "\n")
		}
	}
	switch {
	case how.HTML:
		return "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>-</title></head><body>\n" + b.String() + "</body></html>\n"
	case how.CRLF:
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}

// paragraph writes a paragraph in lines.
func (how Breaks) paragraph(b *strings.Builder, prose string, rng *rand.Rand) {
	indent := ""
	if how.Indented {
		indent = "    "
	}
	line := indent
	end := func() {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		line = indent
	}
	for _, word := range unbroken(prose) {
		room := how.Columns - columns(line)
		if how.Columns == 0 || columns(strings.TrimRight(word, " ")) <= room || line == indent {
			line += word
			continue
		}
		if how.Divided && room >= 4 && len(word) > room+2 && isLetters(word[:room]) && rng.IntN(2) == 0 {
			line += word[:room-1] + "-"
			word = word[room-1:]
		}
		end()
		line += word
	}
	end()
}

func columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	kind := width.LookupRune(r).Kind()
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return 2
	}
	return 1
}
