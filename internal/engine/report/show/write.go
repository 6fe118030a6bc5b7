package show

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/engine/compare/textdiff"
)

// Style controls the layout of text.
type Style struct {
	Columns int  // width of the terminal; 0 means 80, and less than 40 means 40
	Marks   bool // the terminal shows marks: bold headings, and shared passages inverted
}

//go:embed page.txt
var textPage string

// text holds the values of the text template, and provides its functions.
type text struct {
	*Digest
	Style
	Bins   []Bin // from the first to the last with documents
	Most   int64 // the most documents in one bin
	Tables []table
	Kinds  []kind
}

// WriteText writes the digest as text. Characters a terminal would act on become \u and a number.
func (d *Digest) WriteText(w io.Writer, s Style) error {
	s.Columns = max(cmp.Or(s.Columns, 80), 40)
	t := text{d, s, nil, 0, d.tables("sites", " copies "), d.kinds()}
	first, end := len(d.Histogram), 0
	for i, b := range d.Histogram {
		if n := b.All(); n > 0 {
			first, end, t.Most = min(first, i), i+1, max(t.Most, n)
		}
	}
	t.Bins = d.Histogram[min(first, end):end]
	out := bufio.NewWriter(w)
	if err := template.Must(template.New("text").Parse(textPage)).Execute(out, &t); err != nil {
		return err
	}
	return out.Flush()
}

// Heading returns a title, in bold with Marks.
func (t *text) Heading(title string) string {
	if t.Marks {
		return "\x1b[1m" + title + "\x1b[22m"
	}
	return title
}

// Mark marks a shared part.
func (t *text) Mark(part string) string {
	if t.Marks {
		return "\x1b[7m" + part + "\x1b[27m"
	}
	return "«" + part + "»"
}

// Bar draws a bin of the histogram as a line.
func (t *text) Bar(b Bin) string {
	room := int64(t.Columns - 23)
	bar := ""
	for _, part := range []struct {
		n    int64
		mark string
	}{{b.Duplicates, "#"}, {b.Related, "o"}, {b.Mosaics, "-"}} {
		if part.n > 0 {
			bar += strings.Repeat(part.mark, int(max(1, part.n*room/t.Most)))
		}
	}
	return strings.TrimRight(fmt.Sprintf("  %.2f %10d %s", b.From, b.All(), bar), " ")
}

// Short shortens a value for a line in which other content takes others columns. It keeps the end,
// because paths and URLs often begin alike.
func (t *text) Short(value string, others int) string {
	value = visible.Line(value)
	if over := textdiff.Columns.StringWidth(value) - (t.Columns - others); over > 0 {
		return textdiff.Columns.TruncateLeft(value, over+1, "…")
	}
	return value
}

// Pair names a document and its source in one line.
func (t *text) Pair(e Example) string {
	half := (t.Columns - 18) / 2
	return t.Short(e.ID, t.Columns-half) + " ← " + t.Short(e.source(), t.Columns-half)
}

// Wrap breaks a shared part into lines.
func (t *text) Wrap(part string) []string { return wrap(visible.Line(part), t.Columns-8) }

// Sides returns the ids of a document and its source, side by side.
func (t *text) Sides(e *Example) (rows []string) {
	half := (t.Columns - 5) / 2
	left, right := wrap(visible.Line(e.ID), half), wrap(visible.Line(e.source()), half)
	n := max(len(left), len(right))
	left, right = append(left, make([]string, n-len(left))...), append(right, make([]string, n-len(right))...)
	for i := range n {
		rows = append(rows, strings.TrimRight("  "+textdiff.Columns.FillRight(left[i], half)+" | "+right[i], " "))
	}
	return rows
}

// source names the documents that an example repeats.
func (e *Example) source() string {
	return cmp.Or(e.Of, strings.Join(e.Also, " and "))
}

// Shares formats the shares of an example.
func (e *Example) Shares() string {
	if e.Contained == e.Score {
		return fmt.Sprintf("score %.4g", e.Score)
	}
	return fmt.Sprintf("score %.4g, contained %.4g", e.Score, e.Contained)
}

// wrap breaks a string into lines of at most that many columns. There is at least one line.
func wrap(s string, columns int) []string {
	return strings.Split(textdiff.Columns.Wrap(s, columns), "\n")
}

type table struct {
	Title, Head, What string
	Counts            []Count
}

// tables returns the tables of a digest. what names a pair of sites, and copies joins the two.
func (d *Digest) tables(what, copies string) []table {
	sites := make([]Count, len(d.Copies))
	for i, c := range d.Copies {
		sites[i] = Count{c.Site + copies + c.Of, c.Count, c.Over}
	}
	return []table{
		{"Copied most", "copies", "document", d.Documents},
		{"Copied most, by site", "copies", "site", d.Sites},
		{"Who copies whom", "copies", what, sites},
		{"Removed most, by input", "removed", "input", d.Files},
	}
}

// kinds returns all kinds with their examples.
func (d *Digest) kinds() []kind {
	all := slices.Clone(kinds)
	for i := range d.Examples {
		at := slices.IndexFunc(kinds, func(k kind) bool { return k.Name == d.Examples[i].Kind })
		all[at].Examples = append(all[at].Examples, &d.Examples[i])
	}
	return all
}

// All counts the documents of a bin.
func (b Bin) All() int64 { return b.Duplicates + b.Related + b.Mosaics }
